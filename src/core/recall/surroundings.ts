import type { Ordinal } from "../ports.ts";
import type { RankingCandidate, RankingEdge } from "./ranking-candidate.ts";
import { WEIGHTS } from "./ranking-terms.ts";
import type { MemoryTraits } from "./traits.ts";

/** The contribution of the memories around one to its score: those beside it in its session, and those that waypoints lead from. */

/** How much the tokens of a memory around count: two before, one before, one after, two after. What precedes is what a memory takes up. */
const AROUND_SHARES = [0.8, 1, 0.8, 0.8] as const;
/** The same for a memory that follows a question: it goes on with what made the other ask. */
const ANSWER_SHARES = [1, 1, 0.8, 0.8] as const;
/** A memory of this many words or fewer leans on its surroundings in full; a longer one in proportion less. */
const SHORT_WORDS = 40;
/** Sums of terms in conversations and of notes that stand alone, compared. */
const SURROUNDED = 1.8;

/** How much a memory takes from what is around it, in (0, 1]. */
export function contextShare({ words }: MemoryTraits): number {
  return Math.min(1, SHORT_WORDS / Math.max(1, words));
}

/**
 * The advantage of a memory in a conversation over one that stands alone, as a factor: its surroundings add to it
 * whether or not they are to the point. Divided by it, both are on one scale.
 */
export function conversationFactor(near: readonly (number | undefined)[]): number {
  return near.some((neighbour) => neighbour !== undefined) ? SURROUNDED : 1;
}

/** Used again for every memory. */
let scratch = new Float32Array();

/**
 * For each token of the question the best of the memory's own match and, at a discount, those of the memories around
 * it. An answer has what the memory before its question says in full: "I took a trip.", "Where to?", "To Lisbon."
 * The next call may overwrite them.
 */
export function matchesWithSurroundings(
  matches: Float32Array,
  near: readonly (number | undefined)[],
  candidates: readonly Pick<RankingCandidate, "matches" | "traits">[],
): Float32Array {
  const shares = isAnswer(near, candidates) ? ANSWER_SHARES : AROUND_SHARES;
  let together = matches;
  for (let place = 0; place < shares.length; place += 1) {
    const [neighbour, share] = [near[place], shares[place] ?? 0];
    const others = neighbour === undefined ? undefined : candidates[neighbour]?.matches;
    if (others === undefined || others.length === 0) continue;
    if (together === matches) {
      if (scratch.length !== matches.length) scratch = new Float32Array(matches.length);
      together = scratch;
      together.set(matches);
    }
    for (let j = 0; j < together.length; j += 1)
      together[j] = Math.max(together[j] ?? 0, share * (others[j] ?? 0));
  }
  return together;
}

/** Whether the memory before asks something: this may be the answer. */
function isAnswer(
  near: readonly (number | undefined)[],
  candidates: readonly Pick<RankingCandidate, "traits">[],
): boolean {
  const [, before] = near;
  return before !== undefined && candidates[before]?.traits.asks === true;
}

export interface Contribution {
  /** Place of the neighbour among the candidates; undefined where no neighbour adds anything. */
  readonly from: number | undefined;
  /** A share of the neighbour's own sum. */
  readonly value: number;
}

/** The contribution of the neighbour that adds the most; only one counts, or a chatty session would pile up. */
export function neighbourContribution(
  i: number,
  near: readonly (number | undefined)[],
  candidates: readonly Pick<RankingCandidate, "traits">[],
  own: Float64Array,
  waypoints: readonly { readonly other: number; readonly weight: number }[],
): Contribution {
  const [, before, after] = near;
  const ofBefore = offered(before, i, own, isAnswer(near, candidates) ? WEIGHTS.answer : WEIGHTS.nextTo);
  const ofAfter = offered(after, i, own, WEIGHTS.nextTo);
  let value = Math.max(0, ofBefore, ofAfter);
  let from = value === 0 ? undefined : ofAfter > ofBefore ? after : before;
  for (const { other, weight } of waypoints) {
    const more = offered(other, i, own, WEIGHTS.waypoint * weight);
    if (more > value) [from, value] = [other, more];
  }
  return { from, value };
}

function offered(from: number | undefined, to: number, own: Float64Array, share: number): number {
  return from === undefined || from === to ? 0 : share * (own[from] ?? 0);
}

/** The candidates that each candidate has a waypoint with, by place among the candidates. */
export function waypointsByCandidate(edges: readonly RankingEdge[], index: ReadonlyMap<Ordinal, number>) {
  const waypoints = new Map<number, { readonly other: number; readonly weight: number }[]>();
  const add = (from: number, other: number, weight: number) => {
    const list = waypoints.get(from);
    if (list === undefined) waypoints.set(from, [{ other, weight }]);
    else list.push({ other, weight });
  };
  for (const { source, target, weight } of edges) {
    const [a, b] = [index.get(source), index.get(target)];
    if (a === undefined || b === undefined) continue;
    add(a, b, weight);
    add(b, a, weight);
  }
  return waypoints;
}
