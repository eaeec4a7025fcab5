/** Executes runs away from the page, so that the page stays alive and can end it at any time. */
import { Run, type Progress } from "./execution";
import { Machine } from "./machine";
import type { Case, Episode, Seeds, Tables } from "./types";

export interface Order {
  bytes: ArrayBuffer;
  dataEnd: number;
  case: Case;
  tables: Tables;
  seeds: Seeds;
  /** The world's reference acts in place of the brain. */
  guided?: boolean;
  /** Episodes of the scored phase whose frames are wanted. */
  watch?: number[];
  /** Ends when the last of these was seen, before the run is over. */
  onlyWatched?: boolean;
  /** Only the first of the watched episodes, without those before it: for policies that do not learn. */
  alone?: boolean;
  /** Looks only whether the module multiplies and adds exactly. */
  selfTest?: boolean;
}

export type Answer =
  | { kind: "progress"; progress: Progress; seconds: number }
  | { kind: "episode"; episode: Episode }
  | { kind: "weights"; weights: Record<string, Float32Array> }
  | { kind: "tested"; exact: boolean; seconds: number }
  | { kind: "done"; recordHash: string; memoryHash: string; seconds: number; steps: number; records: [string, number[][]][] }
  | { kind: "failed"; message: string };

const PAUSE = 40;
const WEIGHTS = /weights$|^(net|cell|circuit)\.parameters$|^table$|^energy$|^recurrent$|^inputs$|^readout$/;
const MOST_WEIGHTS = 6000;
const say = (answer: Answer) => (self as unknown as Worker).postMessage(answer);

function execute(order: Order): void {
  const module = new WebAssembly.Module(order.bytes);
  const started = performance.now();
  const seconds = () => (performance.now() - started) / 1000;
  if (order.selfTest) {
    const exact = new Machine(module, order.dataEnd).isExact();
    say({ kind: "tested", exact, seconds: seconds() });
    return;
  }
  const run = new Run(module, order.dataEnd, order.case, order.tables, order.seeds, order.guided);
  const wanted = new Set(order.watch ?? []);
  const watch = (phase: { name: string }, episode: number) => phase.name === order.case.scored && wanted.has(episode);
  const keep = (episode: Episode) => {
    wanted.delete(episode.episode);
    say({ kind: "episode", episode });
  };
  let told = 0;
  const going = order.alone ? run.episode(order.watch![0]!, keep) : run.go(wanted.size ? watch : undefined, keep);
  for (const progress of going) {
    const now = performance.now();
    if (now - told > PAUSE) {
      told = now;
      say({ kind: "progress", progress, seconds: seconds() });
    }
    if (order.onlyWatched && wanted.size === 0) break;
  }
  say({ kind: "weights", weights: run.arrays(WEIGHTS, MOST_WEIGHTS) });
  if (order.onlyWatched) return;
  const took = seconds();
  say({
    kind: "done", recordHash: run.recordHash(), memoryHash: run.memoryHash(), seconds: took, steps: run.steps,
    records: [...run.records],
  });
}

self.onmessage = (event: MessageEvent<Order>) => {
  try {
    execute(event.data);
  } catch (error) {
    say({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
  }
};
