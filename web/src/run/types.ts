/** What the package writes into a page: see src/nematodebench/browser/cases.py. */

export interface Field {
  name: string;
  bank: "ints" | "mem";
  at: number;
  shape: number[];
}

/** An array that counts as learned; a list that is only so long as a counter says has its place as `count`. */
export interface Learned extends Field {
  strides: number[];
  count?: number;
}

export interface Brain {
  name: string;
  config: Record<string, unknown>;
  init: string;
  begin_episode: string;
  act: string;
  learn: string;
  hyper: number[];
  ints: number[];
  memory: number;
  fields: Field[];
  learned: Learned[];
}

export interface Picture {
  view: [number, number, number, number];
  words: string[];
  legend: Record<string, string>;
  field: string;
  trail: number;
  periodic: boolean;
  frames: number;
}

export interface World {
  name: string;
  params: string;
  state: number;
  out: number;
  reset: string;
  step: string;
  reference?: string;
  scene?: string;
  picture: Picture;
  metrics: string[];
  terminations: string[];
}

export interface Phase {
  name: string;
  world: number;
  episodes: number;
  ticks: number;
  learns: boolean;
  columns: string[];
}

/** The function of a brain that has nothing to do, for instance because it does not learn. */
export const NOTHING = "brains.base:nothing";

export interface Case {
  format: number;
  task: string;
  scored: string;
  agents: number;
  inputs: number;
  sensors: string[];
  choices: number;
  choice_names: string[];
  /** Names of the effectors; empty where an action is a choice. */
  effectors?: string[];
  action_width: number;
  brain: Brain;
  worlds: World[];
  phases: Phase[];
  runs?: Expected[];
}

/** A run that was executed elsewhere. */
export interface Expected {
  run?: number | null;
  session?: number | null;
  seed?: string;
  record_hash?: string | null;
  memory_hash?: string | null;
  label?: string;
}

export type Tables = Record<string, Float64Array>;

export interface BuiltModule {
  data_end: number;
  gzip: string;
}

/** The seeds of a run, in decimals: JSON has no numbers of 64 bits. */
export interface Seeds {
  run: string;
  brain: string;
}

/** What a brain has in mind when it has decided; what it does not have is not there. */
export interface Mind {
  /** How likely each choice was, or each level of each effector. */
  chances?: Float32Array;
  /** What it expects of each choice, or of each level of each effector. */
  worths?: Float32Array;
  /** What speaks for each choice: votes, or outputs of a network that is never unsure. */
  votes?: Float32Array;
  /** How much it believes in each hidden state of its model of the world. */
  belief?: Float32Array;
  /** What it expects of the moment. */
  value?: number;
  units?: Float32Array;
  /** What the units are, in words. */
  called?: string;
  spikes?: Float32Array;
  /** Of a quantum circuit: how likely each basis state is, and the expectation of Z of each qubit. */
  basis?: Float32Array;
  qubits?: Float32Array;
}

/** One moment of an episode: the scene's rows, what the brain saw and did, and what it had in mind. */
export interface Frame {
  rows: Float32Array;
  field: Uint8Array | null;
  obs: Float32Array;
  action: Float32Array;
  reward: number;
  mind: Mind;
}

export interface Episode {
  phase: string;
  world: number;
  episode: number;
  record: number[];
  frames: Frame[];
}
