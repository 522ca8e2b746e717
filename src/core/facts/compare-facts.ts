import type { Fact } from "./fact.ts";
import { type FactFilter, type FactTimeline, countingFact, type AsOf } from "./fact-book.ts";
import { charsOf, compareForList, type PageRange, sortedPage, type FactReadPorts } from "./fact-store.ts";
import { fitting } from "../page-end.ts";

interface CompareFactsInput extends FactFilter, Pick<AsOf, "knownAt">, PageRange {
  /** Moments of valid time, in any order. */
  readonly time1: number;
  readonly time2: number;
}

/**
 * The facts at `time2` compared with those at `time1`. The same object is unchanged, even if it is another fact (ended
 * and stated again, split and continued). For cardinality `one` another object is a change; for `many` objects come
 * and go by themselves.
 * @returns one page of each list (`unchanged` as of `time2`), and the numbers of all in `summary`. Where the lists end before
 *   their limit, the next page of all begins at `nextOffset`; undefined on the last.
 */
export function compareFacts({ store }: FactReadPorts, input: CompareFactsInput) {
  const { time1, time2, knownAt } = input;
  const added: Fact[] = [];
  const removed: Fact[] = [];
  const changed: { readonly before: Fact; readonly after: Fact }[] = [];
  const unchanged: Fact[] = [];
  for (const timeline of store.catalogue.facts.timelines(input)) {
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
  const rows = fitting(longest, (row) =>
    lists.reduce((sum, { [row]: fact }) => sum + (fact === undefined ? 0 : charsOf(fact)), 0),
  );
  const next = (input.offset ?? 0) + rows;
  const isMore = rows > 0 && Object.values(summary).some((count) => count > next);
  return {
    added: page.added.slice(0, rows),
    removed: page.removed.slice(0, rows),
    changed: page.changed.slice(0, rows),
    unchanged: page.unchanged.slice(0, rows),
    nextOffset: isMore ? next : undefined,
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
