import type { Ordinal } from "./ports.ts";
import type { RankingQuestion } from "./question.ts";
import { fit } from "./time-expressions.ts";
import type { MemoryTraits } from "./traits.ts";

/**
 * How memories are ordered for a question. Every term is absolute: it does not depend on what else was found, so that
 * a score means the same for every question and `min_score` can cut on it. Weights are rounded to what holds alike
 * for short chats and long turns; `npm run eval` shows what each is worth.
 */

/** What the caller knows of a memory that may answer the question. */
export interface RankingCandidate {
  readonly ordinal: Ordinal;
  /** BM25, exact. */
  readonly words: number;
  /** Cosine of the best window with the question. */
  readonly cosine: number;
  /** For each token of the question, its cosine with the memory's nearest token; empty where tokens were not read. */
  readonly matches: Float32Array;
  /**
   * The memories two places before, one before, one after and two after in its session, in that order; undefined at
   * an end of the session. Those that shall count must be candidates themselves.
   */
  readonly around: readonly (Ordinal | undefined)[];
  readonly sessionId: string | null;
  readonly traits: MemoryTraits;
  /** When it happened, else when it was added. */
  readonly occurredAt: number;
  /** In [0, 1], after decay. */
  readonly salience: number;
  /** Which share of the question's quoted phrases the text contains, in [0, 1]; 0 where it quotes nothing. */
  readonly quoted: number;
}

/** A waypoint between two candidates, but for `next`, which `around` stands for. Counts both ways. */
export interface RankingEdge {
  readonly source: Ordinal;
  readonly target: Ordinal;
  /** In (0, 1]. */
  readonly weight: number;
}

export interface RankingOptions {
  readonly now: number;
  readonly edges?: readonly RankingEdge[];
  /** Instead of `WEIGHTS`, for ablations. */
  readonly weights?: RankingWeights;
}

export interface RankedHit {
  readonly ordinal: Ordinal;
  /** In [0, 1]. */
  readonly score: number;
  /** Each term's part of the score, terms that gave nothing left out; they add up to it. A part can be negative. */
  readonly shares: Readonly<Partial<Record<RankingTerm, number>>>;
  /** The memories through which it was reached, itself last; itself alone when it was found directly. */
  readonly path: readonly Ordinal[];
}

const TERMS = [
  /** The question's words in the memory: BM25, relative to the best a memory could have. */
  "words",
  /** Nearness of meaning: the cosine of the memory's best window. */
  "vectors",
  /** Nearness of each of the question's words to some word of the memory. */
  "tokens",
  /** The same, where the memories around it may supply what it does not say itself. */
  "context",
  /** What the memories beside it have, or those that waypoints lead from. */
  "neighbours",
  /** The best memories of its session. */
  "session",
  /** It is said by whom the question names; negative where somebody else says it. */
  "speaker",
  /** It happened when the question says. */
  "time",
  /** It tells a time, and the question asks for one. */
  "tellsTime",
  /** It names somebody or something, and the question asks for a name. */
  "tellsName",
  /** It asks something itself, and so rarely answers. */
  "asks",
  /** Longer memories say more. */
  "length",
  "phrase",
  "salience",
  "recency",
] as const;
export type RankingTerm = (typeof TERMS)[number];

export const WEIGHTS = {
  words: 1,
  vectors: 0.6,
  tokens: 1,
  context: 4,
  /** Of a neighbour's own score: the one before or after, the one two places away. */
  nextTo: 0.3,
  nearby: 0.1,
  /** … of the one before, when it asks: this may be the answer. */
  answer: 0.6,
  /** Of the score at the other end of a waypoint, times the waypoint's weight. */
  waypoint: 0.3,
  session: 0.4,
  speaker: 0.3,
  time: 0.6,
  tellsTime: 0.4,
  tellsName: 0.3,
  asks: -0.3,
  length: 0.05,
  phrase: 1,
  salience: 0.1,
  recency: 0.05,
};
export type RankingWeights = typeof WEIGHTS;

/** Tokens of any two texts are this similar on average: only what is above tells. */
const TOKEN_FLOOR = 0.3;
/** How much the tokens of a memory around count: two before, one before, one after, two after. What precedes is what a memory takes up. */
const AROUND_SHARES = [0.8, 1, 0.8, 0.8] as const;
/** A memory of this many words or fewer leans on its surroundings in full; a longer one in proportion less. */
const SHORT_WORDS = 40;
/** So many of a session's best speak for it. */
const SESSION_BEST = 3;
/** Words of a usual memory: shorter ones lose a little, longer ones gain. */
const USUAL_WORDS = 20;
const LONGEST_WORDS = 200;
/** Sums of terms in conversations and of notes that stand alone, compared. */
const SURROUNDED = 1.6;
const RECENCY_HALF_LIFE_MS = 30 * 86_400_000;
const NEUTRAL_SALIENCE = 0.5;

type Terms = Record<RankingTerm, number>;

/**
 * The candidates, best first, ties newest first.
 *
 * Cost: linear in candidates × (tokens of the question + edges).
 */
