import type { Ordinal } from "../ports.ts";
import type { RankingQuestion } from "./question.ts";
import type { RankingCandidate, RankingEdge } from "./ranking-candidate.ts";
import { type RankingTerm, type RankingWeights, TERMS, WEIGHTS } from "./ranking-terms.ts";
import {
  neighbourContribution,
  contextShare,
  matchesWithSurroundings,
  conversationFactor,
  waypointsByCandidate,
} from "./surroundings.ts";
import { fit, type Period } from "../text/time-periods.ts";

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

/** The inverse of `scoreOf`, for comparing how much more one has than another: scores are crowded near 1. */
export function sumOf(score: number): number {
  return score <= 0 ? 0 : HALFWAY * (score / Math.max(1e-9, 1 - score)) ** (1 / STEEPNESS);
}

/**
 * How memories are ordered for a question. Every term is absolute: it does not depend on what else was found, so that
 * a score means the same for every question and `min_score` can cut on it. Weights are rounded to what holds alike
 * for short chats and long turns; `npm run eval` shows what each is worth.
 */

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

/** So many of a session's best speak for it. */
const SESSION_BEST = 3;
/** A question of so many words hardly tells anything; in a longer one stands what made its writer ask. */
const BARE_QUESTION_WORDS = 12;
/** How much more vectors count for a question of which no memory has a word. */
const UNKNOWN_WORDS = 2;
/**
 * A memory whose sum of terms is so far behind the best gains nothing by a paste. Of 180 questions beside a mail that quotes another
 * note 143 find theirs first (96 without the limit, 153 with nothing of the paste); at 1.2 three of 94 pasted prompts less are right.
 */
const PASTED_RANGE = 1.6;
const RECENCY_HALF_LIFE_MS = 30 * 86_400_000;
const NEUTRAL_SALIENCE = 0.5;
/**
 * Sums of terms of a root and of the chunk that holds the sentence it quotes, compared: the chunk, which can be cited, comes
 * first, and the root still before what answers worse. Of 123 questions after sentences that roots of ten documents quote,
 * 38 found the root first without it; 1.10 was the largest ratio.
 */
const QUOTED = 1.1;

/**
 * The candidates in the order in which their token vectors are worth reading from the disk: the best by words and vectors
 * first, their own and their surroundings'. 250 of the best hundred of each arm and their neighbours rank as well as all,
 * 150 a little worse.
 */
export function worthReading(
  question: RankingQuestion,
  candidates: readonly Omit<RankingCandidate, "matches" | "quoted">[],
  weights: RankingWeights = WEIGHTS,
): Ordinal[] {
  const near = placesAround(candidates, placesByOrdinal(candidates));
  const terms = new Float64Array(TERMS.length);
  const own = candidates.map((candidate) => {
    setDirectTerms(terms, question, candidate, NO_MATCHES, weights);
    return directSum(terms);
  });
  const scores = own.map(
    (sum, i) => sum + neighbourContribution(i, near[i] ?? [], candidates, own, [], weights).value,
  );
  return placesByScore(scores, candidates).flatMap((place) => candidates[place]?.ordinal ?? []);
}

/** The places of scores, best first, ties newest first. A difference of scores would be an object for each comparison. */
function placesByScore(scores: readonly number[], all: readonly { readonly ordinal: Ordinal }[]): number[] {
  return Array.from(scores.keys()).sort((a, b) => {
    const [first = 0, second = 0] = [scores[a], scores[b]];
    return first > second ? -1 : first < second ? 1 : (all[b]?.ordinal ?? 0) - (all[a]?.ordinal ?? 0);
  });
}

/** The place of each candidate in the list. */
const placesByOrdinal = (candidates: readonly Pick<RankingCandidate, "ordinal">[]): Map<Ordinal, number> =>
  new Map(candidates.map(({ ordinal }, place) => [ordinal, place]));

/** `around` of each candidate, by place in the list. */
function placesAround(
  candidates: readonly Pick<RankingCandidate, "around">[],
  places: ReadonlyMap<Ordinal, number>,
): (number | undefined)[][] {
  const placeOf = (ordinal: Ordinal | undefined) => (ordinal === undefined ? undefined : places.get(ordinal));
  return candidates.map(({ around }) => around.map(placeOf));
}

export const NO_MATCHES: Float32Array = new Float32Array();

/** A number for each of `TERMS`, at its place there. Numbers as fields of objects would be objects themselves. */
type Terms = Float64Array;

