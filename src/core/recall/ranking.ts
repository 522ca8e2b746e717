import type { Ordinal } from "../ports.ts";
import type { RankingQuestion } from "./question.ts";
import type { RankingCandidate, RankingEdge } from "./ranking-candidate.ts";
import { type RankingTerm, scoreOf, TERMS, WEIGHTS } from "./ranking-terms.ts";
import {
  neighbourContribution,
  contextShare,
  matchesWithSurroundings,
  conversationFactor,
  waypointsByCandidate,
} from "./surroundings.ts";
import { fit, mayTellState, type Period } from "../text/time-periods.ts";

/**
 * How memories are ordered for a question. Every term is absolute: it does not depend on what else was found, so that
 * a score means the same for every question and `min_score` can cut on it. Weights are rounded to what holds alike
 * for short chats and long turns; `npm run eval` shows what each is worth.
 */

export interface RankingOptions {
  readonly now: number;
  readonly edges?: readonly RankingEdge[];
  /** `surroundingsOf(candidates)`, if the caller has made it. */
  readonly surroundings?: Surroundings;
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
/** The most that a note of before loses where a state may be asked for. */
const EARLIER = 0.25;
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
 * first, their own and their surroundings'. See `BREADTH` for how many are enough.
 */
export function worthReading(
  question: RankingQuestion,
  candidates: readonly Omit<RankingCandidate, "matches" | "quoted">[],
  { near }: Surroundings = surroundingsOf(candidates),
): Ordinal[] {
  const terms = new Float64Array(WIDTH);
  const own = new Float64Array(candidates.length);
  for (const [i, candidate] of candidates.entries()) {
    setDirectTerms(terms, 0, question, candidate, NO_MATCHES);
    own[i] = directSum(terms, 0);
  }
  const scores = own.map(
    (sum, i) => sum + neighbourContribution(i, near[i] ?? [], candidates, own, []).value,
  );
  return Array.from(placesByScore(scores, candidates), (place) => candidates[place]?.ordinal ?? 0);
}

/** The places of scores, best first, ties newest first. A difference of scores would be an object for each comparison. */
function placesByScore(scores: Float64Array, all: readonly { readonly ordinal: Ordinal }[]): Uint32Array {
  return Uint32Array.from(scores.keys()).sort((a, b) => {
    const first = scores[a] ?? 0;
    const second = scores[b] ?? 0;
    return first > second ? -1 : first < second ? 1 : (all[b]?.ordinal ?? 0) - (all[a]?.ordinal ?? 0);
  });
}

/** The places of candidates in their list, by ordinal. */
export interface Surroundings {
  readonly places: ReadonlyMap<Ordinal, number>;
  /** For each candidate its `around` as places; undefined for one that is no candidate. */
  readonly near: readonly (readonly (number | undefined)[])[];
}

export function surroundingsOf(
  candidates: readonly Pick<RankingCandidate, "ordinal" | "around">[],
): Surroundings {
  const places = new Map<Ordinal, number>();
  candidates.forEach(({ ordinal }, place) => places.set(ordinal, place));
  const placeOf = (ordinal: Ordinal | undefined) => (ordinal === undefined ? undefined : places.get(ordinal));
  return { places, near: candidates.map(({ around }) => around.map(placeOf)) };
}

export const NO_MATCHES: Float32Array = new Float32Array();

/**
 * The terms of all candidates end to end: of each a number for each of `TERMS`, at its place there. Functions that take `at` read or
 * write the terms of the candidate that begin there. Numbers as fields of objects would be objects themselves, and a view for each
 * candidate takes as much memory as its terms.
 */
type Terms = Float64Array;

const WIDTH = TERMS.length;
const PLACE = Object.fromEntries(TERMS.map((term, place) => [term, place])) as Record<RankingTerm, number>;

/**
 * The candidates, best first, ties newest first.
 *
 * Cost: linear in candidates × (tokens of the question + edges).
 */
export function rank(
  question: RankingQuestion,
  candidates: readonly RankingCandidate[],
  { now, edges = [], surroundings = surroundingsOf(candidates) }: RankingOptions,
): RankedHit[] {
  const { places, near } = surroundings;
  const terms = new Float64Array(candidates.length * WIDTH);
  const own = new Float64Array(candidates.length);
  candidates.forEach((candidate, i) => {
    setDirectTerms(terms, i * WIDTH, question, candidate, candidate.matches);
    own[i] = directSum(terms, i * WIDTH);
  });

  const waypoints = waypointsByCandidate(edges, places);
  const contributions = candidates.map((_, i) =>
    neighbourContribution(i, near[i] ?? [], candidates, own, waypoints.get(i) ?? []),
  );
  // In place, here and below: copies of all terms of all candidates took a third of the time.
  candidates.forEach((candidate, i) => {
    terms[i * WIDTH + PLACE.context] =
      WEIGHTS.context * contextOf(question, candidate, near[i] ?? [], candidates);
    terms[i * WIDTH + PLACE.neighbours] = contextShare(candidate.traits) * (contributions[i]?.value ?? 0);
  });

  const named = namedSpeakers(question, candidates);
  const sessions = sessionScores(candidates, terms);
  candidates.forEach((candidate, i) => {
    const at = i * WIDTH;
    setCircumstances(terms, at, question, candidate, named, now);
    terms[at + PLACE.session] = WEIGHTS.session * ((sessions.get(candidate.sessionId) ?? 0) / SESSION_BEST);
    if (question.period !== undefined)
      terms[at + PLACE.time] = -timeLoss(question.period, candidate, now) * Math.max(0, total(terms, at));
    const scale = conversationFactor(near[i] ?? []) * (candidate.isRoot === true ? QUOTED : 1);
    if (scale !== 1)
      for (let term = at; term < at + WIDTH; term += 1) terms[term] = (terms[term] ?? 0) / scale;
  });
  if (candidates[0]?.pasted !== undefined) addPasted(question, candidates, terms, now);
  const scores = new Float64Array(candidates.length);
  const hits = candidates.map(({ ordinal }, i) => {
    const at = i * WIDTH;
    // Found by what it has itself, or only by what stands beside it?
    const isThrough = (terms[at + PLACE.neighbours] ?? 0) > (own[i] ?? 0);
    const neighbour = isThrough ? contributions[i]?.from : undefined;
    const hit = new Hit(
      ordinal,
      terms,
      at,
      neighbour === undefined ? undefined : candidates[neighbour]?.ordinal,
    );
    scores[i] = hit.score;
    return hit;
  });
  return Array.from(placesByScore(scores, hits), (place) => hits[place] as Hit);
}

/** Adds what the paste says. What the question itself puts far behind stays there: a mail may quote any note. */
function addPasted(
  { period, bestWords }: RankingQuestion,
  candidates: readonly RankingCandidate[],
  terms: Terms,
  now: number,
): void {
  const sums = candidates.map((_, i) => total(terms, i * WIDTH));
  const best = sums.reduce((most, sum) => Math.max(most, sum), 0);
  const mean = candidates.reduce((sum, { pasted }) => sum + (pasted?.cosine ?? 0), 0) / candidates.length;
  for (const [i, candidate] of candidates.entries()) {
    const { words = 0, cosine = 0 } = candidate.pasted ?? {};
    const near = Math.max(0, 1 - (best - (sums[i] ?? 0)) / PASTED_RANGE);
    const then = period === undefined ? 1 : 1 - timeLoss(period, candidate, now);
    const telling = (WEIGHTS.words * words) / Math.max(1, bestWords);
    terms[i * WIDTH + PLACE.pasted] = near * then * (telling + WEIGHTS.paste * Math.max(0, cosine - mean));
  }
}

function setDirectTerms(
  terms: Terms,
  at: number,
  question: RankingQuestion,
  candidate: Pick<RankingCandidate, "words" | "cosine">,
  matches: Float32Array,
): void {
  const { bestWords, unknownShare } = question;
  terms[at + PLACE.words] = bestWords > 0 ? (WEIGHTS.words * candidate.words) / bestWords : 0;
  terms[at + PLACE.vectors] =
    WEIGHTS.vectors * (1 + UNKNOWN_WORDS * unknownShare) * Math.max(0, candidate.cosine);
  terms[at + PLACE.tokens] = WEIGHTS.tokens * aboveFloor(question, candidate, matches);
}

function directSum(terms: Terms, at: number): number {
  return (terms[at + PLACE.words] ?? 0) + (terms[at + PLACE.vectors] ?? 0) + (terms[at + PLACE.tokens] ?? 0);
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

/** The sum of the `SESSION_BEST` best sums of terms of each session; memories without a session have none. */
function sessionScores(candidates: readonly RankingCandidate[], terms: Terms): Map<string | null, number> {
  const sums = new Float64Array(candidates.length).map((_, i) => total(terms, i * WIDTH));
  const [counts, scores] = [new Map<string, number>(), new Map<string | null, number>()];
  for (const place of placesByScore(sums, candidates)) {
    const { sessionId } = candidates[place] as RankingCandidate;
    if (sessionId === null) continue;
    const count = counts.get(sessionId) ?? 0;
    if (count === SESSION_BEST) continue;
    counts.set(sessionId, count + 1);
    scores.set(sessionId, (scores.get(sessionId) ?? 0) + (sums[place] ?? 0));
  }
  return scores;
}

/** The terms that say nothing of what a memory is about, each small and bounded. */
function setCircumstances(
  terms: Terms,
  at: number,
  question: RankingQuestion,
  { traits, sessionId, occurredAt, salience, quoted }: RankingCandidate,
  { speakers, named }: Speakers,
  now: number,
): void {
  // People of the conversation are addressed all the time, and what the question names is no answer to it.
  const isNews = (name: string) => !speakers.has(name) && !question.text.includes(` ${name} `);
  const age = Math.max(0, now - occurredAt);
  // Outside of a session a name and a colon are a label: "TODO:", "Rent:". Almost every note there tells a time or a name, so
  // that these terms tell none from another.
  const isOfSession = sessionId !== null;
  // A speaker whom the question does not name takes nothing away.
  terms[at + PLACE.speaker] =
    isOfSession && traits.speaker !== null && named.has(traits.speaker) ? WEIGHTS.speaker : 0;
  terms[at + PLACE.tellsTime] = isOfSession && question.asksTime && traits.tellsTime ? WEIGHTS.tellsTime : 0;
  terms[at + PLACE.tellsName] =
    isOfSession && question.asksName && traits.names.some(isNews) ? WEIGHTS.tellsName : 0;
  terms[at + PLACE.asks] = traits.asks && traits.words <= BARE_QUESTION_WORDS ? WEIGHTS.asks : 0;
  terms[at + PLACE.phrase] = WEIGHTS.phrase * quoted;
  terms[at + PLACE.salience] = WEIGHTS.salience * (salience - NEUTRAL_SALIENCE);
  terms[at + PLACE.recency] = WEIGHTS.recency * 2 ** (-age / RECENCY_HALF_LIFE_MS);
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

/** The share of its terms that a memory loses by the time of the question. */
function timeLoss(period: Period, candidate: RankingCandidate, now: number): number {
  const loss = WEIGHTS.time * (1 - periodFit(period, candidate));
  if (period.isEmpty === true) return candidate.occurredAt < period.to ? 0 : Math.min(EARLIER, loss);
  return mayTellState(period, candidate.occurredAt, now) ? Math.min(EARLIER, loss) : loss;
}

function total(terms: Terms, at: number): number {
  let sum = 0;
  for (let term = at; term < at + WIDTH; term += 1) sum += terms[term] ?? 0;
  return sum;
}

/** A class, since hundreds of objects with a getter of their own take a tenth of ranking. */
class Hit implements RankedHit {
  readonly ordinal: Ordinal;
  readonly score: number;
  readonly path: readonly Ordinal[];
  readonly #terms: Terms;
  readonly #at: number;

  constructor(ordinal: Ordinal, terms: Terms, at: number, through: Ordinal | undefined) {
    this.ordinal = ordinal;
    this.#terms = terms;
    this.#at = at;
    this.score = scoreOf(total(terms, at));
    this.path = through === undefined ? [ordinal] : [through, ordinal];
  }

  /** Each term has the part of the score that it has of the sum; made when asked for, of the few that are answered. */
  get shares(): RankedHit["shares"] {
    const sum = total(this.#terms, this.#at);
    const shares: Partial<Record<RankingTerm, number>> = {};
    for (const [term, name] of TERMS.entries()) {
      const value = this.#terms[this.#at + term] ?? 0;
      if (value !== 0 && this.score > 0) shares[name] = (this.score * value) / sum;
    }
    return shares;
  }
}
