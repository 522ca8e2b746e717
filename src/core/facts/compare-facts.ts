import type { Fact } from "./fact.ts";
import { type FactFilter, type FactTimeline, countingFact, type AsOf } from "./fact-book.ts";
import { charsOf, compareForList, type PageRange, type FactReadPorts } from "./fact-store.ts";
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

  for (const list of [added, removed, unchanged]) list.sort(compareForList);
  changed.sort((a, b) => compareForList(a.after, b.after));
  const { limit, offset = 0 } = input;
  const longest = Math.max(added.length, removed.length, changed.length, unchanged.length);
  const places = Array.from({ length: longest }, (_, place) => place).slice(offset, offset + limit);
  const shown = fitting(places, (place) => {
    const change = changed[place];
    const facts = [added[place], removed[place], change?.before, change?.after, unchanged[place]];
    return facts.reduce((sum, fact) => sum + (fact === undefined ? 0 : charsOf(fact)), 0);
  });
  const next = offset + shown.length;
  return {
    added: added.slice(offset, next),
    removed: removed.slice(offset, next),
    changed: changed.slice(offset, next),
    unchanged: unchanged.slice(offset, next),
    nextOffset: shown.length > 0 && longest > next ? next : undefined,
    summary: {
      added: added.length,
      removed: removed.length,
      changed: changed.length,
      unchanged: unchanged.length,
    },
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
