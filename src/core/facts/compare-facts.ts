import type { Fact } from "./fact.ts";
import type { FactBook, FactFilter } from "./fact-book.ts";
import { charsOf, type PageRange } from "./fact-page.ts";
import { FactSelection } from "./fact-selection.ts";
import { type AsOf, factsOf, type FactReadPorts } from "./fact-store.ts";
import { fitting } from "../page-end.ts";
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

/**
 * Each list in list order (`changed` by what came after), one page of it. Where they end before their limit,
 * all do at one place: the next page of all begins there.
 */
export interface FactComparison {
  readonly added: readonly Fact[];
  readonly removed: readonly Fact[];
  readonly changed: readonly ChangedFact[];
  /** As at `time2`. */
  readonly unchanged: readonly Fact[];
  /** Where the next page of the lists begins; absent on the last. */
  readonly nextOffset?: number;
  /** How many in all. */
  readonly summary: {
    readonly added: number;
    readonly removed: number;
    readonly changed: number;
    readonly unchanged: number;
  };
}

/** A fact that is valid at one of the two moments only. */
interface Present {
  readonly ordinal: number;
  readonly start: number;
  readonly end: number;
}

/** More than there are objects, so that a timeline and an object make one number. */
const OBJECTS = 2 ** 26;

/**
 * What is true at `time2` against `time1`. The same object is unchanged, even if it is another fact (left and
 * come back, cut and continued). For cardinality `one` another object is a change; for `many` objects come
 * and go by themselves.
 */
export function compareFacts({ facts: { book } }: FactReadPorts, input: CompareFactsInput): FactComparison {
  const { time1, time2, knownAt } = input;
  const [added, removed, changed, unchanged] = [
    new FactSelection(),
    new FactSelection(),
    new FactSelection(),
    new FactSelection(),
  ];
  const put = (selection: FactSelection, { ordinal, start, end }: Present) =>
    selection.add(ordinal, start, end);
  const { timeline, object } = book.columns;
  const timelineOf = ({ ordinal }: Present) => timeline[ordinal] as number;
  const objectOf = (fact: Present) => timelineOf(fact) * OBJECTS + (object[fact.ordinal] as number);

  const gone = new Map<number, Present>();
  let come: Present[] = [];
  book.visit(input, knownAt, (ordinal, start, end) => {
    const isBefore = start <= time1 && time1 < end;
    const isAfter = start <= time2 && time2 < end;
    if (isBefore && isAfter) unchanged.add(ordinal, start, end);
    else if (isAfter) come.push({ ordinal, start, end });
    else if (isBefore) gone.set(objectOf({ ordinal, start, end }), { ordinal, start, end });
  });

  come = come.filter((fact) => {
    if (!gone.delete(objectOf(fact))) return true;
    put(unchanged, fact);
    return false;
  });
  const replaceable = new Map<number, Present>();
  for (const fact of gone.values()) {
    if (book.factAt(fact.ordinal).cardinality === "one") replaceable.set(timelineOf(fact), fact);
    else put(removed, fact);
  }
  for (const fact of come) put(replaceable.delete(timelineOf(fact)) ? changed : added, fact);
  for (const fact of replaceable.values()) put(removed, fact);

  return comparisonPage(book, { added, removed, changed, unchanged }, input);
}

type Outcome = "added" | "removed" | "changed" | "unchanged";

function comparisonPage(
  book: FactBook,
  found: Readonly<Record<Outcome, FactSelection>>,
  input: CompareFactsInput,
): FactComparison {
  const pageOf = (outcome: Outcome) => factsOf(book, found[outcome], input);
  const [added, removed, after, unchanged] = [
    pageOf("added"),
    pageOf("removed"),
    pageOf("changed"),
    pageOf("unchanged"),
  ];
  const before = after.map((fact) => factBefore(book, fact, input));
  const lists = [added, removed, before, after, unchanged];
  const longest = Math.max(...lists.map((list) => list.length));
  const rows = fitting(longest, (row) => lists.reduce((sum, list) => sum + charsAt(list, row), 0));
  const next = (input.offset ?? 0) + rows;
  const isMore = rows > 0 && Object.values(found).some(({ size }) => size > next);
  return {
    added: added.slice(0, rows),
    removed: removed.slice(0, rows),
    changed: after.slice(0, rows).map((fact, row) => ({ before: before[row] as Fact, after: fact })),
    unchanged: unchanged.slice(0, rows),
    ...(isMore ? { nextOffset: next } : {}),
    summary: {
      added: found.added.size,
      removed: found.removed.size,
      changed: found.changed.size,
      unchanged: found.unchanged.size,
    },
  };
}

function charsAt(list: readonly Fact[], index: number): number {
  const fact = list[index];
  return fact === undefined ? 0 : charsOf(fact);
}

/** The fact that its timeline (of cardinality `one`) held at `time1`. */
function factBefore(book: FactBook, after: Fact, { time1, knownAt }: CompareFactsInput): Fact {
  for (const history of book.timeline(after)?.facts ?? []) {
    const fact = countingFact(history, { at: time1, knownAt });
    if (fact !== undefined) return fact;
  }
  throw new TypeError("a changed fact was another before");
}
