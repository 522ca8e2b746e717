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

/** How often the facts of a subject and predicate changed. */
export interface VolatileFact {
  readonly subject: string;
  readonly predicate: string;
  readonly userId: string | null;
  readonly project: string | null;
  /** Number of facts that began, up to now (or `at`). */
  readonly changeCount: number;
  /** Average over those facts. */
  readonly averageConfidence: number;
  /** Average over those facts; an open one counts up to now. */
  readonly averageDurationDays: number;
  /** The latest beginning or end of those facts that is not after now. */
  readonly lastChangedAt: number;
  /** The object valid now, the newest of several; null without one. */
  readonly currentObject: string | null;
}

const DAY_MS = 86_400_000;

/** Timelines that ever held more than one fact, the most changed first, then by the latest change. */
export function volatileFacts(
  { facts: { book }, clock }: FactReadPorts,
  input: VolatileFactsInput,
): VolatileFact[] {
  const now = input.at ?? presentOf(clock, book.latestRecordedAt);
  const found: { readonly key: string; readonly changes: VolatileFact }[] = [];
  for (const timeline of book.timelines(input)) {
    const changes = changesOf(timeline, now, input);
    if (changes !== undefined) found.push({ key: timeline.key, changes });
  }
  const page = sortedPage(
    found,
    input,
    (a, b) =>
      b.changes.changeCount - a.changes.changeCount ||
      b.changes.lastChangedAt - a.changes.lastChangedAt ||
      (a.key < b.key ? -1 : 1),
  );
  return page.map(({ changes }) => changes);
}

/** Undefined for a timeline of one fact, or without a change in the period asked for. */
function changesOf(
  timeline: FactTimeline,
  now: number,
  { from = -Infinity, to = Infinity, knownAt }: VolatileFactsInput,
): VolatileFact | undefined {
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
