import { once } from "../at-once.ts";
import type { MemoryStore, Ordinal } from "../ports.ts";
import { likeness } from "../embedding.ts";
import { analyse } from "../text/analyser.ts";
import { expression, words } from "../text/expression.ts";
import { fold } from "../text/fold.ts";
import { nearness } from "../text/near-words.ts";
import type { Memory } from "../memory.ts";
import { fromLanguages, wordsOfAll } from "../text/languages.ts";
import { changeWords, isWarning } from "../text/change-words.ts";
import { DAY_MS, fit, type Period } from "../text/time-periods.ts";
import { belongTogether, changeBetween, tellingTerms } from "../memories/infer-updates.ts";
import { isNote } from "./traits.ts";
import type { RankedHit } from "./ranking.ts";
import { sumOf } from "./ranking-terms.ts";
import type { Tense } from "./tense.ts";

/**
 * The one of two like answers that holds: the later one, unless the question speaks of the past. It goes by when things
 * happened and works on the best few only, so it costs next to nothing.
 */

/**
 * The logarithm of the odds that the later of two notes tells the present state of what the earlier one tells, for a question that
 * finds both: a logistic function of how alike they are, how well each answers, the telling words that both have, the words of
 * change of each, the time between them, and which is the nearest to which. Fitted to the pairs of seven sets of everyday notes in
 * sixteen languages, at odds of 2 to 3 (an outdated first answer is worse than a lost one): with each set, or each person of the set
 * of changes, left out in turn, 220 wrong first answers are put right, and 47 right ones are lost. Since then words that many of the
 * user's notes have ("user", a project, "phone", "size") are not telling, and a link that was inferred tells something: of 558 questions
 * on notes that agents wrote or that are lists of customers 8 more are right first, of 3 141 others 4 more.
 */
const WEIGHTS = {
  likeness: 1.92,
  asGood: 2.54,
  telling: 0.87,
  clear: 1.24,
  weak: 0.95,
  nearest: 1.1,
  age: 0.22,
  linked: 1,
  ofChange: -1.65,
  offset: -4.61,
} as const;
/** So many telling words in common say it. */
const MAX_TELLING = 3;
/** So many words of change in the earlier one say that it tells an event rather than a state. */
const MAX_CHANGES = 2;
/** The most that words and a link can add to the odds. */
const MOST_OF_WORDS = MAX_TELLING * WEIGHTS.telling + WEIGHTS.clear + WEIGHTS.linked;
/** A question about the past often names what came later ("before the Kia"), which the earlier one does not. */
const LINE: Readonly<Record<Tense, number>> = { present: 0, past: -1.5 };
/**
 * From this cosine on two notes are of one series, whose words are common because there are many of it: "the rent is 620", "… 690". Of ten
 * questions on series of six to eight states 4 find the last one without it, at .75 eight and at .7 all; at .65 four of 294 others are lost.
 */
const OF_SERIES = 0.7;
/** A smaller sum counts as this one. */
const LEAST_SUM = 0.05;
/** So many of the best are looked at. */
export const LOOKED_AT = 12;
/** The share of its score that a memory keeps behind the one that goes before it. */
const BEHIND = 0.98;

interface Dated {
  readonly hit: RankedHit;
  /** Its sum of terms. */
  readonly sum: number;
  readonly occurredAt: number;
  readonly successor: Ordinal | undefined;
  /** The successor is inferred, not told. */
  readonly isGuess: boolean;
  /** Somebody rejected a guess that it was replaced. */
  readonly isSaidToHold: boolean;
  /** See `isNote`: of all else only what is told supersedes it. */
  readonly isNote: boolean;
  windows(): readonly Float32Array[];
  readonly sessionId: string | null;
  readonly project: string | null;
  terms(): ReadonlySet<string>;
  /** See `changeWords`. */
  changes(): ReadonlySet<string>;
  /** See `isWarning`. */
  warns(): boolean;
  readonly content: string;
}

