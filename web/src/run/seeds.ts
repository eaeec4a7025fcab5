/** Seeds as src/nematodebench/engine/seeds.py derives them. */
import { blake2b64 } from "./hashes";
import type { Expected, Seeds } from "./types";

export const runSeed = (session: number | string, run: number | string): bigint =>
  blake2b64(`nematodebench run seed/${session}/${run}`);

/** A one-way function of the run's seed: a brain cannot tell from it what its world draws. */
export const brainSeed = (run: bigint): bigint => blake2b64(`nematodebench brain seed/${run}`);

/** Seeds of a run that is given by its seed, or by the session's seed and its number. */
export function seedsOf(given: Expected): Seeds {
  const run = given.seed ? BigInt(given.seed) : runSeed(given.session ?? 0, given.run ?? 0);
  return { run: String(run), brain: String(brainSeed(run)) };
}