export function rank(
  question: RankingQuestion,
  candidates: readonly RankingCandidate[],
  { now, edges = [], weights = WEIGHTS }: RankingOptions,
): RankedHit[] {
  const index = new Map(candidates.map(({ ordinal }, i) => [ordinal, i]));
  const near = candidates.map(({ around }) =>
    around.map((ordinal) => (ordinal === undefined ? undefined : index.get(ordinal))),
  );
  const direct = candidates.map((candidate) => directTerms(question, candidate, weights));
  const own = direct.map(({ words, vectors, tokens }) => words + vectors + tokens);

  const waypoints = waypointsByCandidate(edges, index);
  const givers = candidates.map((_, i) => bestGiver(i, near[i] ?? [], candidates, own, waypoints.get(i) ?? [], weights));
  const found = candidates.map((candidate, i) => {
    const lean = leaning(candidate.traits);
    return {
      ...(direct[i] ?? NOTHING),
      context: weights.context * contextOf(question, candidates, i, near[i] ?? [], lean),
      neighbours: lean * (givers[i]?.given ?? 0),
    };
  });

  const named = namedSpeakers(question, candidates);
  const sessions = sessionScores(candidates, found);
  return candidates
    .map((candidate, i) => {
      const terms: Terms = {
        ...(found[i] ?? NOTHING),
        ...circumstances(question, candidate, named, now, weights),
        session: weights.session * (sessions.get(candidate.sessionId) ?? 0),
      };
      for (const term of TERMS) terms[term] /= surroundedBy(near[i] ?? []);
      const giver = givers[i];
      const isReached = giver?.from !== undefined && terms.neighbours > (own[i] ?? 0);
      return hit(candidate.ordinal, terms, isReached ? candidates[giver.from ?? i]?.ordinal : undefined);
    })
    .sort((a, b) => b.score - a.score || b.ordinal - a.ordinal);
}

const NOTHING = Object.fromEntries(TERMS.map((term) => [term, 0])) as Terms;

/** How much a memory takes from what is around it, in (0, 1]. */
function leaning({ words }: MemoryTraits): number {
  return Math.min(1, SHORT_WORDS / Math.max(1, words));
}

/**
 * What a memory in a conversation has more than one that stands alone, as a factor: its surroundings add to it
 * whether or not they are to the point. Divided by it, both are on one scale.
 */
function surroundedBy(near: readonly (number | undefined)[]): number {
  return near.some((neighbour) => neighbour !== undefined) ? SURROUNDED : 1;
}

function directTerms(question: RankingQuestion, candidate: RankingCandidate, weights: RankingWeights): Terms {
  return {
    ...NOTHING,
    words: question.bestWords > 0 ? (weights.words * candidate.words) / question.bestWords : 0,
    vectors: weights.vectors * Math.max(0, candidate.cosine),
    tokens: weights.tokens * aboveFloor(question, candidate, candidate.matches),
  };
}

/**
 * How well the tokens match, in [0, 1 − floor]. A question without tokens (stop words alone, or a script that the model
 * cannot read) is matched by its words instead, and one without words too by its vector.
 */
function aboveFloor(question: RankingQuestion, candidate: RankingCandidate, matches: Float32Array): number {
  const { tokenWeights, bestWords } = question;
  if (tokenWeights.length === 0) {
    const match = bestWords > 0 ? candidate.words / bestWords : (candidate.cosine - TOKEN_FLOOR) / (1 - TOKEN_FLOOR);
    return (1 - TOKEN_FLOOR) * Math.max(0, Math.min(1, match));
  }
  let sum = 0;
  for (let i = 0; i < matches.length; i += 1) sum += (tokenWeights[i] ?? 0) * (matches[i] ?? 0);
  return Math.max(0, sum - TOKEN_FLOOR);
}

/** Token matching again, each token with the best of the memory and its surroundings; long memories stay by themselves. */
function contextOf(
  question: RankingQuestion,
  candidates: readonly RankingCandidate[],
  i: number,
  near: readonly (number | undefined)[],
  lean: number,
): number {
  const candidate = candidates[i];
  if (candidate === undefined) return 0;
  const alone = candidate.matches;
  const together = Float32Array.from(alone);
  near.forEach((neighbour, place) => {
    const others = neighbour === undefined ? undefined : candidates[neighbour]?.matches;
    if (others === undefined) return;
    const share = AROUND_SHARES[place] ?? 0;
    for (let j = 0; j < together.length; j += 1) {
      together[j] = Math.max(together[j] ?? 0, share * (others[j] ?? 0));
    }
  });
  return (1 - lean) * aboveFloor(question, candidate, alone) + lean * aboveFloor(question, candidate, together);
}

interface Giver {
  readonly from: number | undefined;
  readonly given: number;
}

