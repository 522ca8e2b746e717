import { type Fact, objectKey } from "./fact.ts";
import type { FactFilter } from "./fact-book.ts";
import type { PageRange } from "./fact-page.ts";
import { FactSelection } from "./fact-selection.ts";
import { type AsOf, type FactPage, type FactReadPorts, pageOf } from "./fact-store.ts";

export interface FindFactsInput extends FactFilter, AsOf, PageRange {
  /** Compared by `objectKey`. */
  readonly object?: string;
  /** In [0, 1]. */
  readonly minConfidence?: number;
  readonly createdBy?: string;
  /** First recorded at this moment or later. */
  readonly recordedFrom?: number;
}

/** Facts that match, in list order; without `at` past and future ones too. */
export function findFacts({ facts: { book } }: FactReadPorts, input: FindFactsInput): FactPage {
  const { at, knownAt, minConfidence = 0, createdBy, recordedFrom } = input;
  const wanted =
    input.object === undefined ? undefined : (book.objects.numberOf(objectKey(input.object)) ?? -1);
  const { object } = book.columns;
  const asksRecord = createdBy !== undefined || recordedFrom !== undefined;
  const found = new FactSelection();
  book.visit(input, knownAt, (ordinal, start, end, confidence) => {
    if (at !== undefined && (at < start || at >= end)) return;
    if (confidence < minConfidence || (wanted !== undefined && object[ordinal] !== wanted)) return;
    if (asksRecord && !isRecorded(book.factAt(ordinal), input)) return;
    found.add(ordinal, start, end);
  });
  return pageOf(book, found, input);
}

/** By whom and when a fact was first recorded is the same in all its versions. */
function isRecorded(fact: Fact, { createdBy, recordedFrom = -Infinity }: FindFactsInput): boolean {
  return fact.recordedAt >= recordedFrom && (createdBy === undefined || fact.createdBy === createdBy);
}
