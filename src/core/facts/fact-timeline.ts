import { endOf, type Fact, sameMetadata } from "./fact.ts";
import type { FactFilter, FactHistory } from "./fact-book.ts";
import { charsOf, type PageRange, sortedPage } from "./fact-page.ts";
import type { AsOf, FactReadPorts } from "./fact-store.ts";
import { fitting } from "../page-end.ts";
import { visitFacts } from "./visit-facts.ts";

export type FactEventType = "created" | "updated" | "invalidated" | "superseded";

export interface FactEvent {
  /** When the change takes effect: `validFrom` or `validTo`; for `updated` when it was recorded. */
  readonly timestamp: number;
  readonly changeType: FactEventType;
  /** The fact as known; for `updated` the version that the change made. */
  readonly fact: Fact;
}

export interface FactTimelineInput extends FactFilter, AsOf, PageRange {
  readonly subject: string;
  /** Events in [from, to). */
  readonly from?: number;
  readonly to?: number;
}

export interface FactTimelinePage {
  /** Ascending; the page may end before its limit. */
  readonly events: readonly FactEvent[];
  readonly total: number;
}

/** Order of events at one moment: ends before beginnings, and these before updates. */
const RANK: Readonly<Record<FactEventType, number>> = {
  superseded: 0,
  invalidated: 0,
  created: 1,
  updated: 2,
};

/** When each fact of a subject began, changed and ended; with `at`, only of facts valid then. */
export function factTimeline({ facts }: FactReadPorts, input: FactTimelineInput): FactTimelinePage {
  const { from = -Infinity, to = Infinity } = input;
  const events: FactEvent[] = [];
  visitFacts(facts.book, input, (fact, history) => {
    for (const event of eventsOf(fact, history)) {
      if (event.timestamp >= from && event.timestamp < to) events.push(event);
    }
  });
  const total = events.length;
  const page = sortedPage(events, input, inOrder);
  const count = fitting(page.length, (index) => charsOf((page[index] as FactEvent).fact));
  return { total, events: page.slice(0, count) };
}

function eventsOf(fact: Fact, { versions }: FactHistory): FactEvent[] {
  const events: FactEvent[] = [{ timestamp: fact.validFrom, changeType: "created", fact }];
  for (const [index, version] of versions.entries()) {
    const before = versions[index - 1];
    if (before === undefined || version.version > fact.version || !isUpdate(before, version)) continue;
    events.push({ timestamp: version.updatedAt, changeType: "updated", fact: version });
  }
  if (fact.validTo !== null) {
    const changeType = fact.supersededBy === null ? "invalidated" : "superseded";
    events.push({ timestamp: fact.validTo, changeType, fact });
  }
  return events;
}

/** Whether a version changes more than an earlier end, which is an event of its own. */
function isUpdate(before: Fact, after: Fact): boolean {
  return (
    after.confidence !== before.confidence ||
    after.validFrom !== before.validFrom ||
    endOf(after) > endOf(before) ||
    !sameMetadata(after.metadata, before.metadata)
  );
}

function inOrder(a: FactEvent, b: FactEvent): number {
  return (
    a.timestamp - b.timestamp ||
    RANK[a.changeType] - RANK[b.changeType] ||
    (a.fact.id < b.fact.id ? -1 : a.fact.id > b.fact.id ? 1 : 0)
  );
}
