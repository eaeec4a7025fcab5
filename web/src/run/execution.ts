/** One run as src/nematodebench/engine executes it: the same loop, the same seeds, the same hashes. */
import { Sha256 } from "./hashes";
import { Block, Machine, type Argument } from "./machine";
import { mindOf, type Reader } from "./thoughts";
import { NOTHING, type Case, type Episode, type Field, type Frame, type Learned, type Phase, type Seeds, type Tables } from "./types";

const RNG_WORDS = 11;
const STREAM_BRAIN = 2n;
const PROBE_STREAM = 1n << 40n;
const HEAP = 16 << 20;
const LINE = 16;
const LOOP = "engine.loop:run_phase";
const ROWS = 2048;
const COLUMNS = 8;
const FIELD_SIDE = 64;
const MOST_FRAMES = 4000;
const CODES: Record<number, string> = { [-1]: "the run was interrupted", [-2]: "an action is not legal", [-3]: "a reward is not a number" };
const enum Plan { episodes, ticks, first, choices, guided, episode, tick, pause, count }
const enum Control { stop, steps, episode, step, count }

export interface Progress {
  phase: string;
  episode: number;
  of: number;
  record: number[];
}

export class Run {
  readonly records = new Map<string, number[][]>();
  private readonly m: Machine;
  private readonly width: number;
  /** An array of the first agent's brain, or a part of it, by name. */
  private readonly read: Reader = (name, most = Infinity, skipped = 0) => {
    const field = this.given.brain.fields.find((one) => one.name === name);
    return field ? this.values(field, most, skipped) : null;
  };
  private hyper: Block;
  private ints: Block;
  private mem: Block;
  private rng: Block;
  private out: Block;
  private obs: Block;
  private action: Block;
  private control: Block;
  private rows: Block;
  private raster: Block;
  private episodes = 0;
  steps = 0;

  constructor(
    module: WebAssembly.Module,
    dataEnd: number,
    readonly given: Case,
    private readonly tables: Tables,
    private readonly seeds: Seeds,
    private readonly guided = false,
  ) {
    const m = (this.m = new Machine(module, dataEnd));
    const { agents, brain } = given;
    this.width = Math.ceil(Math.max(1, brain.memory) / LINE) * LINE;
    this.hyper = m.array(brain.hyper.length, 8);
    this.hyper.f64.set(brain.hyper);
    this.ints = m.array(agents * brain.ints.length, 8);
    this.mem = m.array(agents * this.width, 4);
    this.rng = m.array(agents * RNG_WORDS, 8);
    this.out = m.array(agents * 3, 8);
    this.obs = m.array(agents * given.inputs, 4);
    this.action = m.array(agents * given.action_width, 4);
    this.control = m.array(Control.count, 8);
    this.rows = m.array(ROWS * COLUMNS, 8);
    this.raster = m.array(FIELD_SIDE * FIELD_SIDE, 4);
    const words = brain.ints.map(BigInt);
    for (let a = 0; a < agents; a++) this.ints.i64.set(words, a * words.length);
    this.build();
  }

  /** Every agent's brain draws what it begins with from the brain's own stream of the run. */
  private build(): void {
    const { m, given } = this;
    const { brain } = given;
    const [rng, obs, action] = [m.array(RNG_WORDS, 8), m.array(given.inputs, 4), m.array(given.action_width, 4)];
    for (let a = 0; a < given.agents; a++) {
      rng.u64.set([BigInt(this.seeds.brain), STREAM_BRAIN, 0n, 0n, BigInt(a), 0n, 4n]);
      m.openHeap(HEAP);
      m.call(brain.init, [
        ...this.hyper.vector(), ...this.ints.vector(a * brain.ints.length, brain.ints.length),
        ...this.mem.vector(a * this.width, this.width), ...rng.vector(), ...obs.matrix(1, given.inputs),
        ...action.matrix(1, given.action_width), ...this.out.vector(a * 3, 3),
      ]);
    }
  }

  get total(): number {
    return this.given.phases.reduce((sum, phase) => sum + (phase.episodes || 0), 0);
  }

  /** One episode alone, for those who do not learn: the world of an episode depends on seed and number only. */
  *episode(number: number, keep: (episode: Episode) => void): Generator<Progress> {
    const at = this.given.phases.findIndex((one) => one.name === this.given.scored);
    const phase = this.given.phases[at]!;
    const before = this.given.phases.slice(0, at).filter((one) => one.learns);
    this.episodes = before.reduce((sum, one) => sum + one.episodes, 0);
    yield* this.phase({ ...phase, episodes: 1, ticks: 0 }, () => true, (found) => keep({ ...found, episode: number }), number);
  }

