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
 * The subjects and predicates that changed most, most first (then by the latest change): timelines that ever held more
 * than one fact. What has not begun is no change yet.
 */
export function volatileFacts({ facts, clock }: FactReadPorts, input: VolatileFactsInput): VolatileFact[] {
  const now = input.at ?? presentOf(clock, facts.book.latestRecordedAt);
  const found: VolatileFact[] = [];
  for (const timeline of facts.book.timelines(input)) {
    if (timeline.facts.length < 2) continue;
    const volatile = volatilityOf(timeline, now, input);
    if (volatile !== undefined) found.push(volatile);
  }
  return sortedPage(found, input, mostChanging);
}

function volatilityOf(timeline: FactTimeline, now: number, input: VolatileFactsInput): VolatileFact | undefined {
  const { from = -Infinity, to = Infinity, knownAt } = input;
  let [begun, counted, confidence, duration] = [0, 0, 0, 0];
  let lastChangedAt = -Infinity;
  let current: Fact | undefined;
  for (const history of timeline.facts) {
    const fact = countingFact(history, { knownAt });
    if (fact === undefined || fact.validFrom > now) continue;
    begun += 1;
    const end = endOf(fact);
    if (end > now && (current === undefined || compareForList(fact, current) < 0)) current = fact;
    if (fact.validFrom < from || fact.validFrom >= to) continue;
    counted += 1;
    confidence += fact.confidence;
    duration += Math.min(end, now) - fact.validFrom;
    lastChangedAt = Math.max(lastChangedAt, fact.validFrom, end <= now ? end : -Infinity);
  }
  const [named] = timeline.facts;
  if (begun < 2 || counted === 0 || named === undefined) return undefined;
  return {
    subject: (current ?? named.latest).subject,
    predicate: (current ?? named.latest).predicate,
    userId: timeline.userId,
    project: timeline.project,
    changeCount: counted,
    averageConfidence: confidence / counted,
    averageDurationDays: duration / counted / DAY_MS,
    lastChangedAt,
    currentObject: current?.object ?? null,
  };
}

function mostChanging(a: VolatileFact, b: VolatileFact): number {
  return b.changeCount - a.changeCount || b.lastChangedAt - a.lastChangedAt || compareNames(a, b);
}

function compareNames(a: VolatileFact, b: VolatileFact): number {
  const [first, second] = [a, b].map((v) => JSON.stringify([v.subject, v.predicate, v.userId, v.project])) as [string, string];
  return first < second ? -1 : first > second ? 1 : 0;
}
