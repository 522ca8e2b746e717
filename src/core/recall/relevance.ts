import type { EmbeddingProfile } from "../embedding.ts";
import type { Ordinal } from "../ports.ts";
import type { RankingQuestion } from "./question.ts";
import type { RankingCandidate } from "./ranking-candidate.ts";
import { type RankedHit, sumOf } from "./ranking.ts";

/**
 * Which of the matches answer the question. Something is always nearest, so the line is drawn by figures that mean the
 * same for a user of twenty memories and of twenty thousand: how far a match stands out from those that nobody would
 * take for an answer, how far from the second best, how many of the question's words a match has, how well
 * it has the one that it has worst, and how much better some other memory has that one.
 */

/** Matches at these places are taken for what merely resembles. */
const BACKGROUND = { from: 5, to: 20 } as const;
/** The sum of terms of a memory that has nothing to do with the question; for places that are not there. */
const UNRELATED_SUM = 0.8;
/** A word of the question counts as one of its words when it weighs this much of the heaviest one. */
const TELLING_SHARE = 0.5;

/**
 * How many leading matches answer the question.
 *
 * @param hits best first.
 * @param found all that was ranked, best first.
 */
export function relevantCount(
  question: RankingQuestion,
  hits: readonly RankedHit[],
  found: readonly RankedHit[],
  candidates: readonly RankingCandidate[],
  { relevance }: Pick<EmbeddingProfile, "relevance">,
): number {
  const byOrdinal = new Map<Ordinal, RankingCandidate>(
    candidates.map((candidate) => [candidate.ordinal, candidate]),
  );
  const background = backgroundSum(found);
  const second = found[1] === undefined ? UNRELATED_SUM : sumOf(found[1].score);
  const best = question.tokenWeights.map((_, i) =>
    candidates.reduce((most, { matches }) => Math.max(most, matches[i] ?? 0), 0),
  );
  const line = hits.findIndex(({ ordinal, score }) => {
    const candidate = byOrdinal.get(ordinal);
    if (candidate === undefined) return true;
    const words = question.bestWords > 0 ? candidate.words / question.bestWords : 0;
    const { weakest, elsewhere } = weakestWord(question, candidate, best);
    return (
      relevance.weakest * weakest -
        relevance.elsewhere * elsewhere +
        relevance.words * words +
        relevance.distance * (sumOf(score) - background) +
        relevance.gap * Math.max(0, sumOf(score) - second) +
        relevance.offset <
      0
    );
  });
  return line < 0 ? hits.length : line;
}

function backgroundSum(found: readonly RankedHit[]): number {
  let sum = 0;
  for (let place = BACKGROUND.from; place < BACKGROUND.to; place += 1) {
    const hit = found[place];
    sum += hit === undefined ? UNRELATED_SUM : sumOf(hit.score);
  }
  return sum / (BACKGROUND.to - BACKGROUND.from);
}

/**
 * Of the telling words of the question: how well the memory has the one that it has worst, a cosine of tokens, and by
 * how much another memory has one of them better at most.
 */
function weakestWord(
  { tokenWeights }: RankingQuestion,
  { matches, cosine }: RankingCandidate,
  best: Float32Array,
): { weakest: number; elsewhere: number } {
  const telling = TELLING_SHARE * Math.max(0, ...tokenWeights);
  let [weakest, elsewhere] = [Infinity, 0];
  for (const [i, match] of matches.entries()) {
    if ((tokenWeights[i] ?? 0) < telling) continue;
    weakest = Math.min(weakest, match);
    elsewhere = Math.max(elsewhere, (best[i] ?? 0) - match);
  }
  return { weakest: weakest === Infinity ? cosine : weakest, elsewhere };
}
