/** Brings modules, tables and cases together, and has a Worker execute runs. */
import { seedsOf } from "./seeds";
import type { BuiltModule, Case, Episode, Expected, Tables } from "./types";
import type { Answer, Order } from "./worker";
import RunWorker from "./worker?worker&inline";

declare global {
  interface Window {
    nbModules?: Record<string, BuiltModule>;
    nbCases?: Record<string, Case>;
    nbTables?: Record<string, string>;
    nbVariant?: Variant;
  }
}

export type Variant = "relaxed" | "exact";
export interface Result {
  recordHash: string;
  memoryHash: string;
  seconds: number;
  steps: number;
  records: [string, number[][]][];
  variant: Variant;
}
export interface Listener {
  progress?: (done: number, of: number, phase: string, record: number[]) => void;
  episode?: (episode: Episode) => void;
  weights?: (weights: Record<string, Float32Array>) => void;
  signal?: AbortSignal;
}

/** Three vectors in, one relaxed multiply-add out: a browser that does not know it says so. */
const PROBE = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 8, 1, 96, 3, 123, 123, 123, 1, 123, 3, 2, 1, 0, 10, 13, 1, 11, 0, 32, 0, 32, 1, 32, 2, 253,
  133, 2, 11,
]);

const HERE = document.currentScript instanceof HTMLScriptElement ? document.currentScript.src : "";

async function unpacked(text: string): Promise<ArrayBuffer> {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

function load(name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = HERE ? new URL(name, HERE).href : name;
    script.onload = () => resolve();
    script.onerror = () => reject(new Error(`the page lacks the script ${name}`));
    document.head.append(script);
  });
}

const modules = new Map<Variant, Promise<{ bytes: ArrayBuffer; dataEnd: number }>>();
function moduleOf(variant: Variant): Promise<{ bytes: ArrayBuffer; dataEnd: number }> {
  let found = modules.get(variant);
  if (!found) {
    found = (async () => {
      if (!window.nbModules?.[variant]) await load(`nb-${variant}.js`);
      const built = window.nbModules![variant]!;
      return { bytes: await unpacked(built.gzip), dataEnd: built.data_end };
    })();
    modules.set(variant, found);
  }
  return found;
}

/** Hands an order to a new Worker; it ends when the answer is there, or when nobody wants it any more. */
function ask(order: Order, hear: (answer: Answer) => boolean, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new RunWorker();
    const end = (then: () => void) => {
      worker.terminate();
      then();
    };
    signal?.addEventListener("abort", () => end(() => reject(new DOMException("cancelled", "AbortError"))));
    worker.onerror = (event) => end(() => reject(new Error(event.message)));
    worker.onmessage = ({ data }: MessageEvent<Answer>) => {
      if (data.kind === "failed") end(() => reject(new Error(data.message)));
      else if (hear(data)) end(resolve);
    };
    worker.postMessage(order);
  });
}

let chosen: Promise<Variant> | null = null;
/** Relaxed SIMD where the browser has it and a self-test shows that it rounds once; exact emulation otherwise. */
export function variant(): Promise<Variant> {
  chosen ??= (async () => {
    if (window.nbVariant) return window.nbVariant;
    if (!WebAssembly.validate(PROBE)) return "exact";
    const module = await moduleOf("relaxed");
    let exact = false;
    await ask({ ...module, selfTest: true } as Order, (answer) => answer.kind === "tested" && ((exact = answer.exact), true));
    return exact ? "relaxed" : "exact";
  })();
  return chosen;
}

const unpackedTables = new Map<string, Promise<Float64Array>>();
async function tablesOf(given: Case): Promise<Tables> {
  const found: Tables = {};
  for (const { params } of given.worlds) {
    const text = window.nbTables?.[params];
    if (!text) throw new Error(`the page lacks the table ${params}`);
    if (!unpackedTables.has(params)) unpackedTables.set(params, unpacked(text).then((buffer) => new Float64Array(buffer)));
    found[params] = await unpackedTables.get(params)!;
  }
  return found;
}

/** A case by its name: from a script element with JSON, or from what data scripts have put into the page. */
export function caseOf(name: string): Case {
  const element = document.getElementById(name);
  if (element?.textContent && element.getAttribute("type") === "application/json") {
    const given = JSON.parse(element.textContent) as Case & { tables?: Record<string, string> };
    Object.assign((window.nbTables ??= {}), given.tables ?? {});
    return given;
  }
  const found = window.nbCases?.[name];
  if (!found) throw new Error(`the page has no case '${name}'`);
  return found;
}

/** Executes a whole run. */
export async function execute(given: Case, run: Expected, listener: Listener = {}, more: Partial<Order> = {}): Promise<Result | null> {
  const [kind, tables] = [await variant(), await tablesOf(given)];
  const order: Order = { ...(await moduleOf(kind)), case: given, tables, seeds: seedsOf(run), ...more };
  const of = given.phases.reduce((sum, phase) => sum + phase.episodes, 0);
  const before = new Map(given.phases.map((phase, n) => [phase.name, given.phases.slice(0, n).reduce((s, p) => s + p.episodes, 0)]));
  let result: Result | null = null;
  await ask(
    order,
    (answer) => {
      if (answer.kind === "progress") {
        const { phase, episode, record } = answer.progress;
        const known = given.phases.find((one) => one.name === phase)!.ticks === 0;
        listener.progress?.(known ? (before.get(phase) ?? 0) + episode : episode, known ? of : 0, phase, record);
      } else if (answer.kind === "episode") listener.episode?.(answer.episode);
      else if (answer.kind === "weights") {
        listener.weights?.(answer.weights);
        return Boolean(order.onlyWatched);
      } else if (answer.kind === "done") {
        const { recordHash, memoryHash, seconds, steps, records } = answer;
        result = { recordHash, memoryHash, seconds, steps, records, variant: kind };
        return true;
      }
      return false;
    },
    listener.signal,
  );
  return result;
}
