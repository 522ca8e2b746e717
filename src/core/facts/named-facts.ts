import { foldText } from "./fact.ts";
import type { FactFilter } from "./fact-book.ts";
import type { PageRange } from "./fact-page.ts";
import { FactSelection } from "./fact-selection.ts";
import { type AsOf, type FactPage, type FactReadPorts, pageOf, presentOf } from "./fact-store.ts";
import { Phrases, UNSPACED } from "../text/phrases.ts";
import { STOP_WORDS } from "../text/stop-words.ts";

export interface NamedFactsInput extends Pick<FactFilter, "userId" | "projects">, AsOf, PageRange {
  readonly question: string;
}

/**
 * The facts valid now (or at `at`) whose subject or object a question names, as whole words in any case, in
 * list order. Names that are only a stop word or a single character are not looked for.
 *
 * Time is linear in the question and in the names of the facts visited: each name is read once at most.
 */
export function namedFacts({ facts: { book }, clock }: FactReadPorts, input: NamedFactsInput): FactPage {
  const at = input.at ?? presentOf(clock, book.latestRecordedAt);
  const question = new Phrases(foldText(input.question));
  const isNamed = (name: string) => isTelling(name) && question.has(name);
  const isNamedSubject = book.subjects.matcher(isNamed);
  const isNamedObject = book.objects.matcher(isNamed);
  const { subject, object } = book.columns;
  const found = new FactSelection();
  book.visit(input, input.knownAt, (ordinal, start, end) => {
    if (at < start || at >= end) return;
    if (isNamedSubject(subject[ordinal] as number) || isNamedObject(object[ordinal] as number)) {
      found.add(ordinal, start, end);
    }
  });
  return pageOf(book, found, input);
}

function isTelling(name: string): boolean {
  return !STOP_WORDS.has(name) && (name.length > 1 || UNSPACED.test(name));
}
