import type { FactFilter } from "./fact-book.ts";
import { type AsOf, type FactReadPorts, presentOf } from "./fact-store.ts";

export interface FactStatsInput extends Pick<FactFilter, "userId" | "projects">, AsOf {}

export interface FactStats {
  /** Active, historical and future ones together. */
  readonly totalFacts: number;
  /** Valid now (or at `at`), ended by then, not begun by then. */
  readonly activeFacts: number;
  readonly historicalFacts: number;
  readonly futureFacts: number;
  /** Different ones, as they are compared. */
  readonly subjects: number;
  readonly predicates: number;
  readonly objects: number;
  /** Over all facts; null without any. */
  readonly averageConfidence: number | null;
  /** The first and the last beginning; null without any. */
  readonly earliest: number | null;
  readonly latest: number | null;
  /** Those with the most facts, most first, at most 10. */
  readonly topPredicates: readonly { readonly predicate: string; readonly count: number }[];
}

/** Counts over a user's facts, or all. */
export function factStats({ facts: { book }, clock }: FactReadPorts, input: FactStatsInput): FactStats {
  const now = input.at ?? presentOf(clock, book.latestRecordedAt);
  const { subject, predicate, object } = book.columns;
  const subjects = new Uint8Array(book.subjects.capacity);
  const objects = new Uint8Array(book.objects.capacity);
  const predicates = new Uint32Array(book.predicates.capacity);
  const firstOfPredicate = new Uint32Array(book.predicates.capacity);
  let [total, active, future, confidences] = [0, 0, 0, 0];
  let [earliest, latest] = [Infinity, -Infinity];
  book.visit(input, input.knownAt, (ordinal, start, end, confidence) => {
    total += 1;
    confidences += confidence;
    if (start > now) future += 1;
    else if (end > now) active += 1;
    if (start < earliest) earliest = start;
    if (start > latest) latest = start;
    subjects[subject[ordinal] as number] = 1;
    objects[object[ordinal] as number] = 1;
    const number = predicate[ordinal] as number;
    if (predicates[number] === 0) firstOfPredicate[number] = ordinal;
    predicates[number] = (predicates[number] as number) + 1;
  });
  const topPredicates = Array.from(predicates, (count, number) => ({ count, number }))
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count || a.number - b.number)
    .slice(0, TOP_PREDICATES)
    .map(({ count, number }) => ({
      predicate: book.factAt(firstOfPredicate[number] as number).predicate,
      count,
    }));
  return {
    totalFacts: total,
    activeFacts: active,
    historicalFacts: total - active - future,
    futureFacts: future,
    subjects: countOf(subjects),
    predicates: predicates.reduce((different, count) => different + (count > 0 ? 1 : 0), 0),
    objects: countOf(objects),
    averageConfidence: total === 0 ? null : confidences / total,
    earliest: total === 0 ? null : earliest,
    latest: total === 0 ? null : latest,
    topPredicates,
  };
}

const TOP_PREDICATES = 10;

function countOf(marks: Uint8Array): number {
  let count = 0;
  for (const mark of marks) count += mark;
  return count;
}