export interface CurrencyOptions {
  readonly question: string;
  readonly tense: Tense;
  /** Only what happened until then supersedes; absent: everything. */
  readonly asOf: number | undefined;
  /** The time that the question names: what happened then is meant, else of what was there by its end the later one. */
  readonly period: Period | undefined;
  /** How much less likely a text answers for lacking what is asked for, see `lackOfForm`. */
  readonly lackOf: (content: string) => number;
  /** See `TermWeights`. */
  readonly isCommon: (term: string) => boolean;
}

/** The last moment that supersedes: a note that was replaced after the period still held in it. */
const supersedingUntil = ({ asOf, period }: Pick<CurrencyOptions, "asOf" | "period">): number | undefined =>
  period === undefined || period.to === Infinity ? asOf : Math.min(asOf ?? Infinity, period.to - 1);

/** The number of best hits that bring what perhaps replaced them. */
const BRINGING = 3;

/**
 * The hits, best first, each of the first few followed by what replaced it, or perhaps did: "cancelled the membership" has no word of "am I
 * still going to the gym?".
 */
export function withSuccessors(
  { catalogue }: Pick<MemoryStore, "catalogue">,
  hits: readonly RankedHit[],
  time: Pick<CurrencyOptions, "asOf" | "period">,
): readonly RankedHit[] {
  const until = supersedingUntil(time);
  const raised = new Map<Ordinal, number>();
  for (const { ordinal, score } of hits.slice(0, BRINGING)) {
    const by = catalogue.supersession(ordinal, until)?.by;
    const successor = by === undefined ? undefined : catalogue.find(by)?.ordinal;
    if (successor !== undefined) raised.set(successor, Math.max(raised.get(successor) ?? 0, BEHIND * score));
  }
  if (raised.size === 0) return hits;
  return hits
    .map((hit): RankedHit => {
      const score = Math.max(hit.score, raised.get(hit.ordinal) ?? 0);
      const currency = (hit.shares.currency ?? 0) + score - hit.score;
      return score === hit.score ? hit : { ...hit, score, shares: { ...hit.shares, currency } };
    })
    .sort((a, b) => b.score - a.score || b.ordinal - a.ordinal);
}

export interface Ordered {
  /** Best first. */
  readonly hits: readonly RankedHit[];
  /** Whether two of the best tell states of one thing, at two times. */
  areStates(this: void, a: Ordinal, b: Ordinal): boolean;
}

/**
 * The hits so that of two like answers the one comes first that holds (or held, where the question speaks of the
 * past): it takes over the other's score, which falls just behind. All other scores stay.
 *
 * @param hits best first.
 */
