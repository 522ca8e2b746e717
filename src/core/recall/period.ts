import type { SeenMemory } from "../memory.ts";
import type { Catalogue, CatalogueEntry, MemoryFilter, MemoryStore, Ordinal } from "../ports.ts";
import { lastHappenedFirst } from "../memories/list-memories.ts";
import { datesNamed, monthTerms, type NamedDate } from "../text/named-dates.ts";
import { DAY_MS, fit, mayAskState, type Period } from "../text/time-periods.ts";
import type { TimedQuestion } from "./question.ts";
import type { RankedHit } from "./ranking.ts";

/** The filter, and that it happened then. */
export function within(filter: MemoryFilter, { from, to }: Period): MemoryFilter {
  return {
    ...filter,
    from: Math.max(filter.from ?? -Infinity, from),
    to: Math.min(filter.to ?? Infinity, to),
  };
}

/**
 * The question where any memory that the filter lets through happened then, or may tell the state then; undefined where none did. "What
 * did grandpa do in 1956?" means a year of which notes tell, not one in which they were written.
 */
export function withMemories(
  catalogue: Catalogue,
  filter: MemoryFilter,
  question: TimedQuestion | undefined,
  now: number,
): TimedQuestion | undefined {
  if (question === undefined) return undefined;
  const { period, isTimeAlone } = question;
  const isThere = (one: Period) => catalogue.select(within(filter, one)).size > 0;
  if (isThere(period)) return question;
  if (period.or !== undefined && isThere(period.or)) return { ...question, period: period.or };
  const isOfState = !isTimeAlone && mayAskState(period, now) && isThere({ from: -Infinity, to: period.to });
  return isOfState ? { ...question, period: { ...period, isEmpty: true } } : undefined;
}

/** Read for the dates that they name: those with a name of a month of the period, and the newest. */
const READ_NAMING = 200;
const READ_NEWEST = 60;
/** Terms of a note; all are read, so the order hardly counts. */
const USUAL_LENGTH = 20;

export interface Naming {
  readonly ordinal: Ordinal;
  readonly date: NamedDate;
}

/** The months of a period, 0 is January: all of one that is long or open. */
function monthsOf({ from, to }: Period): ReadonlySet<number> {
  if (to - from > 366 * DAY_MS) return new Set(Array.from({ length: 12 }, (_, month) => month));
  const months = new Set([new Date(to - 1).getUTCMonth()]);
  for (let time = from; time < to; time += 28 * DAY_MS) months.add(new Date(time).getUTCMonth());
  return months;
}

/** The memories that the filter lets through and that name a time within the period, with the first such time; the soonest first. */
export async function naming(
  store: Pick<MemoryStore, "catalogue" | "readMemories" | "scoreWords">,
  filter: MemoryFilter,
  period: Period,
): Promise<readonly Naming[]> {
  const selection = store.catalogue.select(filter);
  const months = monthsOf(period);
  const terms = [...months].flatMap(monthTerms).map((term) => ({ term, weight: 1 }));
  const found = store.scoreWords(terms, USUAL_LENGTH, selection).top(READ_NAMING);
  const ordinals = [...new Set([...found, ...selection.list().slice(-READ_NEWEST)])];
  const ids = ordinals.flatMap((ordinal) => store.catalogue.idAt(ordinal) ?? []);
  const memories = await store.readMemories(ids);
  return ordinals
    .flatMap((ordinal) => {
      const entry = store.catalogue.at(ordinal);
      const content = entry === undefined ? undefined : memories.get(entry.id)?.content;
      if (entry === undefined || content === undefined) return [];
      const [date] = datesNamed(content, entry.occurredAt)
        .filter(({ from, to }) => from < period.to && to > period.from)
        .sort((a, b) => a.from - b.from);
      return date === undefined ? [] : [{ ordinal, date }];
    })
    .sort((a, b) => a.date.from - b.date.from || b.ordinal - a.ordinal);
}

