/** The episodes of one run, executed when somebody wants to see them, and kept. */
import { execute } from "./runner";
import type { Case, Episode, Expected } from "./types";

const MOST_KEPT = 24;

export class Track {
  private readonly kept = new Map<number, Episode>();
  weights: Record<string, Float32Array> = {};

  /** `guided`: the world's reference acts. `alone`: nothing learns, so that an episode needs none before it. */
  constructor(readonly given: Case, readonly run: Expected, private readonly how: { guided?: boolean; alone?: boolean } = {}) {}

  get episodes(): number {
    return this.given.phases.find((phase) => phase.name === this.given.scored)?.episodes || 1;
  }

  async episode(number: number, signal?: AbortSignal, progress?: (done: number, of: number, phase: string) => void): Promise<Episode> {
    const known = this.kept.get(number);
    if (known) return known;
    let found: Episode | null = null;
    const listener = {
      episode: (episode: Episode) => (found = episode),
      weights: (weights: Record<string, Float32Array>) => (this.weights = weights),
      ...(signal && { signal }),
      ...(progress && { progress }),
    };
    await execute(this.given, this.run, listener, { watch: [number], onlyWatched: true, ...this.how });
    if (!found) throw new Error(`the run has no episode ${number + 1}`);
    this.kept.set(number, found);
    if (this.kept.size > MOST_KEPT) this.kept.delete(this.kept.keys().next().value!);
    return found;
  }
}