  /** Goes through all phases; yields after every episode. `watch` says which episodes are kept as frames. */
  *go(watch?: (phase: Phase, episode: number) => boolean, keep?: (episode: Episode) => void): Generator<Progress> {
    for (const phase of this.given.phases) {
      const kept = phase.learns ? null : [this.ints, this.mem, this.rng, this.out, this.obs, this.action].map((b) => [b, b.raw.slice()] as const);
      const steps = this.steps;
      yield* this.phase(phase, watch, keep);
      if (kept) {
        for (const [block, bytes] of kept) block.raw.set(bytes);
        this.steps = steps;
      } else {
        this.episodes += this.records.get(phase.name)!.length;
      }
    }
  }

  /** `skipped` episodes of the phase are left out, and the worlds of those that follow are the same. */
  private *phase(phase: Phase, watch?: (phase: Phase, episode: number) => boolean, keep?: (episode: Episode) => void, skipped = 0): Generator<Progress> {
    const { m, given } = this;
    const world = given.worlds[phase.world]!;
    const packed = this.tables[world.params];
    if (!packed) throw new Error(`the page lacks the table ${world.params}`);
    const params = m.array(packed.length, 8);
    params.f64.set(packed);
    const most = phase.episodes || phase.ticks;
    const [state, rng, out] = [m.array(world.state, 8), m.array(RNG_WORDS, 8), m.array(world.out, 8)];
    const row = m.array(phase.columns.length, 8);
    const plan = m.array(Plan.count, 8);
    this.obs.f32.fill(0);
    plan.i64[Plan.episodes] = BigInt(phase.episodes);
    plan.i64[Plan.ticks] = BigInt(phase.ticks);
    plan.i64[Plan.first] = BigInt(skipped) + (phase.learns ? BigInt(this.episodes) : PROBE_STREAM);
    plan.i64[Plan.choices] = BigInt(given.choices);
    plan.i64[Plan.guided] = this.guided ? 1n : 0n;
    const learn = phase.learns ? given.brain.learn : NOTHING;
    const rows: number[][] = [];
    this.records.set(phase.name, rows);
    const { agents, inputs, action_width, brain } = given;
    const over = () => (phase.ticks > 0 ? plan.i64[Plan.tick]! >= BigInt(phase.ticks) : rows.length >= most);
    while (!over()) {
      const n = rows.length;
      const frames = watch?.(phase, n) && world.scene ? ([] as Frame[]) : null;
      if (frames) this.watch(frames, world.scene!, [params, state, out]);
      plan.i64[Plan.pause] = BigInt(n + 1);
      const functions: Argument[] = [
        ...m.passed(world.reset), ...(frames ? m.watched("step", world.step) : m.passed(world.step)),
        ...m.passed(world.reference ?? world.step), ...m.passed(brain.begin_episode),
        ...(frames ? m.watched("act", brain.act) : m.passed(brain.act)), ...m.passed(learn),
      ];
      // The loop writes the record of episode n into row n: the matrix begins so far ahead that this row is there.
      const records = [...row.matrix(n + 1, phase.columns.length)];
      records[4] = row.at - n * phase.columns.length * 8;
      const code = m.call(LOOP, [
        ...functions, ...params.vector(), ...state.vector(), ...rng.vector(), ...this.action.matrix(agents, action_width),
        ...this.obs.matrix(agents, inputs), ...out.vector(), ...this.hyper.vector(),
        ...this.ints.matrix(agents, brain.ints.length), ...this.mem.matrix(agents, this.width),
        ...this.rng.matrix(agents, RNG_WORDS), ...this.out.matrix(agents, 3), BigInt.asIntN(64, BigInt(this.seeds.run)),
        BigInt.asIntN(64, BigInt(this.seeds.brain)), ...plan.vector(), ...this.control.vector(), ...records,
      ]);
      m.hooks.step = m.hooks.act = () => undefined;
      if (code < 0) {
        const [episode, step] = [this.control.i64[Control.episode], this.control.i64[Control.step]];
        throw new Error(`${CODES[code] ?? "the run failed"} at episode ${episode}, step ${step} of phase '${phase.name}'`);
      }
      const record = Array.from(row.f64);
      rows.push(record);
      this.steps += record[1]!;
      if (frames) {
        const last = frames.at(-1);
        const end = this.frame(world.scene!, [params, state, out], last ?? null);
        frames.push({ ...end, mind: last?.mind ?? end.mind }); // the brain has learned since, and decides no more
        keep?.({ phase: phase.name, world: phase.world, episode: n, record, frames });
      }
      yield { phase: phase.name, episode: n + 1, of: phase.episodes || 0, record };
    }
  }

