import type { FactFilter } from "./fact-book.ts";
import type { PageRange } from "./fact-page.ts";
import { compilePattern } from "./fact-pattern.ts";
import { FactSelection } from "./fact-selection.ts";
import { type AsOf, type FactPage, type FactReadPorts, pageOf } from "./fact-store.ts";
import type { TextTable } from "./text-table.ts";

export const SEARCH_FIELDS = ["subject", "predicate", "object", "any"] as const;
export type SearchField = (typeof SEARCH_FIELDS)[number];

export interface SearchFactsInput extends FactFilter, AsOf, PageRange {
  /** At most 256 characters; see `compilePattern`. */
  readonly pattern: string;
  readonly field: SearchField;
}

/** Facts with a field that matches the pattern, in list order; without `at` past and future ones too. */
export function searchFacts({ facts: { book } }: FactReadPorts, input: SearchFactsInput): FactPage {
  const matches = compilePattern(input.pattern);
  const matching = (field: SearchField, texts: TextTable) =>
    input.field === field || input.field === "any" ? texts.matcher(matches) : () => false;
  const isSubject = matching("subject", book.subjects);
  const isPredicate = matching("predicate", book.predicates);
  const isObject = matching("object", book.objects);

  const { at, knownAt } = input;
  const { subject, predicate, object } = book.columns;
  const found = new FactSelection();
  book.visit(input, knownAt, (ordinal, start, end) => {
    if (at !== undefined && (at < start || at >= end)) return;
    const isMatch =
      isSubject(subject[ordinal] as number) ||
      isPredicate(predicate[ordinal] as number) ||
      isObject(object[ordinal] as number);
    if (isMatch) found.add(ordinal, start, end);
  });
  return pageOf(book, found, input);
}