const PLACE = Object.fromEntries(TERMS.map((term, place) => [term, place])) as Record<RankingTerm, number>;

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
  const index = placesByOrdinal(candidates);
  const near = placesAround(candidates, index);
  const flat = new Float64Array(candidates.length * TERMS.length);
  const all = candidates.map((candidate, i) => {
    const terms = flat.subarray(i * TERMS.length, (i + 1) * TERMS.length);
    setDirectTerms(terms, question, candidate, candidate.matches, weights);
    return terms;
  });
  const own = all.map(directSum);

  const waypoints = waypointsByCandidate(edges, index);
  const contributions = candidates.map((_, i) =>
    neighbourContribution(i, near[i] ?? [], candidates, own, waypoints.get(i) ?? [], weights),
  );
  // In place, here and below: copies of all terms of all candidates took a third of the time.
  for (const [i, terms] of all.entries()) {
    const candidate = candidates[i] as RankingCandidate;
    terms[PLACE.context] = weights.context * contextOf(question, candidate, near[i] ?? [], candidates);
    terms[PLACE.neighbours] = contextShare(candidate.traits) * (contributions[i]?.value ?? 0);
  }

  const named = namedSpeakers(question, candidates);
  const sessions = sessionScores(candidates, all);
  for (const [i, candidate] of candidates.entries()) {
    const terms = all[i] as Terms;
    setCircumstances(terms, question, candidate, named, now, weights);
    terms[PLACE.session] = weights.session * (sessions.get(candidate.sessionId) ?? 0);
    if (question.period !== undefined)
      terms[PLACE.time] =
        -weights.time * (1 - periodFit(question.period, candidate)) * Math.max(0, total(terms));
    const scale = conversationFactor(near[i] ?? []) * (candidate.isRoot === true ? QUOTED : 1);
    if (scale !== 1) for (let at = 0; at < terms.length; at += 1) terms[at] = (terms[at] ?? 0) / scale;
  }
  if (candidates[0]?.pasted !== undefined) addPasted(question, candidates, all, weights);
  const hits = candidates.map((candidate, i) => {
    const terms = all[i] as Terms;
    // Found by what it has itself, or only by what stands beside it?
    const neighbour = (terms[PLACE.neighbours] ?? 0) > (own[i] ?? 0) ? contributions[i]?.from : undefined;
    return new Hit(
      candidate.ordinal,
      terms,
      neighbour === undefined ? undefined : candidates[neighbour]?.ordinal,
    );
  });
  const scores = hits.map(({ score }) => score);
  return placesByScore(scores, hits).map((place) => hits[place] as Hit);
}

/** Adds what the paste says. What the question itself puts far behind stays there: a mail may quote any note. */
function addPasted(
  { period, bestWords }: RankingQuestion,
  candidates: readonly RankingCandidate[],
  all: readonly Terms[],
  weights: RankingWeights,
): void {
  const sums = all.map(total);
  const best = sums.reduce((most, sum) => Math.max(most, sum), 0);
  const mean = candidates.reduce((sum, { pasted }) => sum + (pasted?.cosine ?? 0), 0) / candidates.length;
  for (const [i, candidate] of candidates.entries()) {
    const { words = 0, cosine = 0 } = candidate.pasted ?? {};
    const near = Math.max(0, 1 - (best - (sums[i] ?? 0)) / PASTED_RANGE);
    const then = period === undefined ? 1 : 1 - weights.time * (1 - periodFit(period, candidate));
    const telling = (weights.words * words) / Math.max(1, bestWords);
    (all[i] as Terms)[PLACE.pasted] = near * then * (telling + weights.paste * Math.max(0, cosine - mean));
  }
}

function setDirectTerms(
  terms: Terms,
  question: RankingQuestion,
  candidate: Pick<RankingCandidate, "words" | "cosine">,
  matches: Float32Array,
  weights: RankingWeights,
): void {
  const { bestWords, unknownShare } = question;
  terms[PLACE.words] = bestWords > 0 ? (weights.words * candidate.words) / bestWords : 0;
  terms[PLACE.vectors] = weights.vectors * (1 + UNKNOWN_WORDS * unknownShare) * Math.max(0, candidate.cosine);
  terms[PLACE.tokens] = weights.tokens * aboveFloor(question, candidate, matches);
}

function directSum(terms: Terms): number {
  return (terms[PLACE.words] ?? 0) + (terms[PLACE.vectors] ?? 0) + (terms[PLACE.tokens] ?? 0);
}

/**
 * How well the tokens match, in [0, 1 − floor]. A question without tokens (stop words alone, or a script that the model
 * cannot read) is matched by its words instead, and one without words too by its vector.
 */
function aboveFloor(
  question: RankingQuestion,
  candidate: Pick<RankingCandidate, "words" | "cosine">,
  matches: Float32Array,
): number {
  const { tokenWeights, bestWords, tokenFloor } = question;
  if (tokenWeights.length === 0) {
    const match =
      bestWords > 0 ? candidate.words / bestWords : (candidate.cosine - tokenFloor) / (1 - tokenFloor);
    return (1 - tokenFloor) * Math.max(0, Math.min(1, match));
  }
  let sum = 0;
  for (let i = 0; i < matches.length; i += 1) sum += (tokenWeights[i] ?? 0) * (matches[i] ?? 0);
  return Math.max(0, sum - tokenFloor);
}

