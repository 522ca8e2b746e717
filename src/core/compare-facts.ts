import type { Fact } from "./fact.ts";
import type { FactFilter, FactTimeline } from "./fact-book.ts";
import { compareForList, type PageRange, sortedPage } from "./fact-page.ts";
import type { AsOf, FactReadPorts } from "./fact-store.ts";
import { countingFact } from "./visit-facts.ts";

export interface CompareFactsInput extends FactFilter, Pick<AsOf, "knownAt">, PageRange {
  /** Moments of valid time, in any order. */
  readonly time1: number;
  readonly time2: number;
}

export interface ChangedFact {
  readonly before: Fact;
  readonly after: Fact;
}

/** Each list in list order (`changed` by what came after), one page of it. */
export interface FactComparison {
  readonly added: readonly Fact[];
  readonly removed: readonly Fact[];
  readonly changed: readonly ChangedFact[];
  /** As at `time2`. */
  readonly unchanged: readonly Fact[];
  /** How many in all. */
  readonly summary: { readonly added: number; readonly removed: number; readonly changed: number; readonly unchanged: number };
}

/**
 * What is true at `time2` against `time1`. The same object is unchanged, even if it is another fact (left and come back,
 * cut and continued). For cardinality `one` another object is a change; for `many` objects come and go by themselves.
 */
export function compareFacts({ facts }: FactReadPorts, input: CompareFactsInput): FactComparison {
  const added: Fact[] = [];
  const removed: Fact[] = [];
  const changed: ChangedFact[] = [];
  const unchanged: Fact[] = [];
  for (const timeline of facts.book.timelines(input)) {
    const before = stateAt(timeline, { at: input.time1, knownAt: input.knownAt });
    const after = stateAt(timeline, { at: input.time2, knownAt: input.knownAt });
    if (before === NOTHING && after === NOTHING) continue;
    for (const [object, fact] of after) {
      const [other] = fact.cardinality === "one" ? before.values() : [];
      if (before.has(object)) unchanged.push(fact);
      else if (other !== undefined) changed.push({ before: other, after: fact });
      else added.push(fact);
    }
    for (const [object, fact] of before) {
      if (!after.has(object) && (fact.cardinality === "many" || after.size === 0)) removed.push(fact);
    }
  }
  return {
    summary: { added: added.length, removed: removed.length, changed: changed.length, unchanged: unchanged.length },
    added: sortedPage(added, input, compareForList),
    removed: sortedPage(removed, input, compareForList),
    changed: sortedPage(changed, input, (a, b) => compareForList(a.after, b.after)),
    unchanged: sortedPage(unchanged, input, compareForList),
  };
}

const NOTHING: ReadonlyMap<string, Fact> = new Map();

/** What a timeline holds true at a moment, by object. */
function stateAt(timeline: FactTimeline, asOf: { readonly at: number; readonly knownAt: number | undefined }): ReadonlyMap<string, Fact> {
  let state: Map<string, Fact> | undefined;
  for (const history of timeline.facts) {
    const fact = countingFact(history, asOf);
    if (fact !== undefined) (state ??= new Map()).set(history.objectKey, fact);
  }
  return state ?? NOTHING;
}