export function currentFirst(
  store: Pick<MemoryStore, "catalogue" | "windowsOf">,
  hits: readonly RankedHit[],
  contents: ReadonlyMap<string, Pick<Memory, "content">>,
  { question, tense, asOf, period, lackOf, isCommon }: CurrencyOptions,
): Ordered {
  const until = supersedingUntil({ asOf, period });
  const best = hits.slice(0, LOOKED_AT).flatMap((hit): Dated[] => {
    const entry = store.catalogue.at(hit.ordinal);
    if (entry === undefined) return [];
    const content = contents.get(entry.id)?.content ?? "";
    const supersession = store.catalogue.supersession(hit.ordinal, until);
    const successor = supersession === undefined ? undefined : store.catalogue.find(supersession.by)?.ordinal;
    return [
      {
        hit,
        sum: sumOf(hit.score),
        occurredAt: entry.occurredAt,
        successor,
        isGuess: supersession?.how === "inferred",
        isSaidToHold: store.catalogue
          .edgesAt(hit.ordinal)
          .some(({ kind, target, weight }) => kind === "updates" && target === hit.ordinal && weight === 0),
        isNote: isNote(entry.traits, entry.sessionId) && entry.documentId === null,
        windows: once(() => store.windowsOf(hit.ordinal)),
        sessionId: entry.sessionId,
        project: entry.project,
        terms: once(() => tellingTerms(content, entry.project)),
        changes: once(() => changeWords(content)),
        warns: once(() => isWarning(content)),
        content,
      },
    ];
  });
  let isAsBefore = true;
  const scores = new Map(best.map(({ hit }) => [hit.ordinal, hit.score]));
  const scoreOf = ({ hit }: Dated) => scores.get(hit.ordinal) ?? 0;
  const isThen = ({ occurredAt }: Dated) => period !== undefined && fit(period, occurredAt) === 1;
  const prefer = (first: Dated, second: Dated): void => {
    const [a, b] = [scoreOf(first), scoreOf(second)];
    if (a >= b || (isThen(second) && !isThen(first))) return;
    isAsBefore = false;
    scores.set(first.hit.ordinal, b);
    scores.set(second.hit.ordinal, b * BEHIND);
  };
  const isReplaced = replaces(best, tense, isCommon);
  const asksOf = new Set(analyse(question));
  const inOrder = best.sort((a, b) => a.occurredAt - b.occurredAt || a.hit.ordinal - b.hit.ordinal);
  // Neighbours in time first, so that the last of several changes ends up in front.
  for (const [i, later] of inOrder.entries()) {
    for (const earlier of inOrder.slice(0, i).reverse()) {
      const [first, second] = tense === "present" ? [later, earlier] : [earlier, later];
      if (scoreOf(first) >= scoreOf(second)) continue;
      const isTold = earlier.successor === later.hit.ordinal && !earlier.isGuess;
      // The question asks what is not so, and only the earlier one tells it.
      const isDenied = () => earlier.hit.shares.denial !== undefined && later.hit.shares.denial === undefined;
      const isGuessed = () =>
        (period === undefined || (later.occurredAt < period.to && !isThen(earlier))) &&
        mayReplace(earlier, later) &&
        // It does not name another thing than the question ("visit 57", "visit 58").
        first.hit.shares.identifier === undefined &&
        !isDenied() &&
        lackOf(first.content) <= lackOf(second.content) &&
        isReplaced(earlier, later) &&
        !isOfAnother(asksOf, earlier, later) &&
        !isOfNearName(question, earlier, later);
      if (isTold || isGuessed()) prefer(first, second);
    }
  }
  const areStates = (a: Ordinal, b: Ordinal) => {
    const [earlier, later] = inOrder.filter(({ hit: { ordinal } }) => ordinal === a || ordinal === b);
    if (earlier === undefined || later === undefined) return false;
    const isKnown = earlier.successor === later.hit.ordinal;
    return isKnown || (mayReplace(earlier, later) && isReplaced(earlier, later));
  };
  if (isAsBefore) return { hits, areStates };
  const ordered = hits
    .map((hit): RankedHit => {
      const score = scores.get(hit.ordinal) ?? hit.score;
      if (score === hit.score) return hit;
      return { ...hit, score, shares: { ...hit.shares, currency: score - hit.score } };
    })
    .sort((a, b) => b.score - a.score || b.ordinal - a.ordinal);
  return { hits: ordered, areStates };
}

/** Whether a guess may order two: notes that say one thing each, at two times, of one project, and not two turns of one talk. */
function mayReplace(earlier: Dated, later: Dated): boolean {
  const isOneTalk = later.sessionId !== null && later.sessionId === earlier.sessionId;
  const isLater = earlier.occurredAt < later.occurredAt;
  const areNotes = later.isNote && earlier.isNote;
  return isLater && areNotes && !earlier.isSaidToHold && !isOneTalk && belongTogether(earlier, later);
}

