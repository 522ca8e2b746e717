import { foldText } from "./fact.ts";
import type { FactFilter } from "./fact-book.ts";
import type { PageRange } from "./fact-page.ts";
import { FactSelection } from "./fact-selection.ts";
import { type AsOf, type FactPage, type FactReadPorts, pageOf, presentOf } from "./fact-store.ts";
import { STOP_WORDS } from "./stop-words.ts";
import type { TextTable } from "./text-table.ts";

export interface NamedFactsInput extends Pick<FactFilter, "userId" | "projects">, AsOf, PageRange {
  readonly question: string;
}

const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
/** Scripts written without spaces, where a name may stand between any two characters. */
const UNSPACED =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u;

/**
 * The facts valid now (or at `at`) whose subject or object a question names, as whole words in any case, in
 * list order. Names that are only a stop word or a single character are not looked for.
 */
export function namedFacts({ facts: { book }, clock }: FactReadPorts, input: NamedFactsInput): FactPage {
  const at = input.at ?? presentOf(clock, book.latestRecordedAt);
  const question = foldText(input.question);
  const named = (texts: TextTable) => texts.matching((text) => isNamedIn(question, text));
  const subjects = named(book.subjects);
  const objects = named(book.objects);
  const { subject, object } = book.columns;
  const found = new FactSelection();
  book.visit(input, input.knownAt, (ordinal, start, end) => {
    if (at < start || at >= end) return;
    const isNamed = subjects[subject[ordinal] as number] === 1 || objects[object[ordinal] as number] === 1;
    if (isNamed) found.add(ordinal, start, end);
  });
  return pageOf(book, found, input);
}

function isNamedIn(question: string, name: string): boolean {
  let place = question.indexOf(name);
  if (place < 0 || STOP_WORDS.has(name) || (name.length < 2 && !UNSPACED.test(name))) return false;
  for (; place >= 0; place = question.indexOf(name, place + 1)) {
    if (isWordEdge(question, place) && isWordEdge(question, place + name.length)) return true;
  }
  return false;
}

/** Whether a word may begin or end at a place in a text. */
function isWordEdge(text: string, place: number): boolean {
  const before = text.slice(0, place).match(/.$/su)?.[0] ?? "";
  const after = String.fromCodePoint(text.codePointAt(place) ?? 0x20);
  if (UNSPACED.test(before) || UNSPACED.test(after)) return true;
  return !LETTER_OR_DIGIT.test(before) || !LETTER_OR_DIGIT.test(after);
}