/** Whoever around gives the most; only one does, or a chatty session would pile up. */
function bestGiver(
  i: number,
  near: readonly (number | undefined)[],
  candidates: readonly RankingCandidate[],
  own: readonly number[],
  waypoints: readonly { readonly other: number; readonly weight: number }[],
  weights: RankingWeights,
): Giver {
  let best: Giver = { from: undefined, given: 0 };
  const offer = (from: number | undefined, share: number) => {
    const given = from === undefined || from === i ? 0 : share * (own[from] ?? 0);
    if (given > best.given) best = { from, given };
  };
  const [twoBefore, before, after, twoAfter] = near;
  const answers = before !== undefined && candidates[before]?.traits.asks === true;
  offer(before, answers ? weights.answer : weights.nextTo);
  offer(after, weights.nextTo);
  offer(twoBefore, weights.nearby);
  offer(twoAfter, weights.nearby);
  for (const { other, weight } of waypoints) offer(other, weights.waypoint * weight);
  return best;
}

function waypointsByCandidate(edges: readonly RankingEdge[], index: ReadonlyMap<Ordinal, number>) {
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

/** Of each session, the mean of its best memories' scores; memories without a session have none. */
function sessionScores(candidates: readonly RankingCandidate[], found: readonly Terms[]): Map<string | null, number> {
  const scores = new Map<string, number[]>();
  for (const [i, { sessionId }] of candidates.entries()) {
    if (sessionId === null) continue;
    const score = total(found[i] ?? NOTHING);
    const list = scores.get(sessionId);
    if (list === undefined) scores.set(sessionId, [score]);
    else list.push(score);
  }
  return new Map(
    Array.from(scores, ([sessionId, list]) => {
      const best = list.sort((a, b) => b - a).slice(0, SESSION_BEST);
      return [sessionId, best.reduce((sum, score) => sum + score, 0) / SESSION_BEST];
    }),
  );
}

/** The terms that say nothing of what a memory is about, each small and bounded. */
function circumstances(
  question: RankingQuestion,
  { traits, occurredAt, salience, quoted }: RankingCandidate,
  { speakers, named }: Speakers,
  now: number,
  weights: RankingWeights,
) {
  // People of the conversation are addressed all the time, and what the question names is no answer to it.
  const isNews = (name: string) => !speakers.has(name) && !question.text.includes(` ${name} `);
  const age = Math.max(0, now - occurredAt);
  return {
    speaker: named.size === 0 || traits.speaker === null ? 0 : named.has(traits.speaker) ? weights.speaker : -weights.speaker,
    time: weights.time * question.times.reduce((best, time) => Math.max(best, fit(time, occurredAt)), 0),
    tellsTime: question.asksTime && traits.tellsTime ? weights.tellsTime : 0,
    tellsName: question.asksName && traits.names.some(isNews) ? weights.tellsName : 0,
    asks: traits.asks ? weights.asks * leaning(traits) : 0,
    length: weights.length * Math.log(Math.min(LONGEST_WORDS, Math.max(1, traits.words)) / USUAL_WORDS),
    phrase: weights.phrase * quoted,
    salience: weights.salience * (salience - NEUTRAL_SALIENCE),
    recency: weights.recency * 2 ** (-age / RECENCY_HALF_LIFE_MS),
  };
}

interface Speakers {
  /** Full names and first names of all who speak. */
  readonly speakers: ReadonlySet<string>;
  /** Full names of those whom the question names. */
  readonly named: ReadonlySet<string>;
}

/** By full name, or by the first of its words ("Anna" is "Anna Berg"). */
function namedSpeakers(question: RankingQuestion, candidates: readonly RankingCandidate[]): Speakers {
  const speakers = new Set<string>();
  const named = new Set<string>();
  for (const { traits } of candidates) {
    if (traits.speaker === null || speakers.has(traits.speaker)) continue;
    const [first = ""] = traits.speaker.split(" ");
    speakers.add(traits.speaker).add(first);
    if ([traits.speaker, first].some((name) => question.text.includes(` ${name} `))) named.add(traits.speaker);
  }
  return { speakers, named };
}

function total(terms: Terms): number {
  return TERMS.reduce((sum, term) => sum + terms[term], 0);
}

/** The sum that gives a score of one half, and how steeply the score rises there; see `scoreOf`. */
const HALFWAY = 1.8;
const STEEPNESS = 3.2;

/**
 * The score of a sum of terms, in [0, 1): `s^n / (s^n + h^n)`, which keeps the order. A memory of the question's own
 * text sums to 4.5 and more, an answer mostly to 1.5 and more, an unrelated memory to less than 1: the constants put
 * the first above .95, the second above .35 and the last under .25.
 */
export function scoreOf(sum: number): number {
  if (sum <= 0) return 0;
  const power = (sum / HALFWAY) ** STEEPNESS;
  return power / (power + 1);
}

function hit(ordinal: Ordinal, terms: Terms, through: Ordinal | undefined): RankedHit {
  const sum = total(terms);
  const score = scoreOf(sum);
  const shares: Partial<Record<RankingTerm, number>> = {};
  // Each term has the part of the score that it has of the sum.
  for (const term of TERMS) if (terms[term] !== 0 && score > 0) shares[term] = (score * terms[term]) / sum;
  return { ordinal, score, shares, path: through === undefined ? [ordinal] : [through, ordinal] };
}
