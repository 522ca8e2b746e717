import type { EmbeddingProfile } from "../embedding.ts";
import type { Ordinal } from "../ports.ts";
import type { RankingQuestion } from "./question.ts";
import type { RankingCandidate } from "./ranking-candidate.ts";
import { type RankedHit, sumOf } from "./ranking.ts";

/**
 * Which of the matches answer the question. Something is always nearest, so the line is drawn by two figures that
 * mean the same for a user of twenty memories and of twenty thousand: how far a match stands out from those that
 * nobody would take for an answer, and how well it has the word of the question that it has worst.
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
  const line = hits.findIndex(({ ordinal, score }) => {
    const candidate = byOrdinal.get(ordinal);
    if (candidate === undefined) return true;
    const { weakest, distance, offset } = relevance;
    return weakest * weakestWord(question, candidate) + distance * (sumOf(score) - background) + offset < 0;
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

/** How well the memory has the telling word of the question that it has worst: a cosine of tokens. */
function weakestWord({ tokenWeights }: RankingQuestion, { matches, cosine }: RankingCandidate): number {
  const telling = TELLING_SHARE * Math.max(0, ...tokenWeights);
  let weakest = Infinity;
  for (let i = 0; i < matches.length; i += 1) {
    if ((tokenWeights[i] ?? 0) >= telling) weakest = Math.min(weakest, matches[i] ?? 0);
  }
  return weakest === Infinity ? cosine : weakest;
}