/** The score where only a time is asked for, and it is met. */
const IN_PERIOD = 0.9;
/** Later memories are meant a little more than earlier ones. */
const NEWER = 0.05;
const HALF_LIFE_MS = 30 * 86_400_000;

/** The matches of a question, with their scores. */
export interface Answer {
  /** Best first. */
  readonly ordered: readonly RankedHit[];
  /** How many of them answer. */
  readonly answering: number;
  readonly scoreOf: (hit: RankedHit) => number;
  /** Some of them, by id. */
  readonly memories: Map<string, SeenMemory>;
  /** The id of a memory in `ordered` or on one of its paths; undefined where the filter hides it. */
  readonly idOf: (ordinal: Ordinal) => string | undefined;
  /** The weight of each of the question's terms. */
  readonly weightOfTerm: ReadonlyMap<string, number>;
  /** The question's vector, where it was embedded. */
  readonly vector?: Float32Array;
}

/** The score of a memory that was added in the time that is asked for, and tells of an earlier one. */
const TELLS_OF_EARLIER = 0.3;
const READ_ADDED = 200;

/**
 * Answers a question that asks for nothing but a time. For a time to come: the memories that name it; else those of the period, newest
 * first, then those that name it, at most `limit`. A score tells how well a memory fits. A memory without a time of its own counts from when
 * it was added, unless it names days that are all earlier: then it comes behind, as no answer. Of a document only the first text counts.
 */
export async function answersByTime(
  store: Pick<MemoryStore, "catalogue" | "readMemories">,
  filter: MemoryFilter,
  { period, days, naming, isComing }: TimedQuestion & { readonly naming: readonly Ordinal[] },
  limit: number,
  now: number,
): Promise<Answer> {
  const { catalogue } = store;
  const scored = new Map<Ordinal, number>();
  const answer = (answering = scored.size): Answer => ({
    ordered: Array.from(scored, ([ordinal, score]) => ({
      ordinal,
      score,
      shares: { time: score },
      path: [ordinal],
    }))
      .sort((a, b) => b.score - a.score)
      .slice(0, limit),
    answering,
    scoreOf: ({ score }) => score,
    memories: new Map(),
    idOf: (ordinal) => catalogue.idAt(ordinal),
    weightOfTerm: new Map(),
  });
  if (isComing) {
    for (const [place, ordinal] of naming.entries()) scored.set(ordinal, IN_PERIOD / (1 + place / 1_000));
    return answer();
  }
  const isChunk = ({ id, documentId, isTimeGiven }: CatalogueEntry) =>
    documentId !== null && !isTimeGiven && catalogue.documents.byId.get(documentId)?.rootMemoryId !== id;
  const entries = lastHappenedFirst(catalogue, within(filter, period))
    .filter((entry) => !isChunk(entry))
    .slice(0, Math.max(limit, READ_ADDED));
  const memories = await store.readMemories(
    entries.flatMap(({ id, isTimeGiven }) => (isTimeGiven ? [] : [id])),
  );
  const isEarlier = ({ id, occurredAt }: CatalogueEntry) => {
    const dates = datesNamed(memories.get(id)?.content ?? "", occurredAt);
    return dates.length > 0 && dates.every(({ to }) => to <= days.from);
  };
  const [then, earlier]: [CatalogueEntry[], CatalogueEntry[]] = [[], []];
  for (const entry of entries) (isEarlier(entry) ? earlier : then).push(entry);
  for (const { ordinal, occurredAt } of then) {
    const age = Math.max(0, now - occurredAt);
    scored.set(ordinal, IN_PERIOD * fit(period, occurredAt) + NEWER * 2 ** (-age / HALF_LIFE_MS));
  }
  for (const ordinal of naming) if (!scored.has(ordinal)) scored.set(ordinal, IN_PERIOD);
  const answering = scored.size;
  for (const { ordinal } of earlier) if (!scored.has(ordinal)) scored.set(ordinal, TELLS_OF_EARLIER);
  return answer(answering);
}
