/** SHA-256 and BLAKE2b, because pages that are opened from files or plain HTTP have no others. */

const K = new Uint32Array(64);
const START = new Uint32Array(8);
/** Fractional parts of roots of the first primes, as the standard defines its constants. */
(function fill(): void {
  const fraction = (x: number) => Math.floor((x - Math.floor(x)) * 2 ** 32);
  let found = 0;
  for (let n = 2; found < 64; n++) {
    let prime = true;
    for (let d = 2; d * d <= n; d++) prime &&= n % d !== 0;
    if (!prime) continue;
    if (found < 8) START[found] = fraction(Math.sqrt(n));
    K[found++] = fraction(Math.cbrt(n));
  }
})();

const turned = (x: number, n: number) => (x >>> n) | (x << (32 - n));

export class Sha256 {
  private state = START.slice();
  private block = new Uint8Array(64);
  private words = new Uint32Array(64);
  private filled = 0;
  private length = 0;

  update(bytes: Uint8Array): this {
    this.length += bytes.length;
    let at = 0;
    while (at < bytes.length) {
      const count = Math.min(64 - this.filled, bytes.length - at);
      this.block.set(bytes.subarray(at, at + count), this.filled);
      this.filled += count;
      at += count;
      if (this.filled === 64) this.mix();
    }
    return this;
  }

  text(text: string): this {
    return this.update(new TextEncoder().encode(text));
  }

  hex(): string {
    const bits = BigInt(this.length) * 8n;
    const padding = new Uint8Array(((this.filled < 56 ? 56 : 120) - this.filled) + 8);
    padding[0] = 0x80;
    new DataView(padding.buffer).setBigUint64(padding.length - 8, bits);
    this.update(padding);
    return Array.from(this.state, (word) => word.toString(16).padStart(8, "0")).join("");
  }

  private mix(): void {
    const w = this.words;
    const view = new DataView(this.block.buffer);
    for (let n = 0; n < 16; n++) w[n] = view.getUint32(4 * n);
    for (let n = 16; n < 64; n++) {
      const x = w[n - 15]!;
      const y = w[n - 2]!;
      const s0 = turned(x, 7) ^ turned(x, 18) ^ (x >>> 3);
      const s1 = turned(y, 17) ^ turned(y, 19) ^ (y >>> 10);
      w[n] = (w[n - 16]! + s0 + w[n - 7]! + s1) | 0;
    }
    let [a, b, c, d, e, f, g, h] = this.state as unknown as [number, number, number, number, number, number, number, number];
    for (let n = 0; n < 64; n++) {
      const s1 = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + K[n]! + w[n]!) | 0;
      const s0 = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, n) => (this.state[n] = (this.state[n]! + word) | 0));
    this.filled = 0;
  }
}

const IV = [
  0x6a09e667f3bcc908n, 0xbb67ae8584caa73bn, 0x3c6ef372fe94f82bn, 0xa54ff53a5f1d36f1n, 0x510e527fade682d1n,
  0x9b05688c2b3e6c1fn, 0x1f83d9abfb41bd6bn, 0x5be0cd19137e2179n,
];
const ORDER = [
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
  [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4], [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
  [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13], [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
  [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11], [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
  [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5], [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
];
const MASK = (1n << 64n) - 1n;

/** The first 8 bytes of BLAKE2b of a short text (up to 128 bytes) with a digest of 8 bytes, as a number. */
export function blake2b64(text: string): bigint {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length > 128) throw new Error("the text is longer than one block");
  const block = new Uint8Array(128);
  block.set(bytes);
  const view = new DataView(block.buffer);
  const m = Array.from({ length: 16 }, (_, n) => view.getBigUint64(8 * n, true));
  const h = IV.slice();
  h[0] = h[0]! ^ 0x01010008n;
  const v = [...h, ...IV];
  v[12] = v[12]! ^ BigInt(bytes.length);
  v[14] = v[14]! ^ MASK;
  const rotate = (x: bigint, n: bigint) => ((x >> n) | (x << (64n - n))) & MASK;
  const g = (a: number, b: number, c: number, d: number, x: bigint, y: bigint) => {
    v[a] = (v[a]! + v[b]! + x) & MASK;
    v[d] = rotate(v[d]! ^ v[a]!, 32n);
    v[c] = (v[c]! + v[d]!) & MASK;
    v[b] = rotate(v[b]! ^ v[c]!, 24n);
    v[a] = (v[a]! + v[b]! + y) & MASK;
    v[d] = rotate(v[d]! ^ v[a]!, 16n);
    v[c] = (v[c]! + v[d]!) & MASK;
    v[b] = rotate(v[b]! ^ v[c]!, 63n);
  };
  for (let round = 0; round < 12; round++) {
    const s = ORDER[round % 10]!;
    for (let n = 0; n < 4; n++) g(n, 4 + n, 8 + n, 12 + n, m[s[2 * n]!]!, m[s[2 * n + 1]!]!);
    for (let n = 0; n < 4; n++) {
      g(n, 4 + ((n + 1) % 4), 8 + ((n + 2) % 4), 12 + ((n + 3) % 4), m[s[8 + 2 * n]!]!, m[s[9 + 2 * n]!]!);
    }
  }
  return h[0]! ^ v[0]! ^ v[8]!;
}
