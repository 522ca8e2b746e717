import { type Fact, foldText, objectKey } from "./fact.ts";
import type { FactFilter } from "./fact-book.ts";
import type { PageRange } from "./fact-page.ts";
import { type AsOf, type FactPage, type FactReadPorts, pageOf } from "./fact-store.ts";
import { visitFacts } from "./visit-facts.ts";
import type { Given, Written } from "../memory.ts";

export interface FindFactsInput extends FactFilter, AsOf, PageRange, Given<Written> {
  /** Compared by `objectKey`. */
  readonly object?: string;
  /** In [0, 1]. */
  readonly minConfidence?: number;
  /** The last characters of the id. */
  readonly idEnd?: string;
  /** First recorded at this moment or later. */
  readonly recordedFrom?: number;
}

/** Facts that match, in list order; without `at` past and future ones too. */
export function findFacts({ facts: { book } }: FactReadPorts, input: FindFactsInput): FactPage {
  const { minConfidence = 0, createdBy, recordedFrom = -Infinity, idEnd = "" } = input;
  const object = input.object === undefined ? undefined : objectKey(input.object);
  const found: Fact[] = [];
  visitFacts(book, input, (fact, history) => {
    if (fact.confidence < minConfidence || fact.recordedAt < recordedFrom) return;
    if (!fact.id.endsWith(idEnd)) return;
    if (object !== undefined && history.objectKey !== object) return;
    if (createdBy !== undefined && fact.createdBy !== createdBy) return;
    found.push(fact);
  });
  return pageOf(found, input);
}

/** Says of a text already folded by `foldText` whether it matches. */
type FoldedMatcher = (folded: string) => boolean;

/** Stand for `*` and `?` in a compiled pattern; no character is a number. */
const ANY_TEXT = 0;
const ANY_CHARACTER = 1;

/**
 * Makes a matcher of a search pattern, in any case and Unicode form. With `*` (any text, also none) or `?`
 * (one character) in it the pattern describes the whole text, else a part of it. Only ASCII `*` and `?` are
 * wildcards; their full-width forms are text.
 *
 * Time is at most the text's length times the pattern's: after a mismatch only the last star takes one
 * character more.
 */
export function compilePattern(pattern: string): FoldedMatcher {
  const trimmed = pattern.trim();
  if (!/[*?]/.test(trimmed)) {
    const part = foldText(trimmed);
    return (folded) => folded.includes(part);
  }
  const parts = trimmed.split(/(\*+|\?)/).flatMap((part): (string | number)[] => {
    if (part.startsWith("*")) return [ANY_TEXT];
    return part === "?" ? [ANY_CHARACTER] : Array.from(foldText(part));
  });
  return (folded) => matchesWhole(parts, Array.from(folded));
}

function matchesWhole(parts: readonly (string | number)[], characters: readonly string[]): boolean {
  let [place, position] = [0, 0];
  /** The place of the last star, and the end of the text that it takes. */
  let [star, taken] = [-1, 0];
  while (position < characters.length) {
    const part = parts[place];
    if (part === ANY_TEXT) {
      star = place;
      taken = position;
      place += 1;
    } else if (part === ANY_CHARACTER || part === characters[position]) {
      place += 1;
      position += 1;
    } else if (star >= 0) {
      taken += 1;
      place = star + 1;
      position = taken;
    } else return false;
  }
  return parts.slice(place).every((part) => part === ANY_TEXT);
}