  /** Keeps a frame after every decision; of several agents after that of the last. */
  private watch(frames: Frame[], scene: string, world: [Block, Block, Block]): void {
    let agent = 0;
    this.m.hooks.act = () => {
      agent = (agent + 1) % this.given.agents;
      if (agent === 0 && frames.length < MOST_FRAMES) frames.push(this.frame(scene, world, frames.at(-1) ?? null));
    };
    this.m.hooks.step = () => {
      const last = frames.at(-1);
      if (last) last.reward = world[2].f64[2]!;
    };
  }

  private frame(scene: string, [params, state, out]: [Block, Block, Block], before: Frame | null): Frame {
    const { agents, inputs, action_width } = this.given;
    this.raster.f32.fill(0);
    this.rows.f64[(ROWS - 1) * COLUMNS] = 0; // the last row counts the others
    const count = this.m.call(scene, [
      ...params.vector(), ...state.vector(), ...this.action.matrix(agents, action_width), ...this.obs.matrix(agents, inputs),
      ...out.vector(), ...this.rows.matrix(ROWS, COLUMNS), ...this.raster.matrix(FIELD_SIDE, FIELD_SIDE),
    ]);
    const field = Uint8Array.from(this.raster.f32, (value) => Math.round(255 * value));
    const same = before?.field && field.every((value, n) => value === before.field![n]);
    return {
      rows: Float32Array.from(this.rows.f64.subarray(0, count * COLUMNS)),
      field: same ? before.field : field,
      obs: this.obs.f32.slice(0, inputs),
      action: this.action.f32.slice(0, action_width),
      reward: 0,
      mind: mindOf(this.given, this.read),
    };
  }

  /** Named arrays of the first agent's brain. */
  arrays(names: RegExp, most: number): Record<string, Float32Array> {
    const shown = this.given.brain.fields.filter((field) => names.test(field.name));
    return Object.fromEntries(shown.map((field) => [field.name, this.values(field, most)]));
  }

  private values(field: Field, most: number, skipped = 0): Float32Array {
    const count = Math.min(most, field.shape.reduce((a, b) => a * b, 1) - skipped);
    const at = field.at + skipped;
    if (field.bank === "mem") return this.mem.f32.slice(at, at + count);
    return Float32Array.from(this.ints.i64.subarray(at, at + count), Number);
  }

  saved(): { memory: Uint8Array; records: [string, number[][]][]; episodes: number; steps: number } {
    const records = [...this.records].map(([name, rows]): [string, number[][]] => [name, rows.slice()]);
    return { memory: this.m.saved(), records, episodes: this.episodes, steps: this.steps };
  }

  /** SHA-256 of the episodes: names of phases and columns, then the numbers. */
  recordHash(): string {
    const digest = new Sha256();
    for (const phase of this.given.phases) {
      const rows = this.records.get(phase.name) ?? [];
      digest.text(`${phase.name}:${phase.columns.join(",")}:${rows.length};`);
      digest.update(new Uint8Array(Float64Array.from(rows.flat()).buffer));
    }
    return digest.hex();
  }

  /** SHA-256 of what the brains have learned: name, type, shape and values of every array; every NaN as the same. */
  memoryHash(): string {
    const digest = new Sha256();
    const { brain, agents } = this.given;
    for (let a = 0; a < agents; a++) {
      const ints = this.ints.i64.subarray(a * brain.ints.length, (a + 1) * brain.ints.length);
      const mem = new Uint32Array(this.mem.raw.buffer, this.mem.at + 4 * a * this.width, this.width);
      for (const one of brain.learned) {
        const shape = one.count === undefined ? one.shape : [Number(ints[one.count]!), ...one.shape.slice(1)];
        const floats = one.bank === "mem";
        digest.text(`${one.name}:${floats ? "<f4" : "<i8"}:${shape.join(",")};`);
        const values = floats ? gathered(mem, one, shape, Uint32Array) : gathered(ints, one, shape, BigInt64Array);
        if (values instanceof Uint32Array) canonical(values);
        digest.update(new Uint8Array(values.buffer));
      }
    }
    return `v2:${digest.hex()}`;
  }
}

type Bits = Uint32Array | BigInt64Array;

/** The elements of an array in order, whatever its strides. */
function gathered<T extends Bits>(bank: T, one: Learned, shape: number[], kind: new (size: number) => T): T {
  const found = new kind(shape.reduce((x, y) => x * y, 1));
  let next = 0;
  const walk = (dim: number, at: number): void => {
    if (dim === shape.length) found[next++] = bank[at]!;
    else for (let n = 0; n < shape[dim]!; n++) walk(dim + 1, at + n * one.strides[dim]!);
  };
  walk(0, one.at);
  return found;
}

/** Every NaN becomes the one that NumPy writes: its other bits mean nothing. */
function canonical(bits: Uint32Array): void {
  for (let n = 0; n < bits.length; n++) if ((bits[n]! & 0x7fffffff) > 0x7f800000) bits[n] = 0x7fc00000;
}
