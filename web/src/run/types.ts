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

export interface Case {
  format: number;
  task: string;
  scored: string;
  agents: number;
  inputs: number;
  sensors: string[];
  choices: number;
  choice_names: string[];
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

/** One moment of an episode: the scene's rows, what the brain saw and did, and what it had in mind. */
export interface Frame {
  rows: Float32Array;
  field: Uint8Array | null;
  obs: Float32Array;
  action: Float32Array;
  reward: number;
  mind: Record<string, Float32Array>;
}

export interface Episode {
  phase: string;
  world: number;
  episode: number;
  record: number[];
  frames: Frame[];
}