/** Whether the later of two tells the present state of what the earlier one tells, see `WEIGHTS`. */
function replaces(
  best: readonly Dated[],
  tense: Tense,
  isCommon: CurrencyOptions["isCommon"],
): (earlier: Dated, later: Dated) => boolean {
  const places = new Map(best.map((dated, place) => [dated, place]));
  const known = new Float64Array(best.length ** 2).fill(Number.NaN);
  const alike = (a: Dated, b: Dated): number => {
    const i = places.get(a) ?? 0;
    const j = places.get(b) ?? 0;
    const place = i < j ? i * best.length + j : j * best.length + i;
    if (Number.isNaN(known[place])) known[place] = likeness(a.windows(), b.windows());
    return known[place] ?? 0;
  };
  const isNearest = (one: Dated, other: Dated) => {
    const most = alike(one, other);
    return best.every((dated) => dated === one || dated === other || alike(one, dated) <= most);
  };
  return (earlier, later) => {
    const ratio = Math.log(Math.max(LEAST_SUM, later.sum) / Math.max(LEAST_SUM, earlier.sum));
    const days = (later.occurredAt - earlier.occurredAt) / DAY_MS;
    let odds =
      WEIGHTS.likeness * alike(earlier, later) +
      WEIGHTS.asGood * (tense === "present" ? ratio : -ratio) +
      WEIGHTS.age * Math.log1p(days) +
      WEIGHTS.offset;
    // What takes longest comes last, and only where it can decide.
    if (odds + 2 * WEIGHTS.nearest + MOST_OF_WORDS < LINE[tense]) return false;
    odds += WEIGHTS.nearest * (Number(isNearest(earlier, later)) + Number(isNearest(later, earlier)));
    if (odds + MOST_OF_WORDS < LINE[tense]) return false;
    const isOneSeries = alike(earlier, later) >= OF_SERIES;
    const shared = [...later.terms()].filter(
      (term) => earlier.terms().has(term) && (isOneSeries || !isCommon(term)),
    );
    odds += WEIGHTS.telling * Math.min(MAX_TELLING, shared.length);
    if (earlier.successor === later.hit.ordinal) odds += WEIGHTS.linked;
    odds += WEIGHTS.ofChange * Math.min(MAX_CHANGES, earlier.changes().size);
    const isWarned = earlier.warns() && !later.warns();
    if (odds >= LINE[tense] && !isWarned) return true;
    const change = changeBetween(earlier.content, later.content, (text) =>
      text === later.content ? later.changes() : earlier.changes(),
    );
    // A note that warns of nothing replaces a warning only by a clear word of change.
    if (change === undefined || (isWarned && change !== "clear")) return false;
    return odds + WEIGHTS[change] >= LINE[tense];
  };
}

/** Words with a capital letter, names among them. */
const CAPITALISED = /(?<!\p{L})\p{Lu}[\p{L}\p{M}]{3,}/gu;

/** Whether the earlier note has a name of the question ("Jansen"), and the later one instead one that is spelled nearly the same ("Janssen"). */
function isOfNearName(question: string, earlier: Dated, later: Dated): boolean {
  const wordsIn = (text: string): Set<string> => new Set(fold(text).match(/\p{L}+/gu));
  const namesIn = ({ content }: Dated) => (content.match(CAPITALISED) ?? []).map((name) => fold(name));
  // An inflected name is the same: its last letter may differ.
  const isInflected = (one: string, other: string) =>
    other.startsWith(one.slice(0, -1)) || one.startsWith(other.slice(0, -1));
  const [asked, before, after] = [wordsIn(question), wordsIn(earlier.content), wordsIn(later.content)];
  const named = namesIn(earlier).filter((name) => asked.has(name) && !after.has(name));
  const come = namesIn(later).filter((name) => !before.has(name));
  return named.some((one) => come.some((other) => nearness(one, other) > 0 && !isInflected(one, other)));
}

/** Days, months and parts of the day, folded. */
const DAY_NAMES = fromLanguages((languages) => {
  const { weekdays, months, hour } = wordsOfAll(languages, "time");
  return expression(words(`(?:${weekdays}|${months}|${hour})s?`).source, "g");
});

/**
 * Whether the later of two notes says of another thing what the earlier one says of the thing that the question names: most of their
 * words are the same, and a word of the question stands in the earlier one alone, in the later one another word in its place
 * ("Anna's shoe size is 38", "Ben's shoe size is 43").
 */
function isOfAnother(asked: ReadonlySet<string>, earlier: Dated, later: Dated): boolean {
  const wordsIn = ({ content }: Dated) =>
    new Set(analyse(fold(content).replace(DAY_NAMES(), " ")).filter((term) => /^\p{L}/u.test(term)));
  const [before, after] = [wordsIn(earlier), wordsIn(later)];
  const gone = [...before].filter((term) => !after.has(term));
  const come = [...after].filter((term) => !before.has(term));
  return (
    before.size - gone.length >= Math.max(gone.length, come.length) &&
    come.length > 0 &&
    gone.some((term) => asked.has(term)) &&
    !come.some((term) => asked.has(term)) &&
    later.changes().size === 0
  );
}
