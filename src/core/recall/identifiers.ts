/** Identifiers: "valve 3-2" is another thing than "valve 2-3", though it has the same words and nearly the same vector. */
import { expression } from "../text/expression.ts";
import { fold } from "../text/fold.ts";
import { STOP_WORDS } from "../text/stop-words.ts";
import type { Ordinal } from "../ports.ts";
import type { RankedHit } from "./ranking.ts";
import { scoreOf, sumOf } from "./ranking-terms.ts";

/** A letter of a script with spaces between words, or a digit. */
const SIGN = String.raw`(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}])\p{L}|\p{N})`;
/** Letters, digits and signs between them. */
const IDENTIFIER = new RegExp(`${SIGN}+(?:[-.:/_,]{1,3}${SIGN}+)*`, "gu");
/** "Row 4", "Haus 17". */
const NUMBERED = expression(
  String.raw`(?<![\p{L}\p{M}])(\p{L}{3,})\.? (?:nr\.? |no\.? |№ ?|#)?(\d{1,9})(?![\p{L}\p{N}])`,
  "g",
);
/** "Building B", of the text as it is written: "I" and a small letter are words. */
const LETTERED = /(?<![\p{L}\p{M}])(\p{L}{3,}) ([A-HJ-Z])(?![\p{L}\p{N}\p{M}]|[-.'’&]\p{L})/gu;
/** A number or a letter that stands alone, folded. */
const BARE_NUMBER = /(?<![\p{L}\p{N}\p{M}])(?:\d{1,9}|\p{L})(?![\p{L}\p{N}\p{M}])/gu;
/** "Mart_levels", "pw-attic": what members of a family have in common, and the rest. */
const FIRST_PART = /^(\p{L}{2,})[-.:/_]+(.+)/gu;
const YEAR = /^(?:19|20)\d\d$/;

const written = (text: string): string => fold(text).replace(/\p{Pd}|\u2212/gu, "-");

/** The numbers and identifiers of a text, folded, each in the order of its signs: with a digit among them, or of two parts. */
export const identifiersOf = (text: string): string[] =>
  (written(text).match(IDENTIFIER) ?? []).filter((one) => /\d/.test(one) || /[-.:/_]/.test(one));

/** Whether an identifier is another one that is easily taken for this: the same signs in another order, or one of them another. */
const looksLike = (identifier: string) => {
  const sorted = Array.from(identifier).sort().join("");
  return (other: string) => {
    if (other === identifier || other.length !== identifier.length) return false;
    const signs = Array.from(other);
    return signs.filter((sign, i) => sign !== identifier[i]).length === 1 || signs.sort().join("") === sorted;
  };
};

/** Digits with letters or signs, or a number that is no year and too long to count anything. */
const NAMES_ONE_THING = /^(?=.*\d)(?:.*[^\d]|(?!(?:19|20)\d\d$)\d{3,})/u;
/** A time of day is often remembered wrongly. */
const TIME_OF_DAY = /^\d{1,2}(?:[:.]\d\d)?(?:am|pm|h|uhr)?$/u;

/** The identifiers and numbered things of a text. */
interface Named {
  readonly identifiers: readonly string[];
  /** Each word before a number, with the numbers, and each first part of an identifier with what follows it. */
  readonly numbered: ReadonlyMap<string, ReadonlySet<string>>;
}

function namedIn(text: string): Named {
  const identifiers = identifiersOf(text);
  const numbered = numberedIn(text);
  for (const [, word = "", rest = ""] of identifiers.flatMap((one) => [...one.matchAll(FIRST_PART)]))
    if (!YEAR.test(rest)) numbered.set(word, (numbered.get(word) ?? new Set()).add(rest));
  return { identifiers, numbered };
}

/** Each word before a number or a capital letter, folded, with these. */
function numberedIn(text: string): Map<string, Set<string>> {
  const numbered = new Map<string, Set<string>>();
  const lettered = Array.from(text.matchAll(LETTERED), (found) => found.map((part) => fold(part)));
  for (const [, word = "", number = ""] of [...written(text).matchAll(NUMBERED), ...lettered])
    if (!YEAR.test(number) && !STOP_WORDS.has(word))
      numbered.set(word, (numbered.get(word) ?? new Set()).add(number));
  return numbered;
}

/** Whether a text has a numbered thing of the question with other numbers only: "building B" for "building C", "reviewer 2" for "reviewer 3". */
export function numberedElse(question: string): (content: string) => boolean {
  const words = [...numberedIn(question).keys()];
  if (words.length === 0) return () => false;
  // All of them: "version 2 or 3".
  const asked = new Set([...written(question).matchAll(BARE_NUMBER)].map(([number]) => number));
  return (content) => {
    const there = numberedIn(content);
    return words.some((word) => {
      const others = there.get(word);
      return others !== undefined && ![...others].some((number) => asked.has(number));
    });
  };
}

/** Whether two rests of a name are of one thing, perhaps inflected, or a place in it: "termin" and "termine", "main.ts" and "main.ts:42". */
function isSame(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  return long.startsWith(short) && /^(?:$|[\p{L}/:])/u.test(long.slice(short.length));
}

/**
 * Which of some hits name another thing than the question: in place of an identifier one that is easily taken for it; or another
 * number behind a word, or another member of a family ("mart_flow" for "mart_levels"), where a hit that is no worse than half has what
 * is asked for.
 *
 * @param best with the content of each.
 */
export function namingAnother(
  question: string,
  best: readonly { readonly hit: RankedHit; readonly content: string }[],
): ReadonlySet<Ordinal> {
  const asked = namedIn(question);
  const sure = asked.identifiers.filter(
    (one) => NAMES_ONE_THING.test(one) && !asked.identifiers.some(looksLike(one)),
  );
  if (sure.length + asked.numbered.size === 0) return new Set();
  const named = best.map(({ hit, content }) => ({ hit, ...namedIn(content) }));
  const likes = sure.map((one) => [one, looksLike(one)] as const);
  const hasAnother = ({ identifiers }: Named) =>
    likes.some(
      ([one, isLike]) =>
        !identifiers.includes(one) &&
        identifiers.some((other) => isLike(other) && !(TIME_OF_DAY.test(one) && TIME_OF_DAY.test(other))),
    );
  const numbersOf = ({ numbered }: Named, word: string) => numbered.get(word) ?? new Set<string>();
  const haveSame = (numbers: ReadonlySet<string>, others: ReadonlySet<string>) =>
    [...numbers].some((one) => [...others].some((other) => isSame(one, other)));
  const isNumberedElse = (other: (typeof named)[number]) =>
    [...asked.numbered].some(([word, numbers]) => {
      const there = numbersOf(other, word);
      return (
        there.size > 0 &&
        !haveSame(numbers, there) &&
        named.some(
          (exact) =>
            haveSame(numbers, numbersOf(exact, word)) &&
            sumOf(exact.hit.score) >= OF_ANOTHER * sumOf(other.hit.score),
        )
      );
    });
  return new Set(
    named.flatMap((each) => (hasAnother(each) || isNumberedElse(each) ? [each.hit.ordinal] : [])),
  );
}

/** The share of its sum of terms that a memory keeps which names another thing. */
const OF_ANOTHER = 0.5;

/** The hits, best first, those that name another thing further behind. */
export const anotherBehind = (
  hits: readonly RankedHit[],
  another: ReadonlySet<Ordinal>,
): readonly RankedHit[] =>
  another.size === 0
    ? hits
    : hits
        .map((hit): RankedHit => {
          if (!another.has(hit.ordinal)) return hit;
          const score = scoreOf(sumOf(hit.score) * OF_ANOTHER);
          return { ...hit, score, shares: { ...hit.shares, identifier: score - hit.score } };
        })
        .sort((a, b) => b.score - a.score || b.ordinal - a.ordinal);