/** Token matching again, each token with the best of the memory and its surroundings; long memories stay by themselves. */
function contextOf(
  question: RankingQuestion,
  candidate: RankingCandidate,
  near: readonly (number | undefined)[],
  candidates: readonly RankingCandidate[],
): number {
  const isWithAssistant = candidate.sessionId !== null && ROLES.has(candidate.traits.speaker);
  const share = contextShare(candidate.traits) * (isWithAssistant ? WITH_ASSISTANT : 1);
  const together = matchesWithSurroundings(candidate.matches, near, candidates);
  return (
    (1 - share) * aboveFloor(question, candidate, candidate.matches) +
    share * aboveFloor(question, candidate, together)
  );
}

/** The mean of the best memories' scores of each session; memories without a session have none. */
function sessionScores(
  candidates: readonly RankingCandidate[],
  found: readonly Terms[],
): Map<string | null, number> {
  const scores = new Map<string, number[]>();
  for (const [i, { sessionId }] of candidates.entries()) {
    if (sessionId === null) continue;
    const score = total(found[i] as Terms);
    const list = scores.get(sessionId);
    if (list === undefined) scores.set(sessionId, [score]);
    else list.push(score);
  }
  return new Map(
    Array.from(scores, ([sessionId, list]) => {
      const best = list.sort((a, b) => (a > b ? -1 : Number(a < b))).slice(0, SESSION_BEST);
      return [sessionId, best.reduce((sum, score) => sum + score, 0) / SESSION_BEST];
    }),
  );
}

/** The terms that say nothing of what a memory is about, each small and bounded. */
function setCircumstances(
  terms: Terms,
  question: RankingQuestion,
  { traits, sessionId, occurredAt, salience, quoted }: RankingCandidate,
  { speakers, named }: Speakers,
  now: number,
  weights: RankingWeights,
): void {
  // People of the conversation are addressed all the time, and what the question names is no answer to it.
  const isNews = (name: string) => !speakers.has(name) && !question.text.includes(` ${name} `);
  const age = Math.max(0, now - occurredAt);
  // Words of others take nothing away. Outside of a session a name and a colon are a label: "TODO:", "Rent:".
  terms[PLACE.speaker] =
    sessionId !== null && traits.speaker !== null && named.has(traits.speaker) ? weights.speaker : 0;
  terms[PLACE.tellsTime] = question.asksTime && traits.tellsTime ? weights.tellsTime : 0;
  terms[PLACE.tellsName] = question.asksName && traits.names.some(isNews) ? weights.tellsName : 0;
  terms[PLACE.asks] = traits.asks && traits.words <= BARE_QUESTION_WORDS ? weights.asks : 0;
  terms[PLACE.phrase] = weights.phrase * quoted;
  terms[PLACE.salience] = weights.salience * (salience - NEUTRAL_SALIENCE);
  terms[PLACE.recency] = weights.recency * 2 ** (-age / RECENCY_HALF_LIFE_MS);
}

const I =
  "i my me mine ich mein meine meinen meiner meinem mir mich je mon ma mes moi yo mi mis io mio mia eu meu minha ik mijn".split(
    " ",
  );
const YOU = "you your du dein deine dir tu ton ta tes vous votre usted tuo voce jij jouw".split(" ");
/** The persons meant by pronouns, folded, in a conversation of a user with an assistant. */
const ROLES: ReadonlyMap<string | null, readonly string[]> = new Map([
  ["user", I],
  ["human", I],
  ["assistant", YOU],
  ["ai", YOU],
]);

/**
 * How much a turn of such a conversation leans on those around it, compared with talk among people: it says in full what it is
 * about, and turns that are alike in this crowd out those of other sessions.
 */
const WITH_ASSISTANT = 0.6;

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
    const names = [traits.speaker, first, ...(ROLES.get(traits.speaker) ?? [])];
    if (names.some((name) => question.text.includes(` ${name} `))) named.add(traits.speaker);
  }
  return { speakers, named };
}

/** How well a memory fits the time of the question, in [0, 1]. */
export function periodFit(period: Period, { namesPeriod, occurredAt }: RankingCandidate): number {
  return namesPeriod === true ? 1 : fit(period, occurredAt);
}

function total(terms: Terms): number {
  let sum = 0;
  for (let at = 0; at < terms.length; at += 1) sum += terms[at] ?? 0;
  return sum;
}

/** A class, since hundreds of objects with a getter of their own take a tenth of ranking. */
class Hit implements RankedHit {
  readonly ordinal: Ordinal;
  readonly score: number;
  readonly path: readonly Ordinal[];
  readonly #terms: Terms;
  readonly #sum: number;

  constructor(ordinal: Ordinal, terms: Terms, through: Ordinal | undefined) {
    this.ordinal = ordinal;
    this.#terms = terms;
    this.#sum = total(terms);
    this.score = scoreOf(this.#sum);
    this.path = through === undefined ? [ordinal] : [through, ordinal];
  }

  /** Each term has the part of the score that it has of the sum; made when asked for, of the few that are answered. */
  get shares(): RankedHit["shares"] {
    const shares: Partial<Record<RankingTerm, number>> = {};
    for (const [at, term] of TERMS.entries()) {
      const value = this.#terms[at] ?? 0;
      if (value !== 0 && this.score > 0) shares[term] = (this.score * value) / this.#sum;
    }
    return shares;
  }
}
