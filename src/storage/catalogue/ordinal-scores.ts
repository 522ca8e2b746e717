import type { Ordinal, Scores, Selection } from "../../core/ports.ts";

/** Scores by ordinal, with the best of them on demand. */
export class OrdinalScores implements Scores {
  readonly #scores: Float32Array;
  readonly #selection: Selection | undefined;

  constructor(scores: Float32Array, selection: Selection | undefined) {
    this.#scores = scores;
    this.#selection = selection;
  }

  of(ordinal: Ordinal): number {
    return this.#scores[ordinal] ?? 0;
  }

  /** Keeps those above the worst of the best so far, and cuts them when they are four times too many. */
  top(limit: number): Ordinal[] {
    const scores = this.#scores;
    let best: Ordinal[] = [];
    if (limit <= 0) return best;
    const cut = () => best.sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || b - a).slice(0, limit);
    let floor = Number.MIN_VALUE;
    for (let ordinal = 0; ordinal < scores.length; ordinal += 1) {
      if ((scores[ordinal] ?? 0) < floor || this.#selection?.has(ordinal) === false) continue;
      best.push(ordinal);
      if (best.length < 4 * limit) continue;
      best = cut();
      floor = scores[best.at(-1) ?? 0] ?? 0;
    }
    return cut();
  }
}
