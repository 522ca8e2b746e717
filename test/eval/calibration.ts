import type { Scored } from "./metrics.ts";

/** The `min_score` that shall leave few or no hits to a question that nothing answers. */
const MIN_SCORE = 0.35;
const PERCENTILES = [0.1, 0.25, 0.5, 0.75, 0.9];

export interface Calibration {
  /** All of it, to print. */
  readonly line: string;
  /** Median over questions of the best hit's score. */
  readonly medianBest: number;
  /** Mean number of hits of at least .35. */
  readonly meanHits: number;
}

/** What scores say of a kind of question. @param answers best first each. */
export function calibration(name: string, answers: readonly (readonly Scored[])[]): Calibration {
  const best = answers.map(([first]) => first?.score ?? 0);
  const kept = answers.map((hits) => hits.filter(({ score }) => score >= MIN_SCORE).length);
  const percentiles = PERCENTILES.map((share) => percentile(best, share).toFixed(2)).join(" ");
  const meanHits = kept.reduce((sum, count) => sum + count, 0) / Math.max(1, kept.length);
  const none = kept.filter((count) => count === 0).length / Math.max(1, kept.length);
  return {
    line:
      `${name}: best score ${percentiles} (10, 25, 50, 75, 90 %); ` +
      `${meanHits.toFixed(1)} hits of at least ${MIN_SCORE}, none for ${(100 * none).toFixed(0)} %`,
    medianBest: percentile(best, 0.5),
    meanHits,
  };
}

/** The value below which that share lies; 0 of nothing. */
export function percentile(values: readonly number[], share: number): number {
  const place = Math.min(values.length - 1, Math.floor(share * values.length));
  return values.toSorted((a, b) => a - b)[place] ?? 0;
}
