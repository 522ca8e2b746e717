import { endOf, type Fact } from "./fact.ts";
import { type FactFilter, visitFacts, type AsOf, type FactTimeline, countingFact } from "./fact-book.ts";
import type { OwnerFilter } from "../memory.ts";
import { type FactReadPorts, type PageRange, presentOf, compareForList, sortedPage } from "./fact-store.ts";

type OfUser = OwnerFilter & AsOf;

const TOP_PREDICATES = 10;

/**
 * Counts over a user's facts, or all: active ones are valid now (or at `at`), historical ones ended by then, future ones have not
 * begun by then. Subjects, predicates and objects are counted as they are compared; `earliest` and `latest` are beginnings.
 */
export function factStats({ store, clock }: FactReadPorts, input: OfUser) {
  const now = input.at ?? presentOf(clock, store.catalogue.facts.latestRecordedAt);
  const subjects = new Set<string>();
  const objects = new Set<string>();
  const predicates = new Map<string, { readonly predicate: string; count: number }>();
  let [total, active, future, confidences] = [0, 0, 0, 0];
  let [earliest, latest] = [Infinity, -Infinity];
  visitFacts(store.catalogue.facts, { ...input, at: undefined }, (fact, history, timeline) => {
    total += 1;
    confidences += fact.confidence;
    if (fact.validFrom > now) future += 1;
    else if (endOf(fact) > now) active += 1;
    earliest = Math.min(earliest, fact.validFrom);
    latest = Math.max(latest, fact.validFrom);
    subjects.add(timeline.subjectKey);
    objects.add(history.objectKey);
    const known = predicates.get(timeline.predicateKey);
    if (known === undefined) predicates.set(timeline.predicateKey, { predicate: fact.predicate, count: 1 });
    else known.count += 1;
  });
  return {
    totalFacts: total,
    activeFacts: active,
    historicalFacts: total - active - future,
    futureFacts: future,
    subjects: subjects.size,
    predicates: predicates.size,
    objects: objects.size,
    averageConfidence: total === 0 ? null : confidences / total,
    earliest: total === 0 ? null : earliest,
    latest: total === 0 ? null : latest,
    topPredicates: [...predicates.values()].sort((a, b) => b.count - a.count).slice(0, TOP_PREDICATES),
  };
}

/**
 * Subjects of facts as their newest fact writes them, with the number of their facts, past and future ones too, and of those
 * valid now (or at `at`); those with the most facts first, then by name.
 */
export function factSubjects(
  { store, clock }: FactReadPorts,
  { limit, offset = 0, ...input }: OfUser & PageRange,
) {
  const now = input.at ?? presentOf(clock, store.catalogue.facts.latestRecordedAt);
  const bySubject = new Map<
    string,
    { subject: string; newest: number; factCount: number; currentCount: number }
  >();
  visitFacts(store.catalogue.facts, { ...input, at: undefined }, (fact, _history, { subjectKey }) => {
    let found = bySubject.get(subjectKey);
    if (found === undefined) {
      found = { subject: fact.subject, newest: fact.validFrom, factCount: 0, currentCount: 0 };
      bySubject.set(subjectKey, found);
    } else if (fact.validFrom > found.newest) {
      found.subject = fact.subject;
      found.newest = fact.validFrom;
    }
    found.factCount += 1;
    if (fact.validFrom <= now && endOf(fact) > now) found.currentCount += 1;
  });
  const all = [...bySubject.values()].sort(
    (a, b) => b.factCount - a.factCount || (a.subject < b.subject ? -1 : 1),
  );
  return { items: all.slice(offset, offset + limit), total: all.length };
}

interface VolatileFactsInput extends FactFilter, AsOf {
  readonly limit: number;
  /** Counts the facts that began in [from, to). */
  readonly from?: number;
  readonly to?: number;
}

const DAY_MS = 86_400_000;

/** Timelines that ever held more than one fact, the most changed first, then by the latest change. */
export function volatileFacts({ store, clock }: FactReadPorts, input: VolatileFactsInput) {
  const now = input.at ?? presentOf(clock, store.catalogue.facts.latestRecordedAt);
  const found = store.catalogue.facts
    .timelines(input)
    .flatMap((timeline) => changesOf(timeline, now, input) ?? []);
  return sortedPage(
    found,
    input,
    (a, b) => b.changeCount - a.changeCount || b.lastChangedAt - a.lastChangedAt || (a.key < b.key ? -1 : 1),
  );
}

/**
 * How often the facts of a subject and predicate changed: the facts that began up to `now`, their averages (an open one lasts
 * until `now`), the latest beginning or end that is not after `now`, and the object valid `now`, the newest of several.
 * Undefined for a timeline of one fact, or without a change in the period asked for.
 */
function changesOf(
  timeline: FactTimeline,
  now: number,
  { from = -Infinity, to = Infinity, knownAt }: VolatileFactsInput,
) {
  let [begun, counted, confidence, duration, lastChangedAt] = [0, 0, 0, 0, -Infinity];
  let [current, newest]: (Fact | undefined)[] = [];
  for (const history of timeline.facts) {
    const fact = countingFact(history, { knownAt });
    if (fact === undefined || fact.validFrom > now) continue;
    begun += 1;
    const end = endOf(fact);
    if (end > now && (current === undefined || compareForList(fact, current) < 0)) current = fact;
    if (fact.validFrom < from || fact.validFrom >= to) continue;
    if (newest === undefined || fact.validFrom > newest.validFrom) newest = fact;
    counted += 1;
    confidence += fact.confidence;
    duration += Math.min(end, now) - fact.validFrom;
    lastChangedAt = Math.max(lastChangedAt, end <= now ? end : fact.validFrom);
  }
  const named = current ?? newest;
  if (begun < 2 || counted === 0 || named === undefined) return undefined;
  return {
    key: timeline.key,
    subject: named.subject,
    predicate: named.predicate,
    userId: timeline.userId,
    project: timeline.project,
    changeCount: counted,
    averageConfidence: confidence / counted,
    averageDurationDays: duration / counted / DAY_MS,
    lastChangedAt,
    currentObject: current?.object ?? null,
  };
}
