/** Whether a run that was executed here is the one that was recorded. */
import type { Expected } from "./types";
import type { Result } from "./runner";

export interface Verdict {
  identical: boolean | null;
  text: string;
}

/** Kinds of memory hashes: an older one cannot be computed any more, and then the records decide. */
const kind = (hash: string): number => Number(/^v(\d+):/.exec(hash)?.[1] ?? 1);

export function verdict(expected: Expected, found: Result): Verdict {
  if (!expected.record_hash) return { identical: null, text: "Executed. There is no recorded run to compare it with." };
  const records = expected.record_hash === found.recordHash;
  const recorded = expected.memory_hash;
  const compared = Boolean(recorded) && kind(recorded!) >= kind(found.memoryHash);
  const memory = !compared || recorded === found.memoryHash;
  if (records && memory) {
    const what = compared ? "Record hash and memory hash are those" : "The record hash is that";
    return { identical: true, text: `IDENTICAL. ${what} of the recorded run.` };
  }
  const parted = records ? "The episodes are the same, the brain's memory is not" : "The episodes are not the recorded ones";
  return { identical: false, text: `DIFFERENT. ${parted}.` };
}

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let k = 0; k < 8; k++) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
  return rest;
});

/** CRC-32, which goes on from what was found before. */
function crc32(bytes: Uint8Array, before: number): number {
  let crc = ~before;
  for (const byte of bytes) crc = TABLE[(crc ^ byte) & 255]! ^ (crc >>> 8);
  return ~crc >>> 0;
}

/** Where a run left the recorded one. Its marks, as src/nematodebench/site/marks.py writes them, say it to a few episodes. */
export function partedAt(marks: string, found: [string, number[][]][]): string {
  const [count, text] = marks.split(":");
  if (!text) return "Of this run only the hashes are kept, so the page cannot say at which episode it parted.";
  const [every, known] = [Number(count), atob(text)];
  let [crc, at] = [0, 0];
  for (const [phase, rows] of found) {
    for (let first = 0; first < rows.length; first += every) {
      const some = rows.slice(first, first + every);
      crc = crc32(new Uint8Array(Float64Array.from(some.flat()).buffer), crc);
      if (known.charCodeAt(at++) === (crc & 255)) continue;
      const last = first + some.length;
      return last === first + 1 ? `It parted at episode ${last} of phase '${phase}'.` : `It parted between episodes ${first + 1} and ${last} of phase '${phase}'.`;
    }
  }
  return "The marks of its episodes are the recorded ones, so the recorded hash belongs to another run.";
}
