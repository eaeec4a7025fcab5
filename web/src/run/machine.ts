/** A started module with its memory, and the arguments that compiled kernels take. */

export type Argument = number | bigint;
type Kernel = (...given: Argument[]) => number;
export type Hooks = { step: () => void; act: () => void };

const PAGE = 65536;
const STACK = 1 << 20;
const LINE = 64;
const FIRST_SLOT = 512;
const TRIES = 20000;
const SELF_TEST = "browser.fused:self_test";

/** An array in the module's memory; views are made anew because memory can grow. */
export class Block {
  constructor(private readonly machine: Machine, readonly at: number, readonly size: number, readonly bytes: 4 | 8) {}

  /** As the seven words of a vector. */
  vector(first = 0, size = this.size): Argument[] {
    return [0, 0, BigInt(size), BigInt(this.bytes), this.at + first * this.bytes, BigInt(size), BigInt(this.bytes)];
  }

  /** As the nine words of a matrix. */
  matrix(rows: number, columns: number, first = 0): Argument[] {
    const at = this.at + first * this.bytes;
    const stride = BigInt(columns * this.bytes);
    return [0, 0, BigInt(rows * columns), BigInt(this.bytes), at, BigInt(rows), BigInt(columns), stride, BigInt(this.bytes)];
  }

  get raw(): Uint8Array {
    return new Uint8Array(this.machine.memory.buffer, this.at, this.size * this.bytes);
  }
  get f64(): Float64Array {
    return new Float64Array(this.machine.memory.buffer, this.at, this.size);
  }
  get f32(): Float32Array {
    return new Float32Array(this.machine.memory.buffer, this.at, this.size);
  }
  get i64(): BigInt64Array {
    return new BigInt64Array(this.machine.memory.buffer, this.at, this.size);
  }
  get u64(): BigUint64Array {
    return new BigUint64Array(this.machine.memory.buffer, this.at, this.size);
  }
}

export class Machine {
  readonly memory: WebAssembly.Memory;
  readonly hooks: Hooks = { step: () => undefined, act: () => undefined };
  private readonly table: WebAssembly.Table;
  private readonly exports: Record<string, unknown>;
  private readonly slots = new Map<string, number>();
  private readonly result: number;
  private next: number;

  constructor(module: WebAssembly.Module, dataEnd: number) {
    const stack = Math.ceil(dataEnd / LINE) * LINE + STACK;
    this.memory = new WebAssembly.Memory({ initial: Math.ceil(stack / PAGE) + 32 });
    this.table = new WebAssembly.Table({ initial: FIRST_SLOT, element: "anyfunc" });
    const env = {
      __linear_memory: this.memory,
      __indirect_function_table: this.table,
      __stack_pointer: new WebAssembly.Global({ value: "i32", mutable: true }, stack),
      fmod: (a: number, b: number) => a % b,
      nb_after_step: () => this.hooks.step(),
      nb_after_act: () => this.hooks.act(),
    };
    this.exports = new WebAssembly.Instance(module, { env }).exports;
    this.next = stack;
    this.result = this.array(8, 8).at;
  }

  /** Zeros that nobody else uses. */
  array(size: number, bytes: 4 | 8): Block {
    const at = Math.ceil(this.next / LINE) * LINE;
    this.next = at + Math.max(1, size) * bytes;
    this.need(this.next);
    new Uint8Array(this.memory.buffer, at, this.next - at).fill(0); // kernels may have used it as their heap
    return new Block(this, at, size, bytes);
  }

  /** Lets kernels take memory behind all that is in use; what they took before is used again. */
  openHeap(bytes: number): void {
    const at = Math.ceil(this.next / LINE) * LINE;
    this.need(at + bytes);
    (this.exports["nb_heap"] as (at: number) => void)(at);
  }

  private need(bytes: number): void {
    const missing = bytes - this.memory.buffer.byteLength;
    if (missing > 0) this.memory.grow(Math.ceil(missing / PAGE));
  }

  has(key: string): boolean {
    return key in this.exports;
  }

  /** Calls a kernel; returns its whole number, if it has one. */
  call(key: string, given: Argument[]): number {
    const status = this.kernel(key)(this.result, this.result + 8, ...given);
    if (status !== 0) throw new Error(`${key} failed with status ${status}`);
    return Number(new BigInt64Array(this.memory.buffer, this.result, 1)[0]);
  }

  private kernel(key: string): Kernel {
    const found = this.exports[key];
    if (typeof found !== "function") throw new Error(`the module has no kernel ${key}`);
    return found as Kernel;
  }

  /** The three words by which the run loop takes a kernel: its place in the table is the last. */
  passed(key: string): Argument[] {
    return [0, 0, this.slot(key)];
  }

  private slot(key: string): number {
    let place = this.slots.get(key);
    if (place === undefined) {
      place = this.table.grow(1);
      this.table.set(place, this.kernel(key));
      this.slots.set(key, place);
    }
    return place;
  }

  /** As `passed`, for a function that tells the page each time it was called. */
  watched(kind: "step" | "act", key: string): Argument[] {
    (this.exports[`nb_watch_${kind}`] as (at: number) => void)(this.slot(key));
    return this.passed(`nb_watched_${kind}`);
  }

  /** Whether the fused multiply-add rounds once, as the processors do that runs were recorded on. */
  isExact(): boolean {
    return this.call(SELF_TEST, [...this.array(16, 8).vector(), BigInt(TRIES)]) === 0;
  }

  /** A copy of all memory in use, to come back to. */
  saved(): Uint8Array {
    return new Uint8Array(this.memory.buffer, 0, this.next).slice();
  }

  restore(saved: Uint8Array): void {
    new Uint8Array(this.memory.buffer, 0, saved.length).set(saved);
  }
}
