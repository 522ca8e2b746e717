import { endOf, type Fact } from "./fact.ts";
import type { FactFilter, FactTimeline } from "./fact-book.ts";
import { compareForList, sortedPage } from "./fact-page.ts";
import { type AsOf, type FactReadPorts, presentOf } from "./fact-store.ts";
import { countingFact } from "./visit-facts.ts";

export interface VolatileFactsInput extends FactFilter, AsOf {
  readonly limit: number;
  /** Counts the facts that began in [from, to). */
  readonly from?: number;
  readonly to?: number;
}

/** How often what is held about a subject and predicate changed. */
export interface VolatileFact {
  readonly subject: string;
  readonly predicate: string;
  readonly userId: string | null;
  readonly project: string | null;
  /** How many facts began, up to now (or `at`). */
  readonly changeCount: number;
  /** Of those facts. */
  readonly averageConfidence: number;
  /** Of those facts; an open one counts up to now. */
  readonly averageDurationDays: number;
  /** The latest beginning or end of those facts that is not after now. */
  readonly lastChangedAt: number;
  /** What is valid now, the newest of several; null where nothing is. */
  readonly currentObject: string | null;
}

const DAY_MS = 86_400_000;

/**
 * The subjects and predicates that changed most, most first (then by the latest change): timelines that ever
 * held more than one fact. What has not begun is no change yet.
 */
export function volatileFacts(
  { facts: { book }, clock }: FactReadPorts,
  input: VolatileFactsInput,
): VolatileFact[] {
  const now = input.at ?? presentOf(clock, book.latestRecordedAt);
  const { from = -Infinity, to = Infinity } = input;
  const { timeline } = book.columns;
  const begun = new Uint32Array(book.timelineCapacity);
  const changes = new Uint32Array(book.timelineCapacity);
  const lastChange = new Float64Array(book.timelineCapacity).fill(-Infinity);
  book.visit(input, input.knownAt, (ordinal, start, end) => {
    if (start > now) return;
    const number = timeline[ordinal] as number;
    begun[number] = (begun[number] as number) + 1;
    if (start < from || start >= to) return;
    changes[number] = (changes[number] as number) + 1;
    lastChange[number] = Math.max(lastChange[number] as number, start, end <= now ? end : start);
  });

  const volatile: number[] = [];
  for (const [number, count] of begun.entries())
    if (count > 1 && (changes[number] as number) > 0) volatile.push(number);
  const mostChanging = (a: number, b: number) =>
    (changes[b] as number) - (changes[a] as number) ||
    (lastChange[b] as number) - (lastChange[a] as number) ||
    (book.timelineAt(a).key < book.timelineAt(b).key ? -1 : 1);
  return sortedPage(volatile, input, mostChanging).map((number) => ({
    ...averagesOf(book.timelineAt(number), now, input),
    changeCount: changes[number] as number,
    lastChangedAt: lastChange[number] as number,
  }));
}

function averagesOf(
  timeline: FactTimeline,
  now: number,
  { from = -Infinity, to = Infinity, knownAt }: VolatileFactsInput,
): Omit<VolatileFact, "changeCount" | "lastChangedAt"> {
  let [counted, confidence, duration] = [0, 0, 0];
  let [current, newest]: (Fact | undefined)[] = [];
  for (const history of timeline.facts) {
    const fact = countingFact(history, { knownAt });
    if (fact === undefined || fact.validFrom > now) continue;
    if (endOf(fact) > now && (current === undefined || compareForList(fact, current) < 0)) current = fact;
    if (fact.validFrom < from || fact.validFrom >= to) continue;
    if (newest === undefined || fact.validFrom > newest.validFrom) newest = fact;
    counted += 1;
    confidence += fact.confidence;
    duration += Math.min(endOf(fact), now) - fact.validFrom;
  }
  const named = current ?? newest;
  return {
    subject: named?.subject ?? timeline.subjectKey,
    predicate: named?.predicate ?? timeline.predicateKey,
    userId: timeline.userId,
    project: timeline.project,
    averageConfidence: confidence / counted,
    averageDurationDays: duration / counted / DAY_MS,
    currentObject: current?.object ?? null,
  };
}
