import type { Fact } from "./fact.ts";
import { type FactFilter, type FactTimeline, countingFact, type AsOf } from "./fact-book.ts";
import { charsOf, compareForList, type PageRange, sortedPage, type FactReadPorts } from "./fact-store.ts";
import { fitting } from "../page-end.ts";

export interface CompareFactsInput extends FactFilter, Pick<AsOf, "knownAt">, PageRange {
  /** Moments of valid time, in any order. */
  readonly time1: number;
  readonly time2: number;
}

export type ChangedFact = { readonly before: Fact; readonly after: Fact };

/** One page of each list; where they end before their limit, the next page of all begins there. */
export interface FactComparison {
  readonly added: readonly Fact[];
  readonly removed: readonly Fact[];
  readonly changed: readonly ChangedFact[];
  /** The facts as of `time2`. */
  readonly unchanged: readonly Fact[];
  /** The beginning of the next page of the lists; absent on the last. */
  readonly nextOffset?: number;
  /** Numbers of all, not of the page. */
  readonly summary: {
    readonly added: number;
    readonly removed: number;
    readonly changed: number;
    readonly unchanged: number;
  };
}

/**
 * The facts at `time2` compared with those at `time1`. The same object is unchanged, even if it is another fact (ended
 * and stated again, split and continued). For cardinality `one` another object is a change; for `many` objects come
 * and go by themselves.
 */
export function compareFacts({ facts: { book } }: FactReadPorts, input: CompareFactsInput): FactComparison {
  const { time1, time2, knownAt } = input;
  const added: Fact[] = [];
  const removed: Fact[] = [];
  const changed: ChangedFact[] = [];
  const unchanged: Fact[] = [];
  for (const timeline of book.timelines(input)) {
    const gone = factsByObject(timeline, { at: time1, knownAt });
    const come = factsByObject(timeline, { at: time2, knownAt });
    for (const [object, fact] of come) {
      if (!gone.delete(object)) continue;
      come.delete(object);
      unchanged.push(fact);
    }
    const [before] = gone.values();
    const [after] = come.values();
    if (before?.cardinality === "one" && after !== undefined) changed.push({ before, after });
    else {
      removed.push(...gone.values());
      added.push(...come.values());
    }
  }

  const summary = {
    added: added.length,
    removed: removed.length,
    changed: changed.length,
    unchanged: unchanged.length,
  };
  const page = {
    added: sortedPage(added, input, compareForList),
    removed: sortedPage(removed, input, compareForList),
    changed: sortedPage(changed, input, (a, b) => compareForList(a.after, b.after)),
    unchanged: sortedPage(unchanged, input, compareForList),
  };
  const lists = [
    page.added,
    page.removed,
    page.changed.map(({ before }) => before),
    page.changed.map(({ after }) => after),
    page.unchanged,
  ];
  const longest = Math.max(...lists.map((list) => list.length));
  const rows = fitting(longest, (row) => lists.reduce((sum, list) => sum + charsAt(list, row), 0));
  const next = (input.offset ?? 0) + rows;
  const isMore = rows > 0 && Object.values(summary).some((count) => count > next);
  return {
    added: page.added.slice(0, rows),
    removed: page.removed.slice(0, rows),
    changed: page.changed.slice(0, rows),
    unchanged: page.unchanged.slice(0, rows),
    ...(isMore ? { nextOffset: next } : {}),
    summary,
  };
}

function factsByObject(timeline: FactTimeline, asOf: AsOf): Map<string, Fact> {
  const found = new Map<string, Fact>();
  for (const history of timeline.facts) {
    const fact = countingFact(history, asOf);
    if (fact !== undefined) found.set(history.objectKey, fact);
  }
  return found;
}

function charsAt(list: readonly Fact[], index: number): number {
  const fact = list[index];
  return fact === undefined ? 0 : charsOf(fact);
}
