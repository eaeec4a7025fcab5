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

/** The first episode whose row differs, where the recorded rows are known. */
export function firstDifference(recorded: [string, number[][]][], found: [string, number[][]][]): string | null {
  const here = new Map(found);
  for (const [phase, rows] of recorded) {
    const ours = here.get(phase) ?? [];
    for (let n = 0; n < Math.max(rows.length, ours.length); n++) {
      const same = rows[n] && ours[n] && rows[n]!.every((value, k) => Object.is(value, ours[n]![k]));
      if (!same) return `It parted at episode ${n + 1} of phase '${phase}'.`;
    }
  }
  return null;
}
