import { type Fact, foldText } from "./fact.ts";
import type { FactFilter } from "./fact-book.ts";
import type { PageRange } from "./fact-page.ts";
import { type AsOf, type FactPage, type FactReadPorts, pageOf, presentOf } from "./fact-store.ts";
import { Phrases, UNSPACED } from "../text/phrases.ts";
import { STOP_WORDS } from "../text/stop-words.ts";
import { countingFact } from "./visit-facts.ts";

export interface NamedFactsInput extends Pick<FactFilter, "userId" | "projects">, AsOf, PageRange {
  readonly question: string;
}

/**
 * The facts valid now (or at `at`) whose subject or object a question names, as whole words in any case, in
 * list order. Names that are only a stop word or a single character are not looked for.
 *
 * Time is linear in the question and in the names of the facts visited: each different name is read once.
 */
export function namedFacts({ facts: { book }, clock }: FactReadPorts, input: NamedFactsInput): FactPage {
  const at = input.at ?? presentOf(clock, book.latestRecordedAt);
  const question = new Phrases(foldText(input.question));
  const known = new Map<string, boolean>();
  const isNamed = (name: string) => {
    const named = known.get(name) ?? (isTelling(name) && question.has(name));
    known.set(name, named);
    return named;
  };
  const found: Fact[] = [];
  for (const timeline of book.timelines(input)) {
    const isSubject = isNamed(timeline.subjectKey);
    for (const history of timeline.facts) {
      const fact = countingFact(history, { at, knownAt: input.knownAt });
      if (fact !== undefined && (isSubject || isNamed(history.foldedObject))) found.push(fact);
    }
  }
  return pageOf(found, input);
}

function isTelling(name: string): boolean {
  return !STOP_WORDS.has(name) && (name.length > 1 || UNSPACED.test(name));
}
