import { expression } from "./expression.ts";
import { fold, matchesOf } from "./fold.ts";
import { fromLanguages, wordsOfAll } from "./languages.ts";

/** The words of all languages for a change, an end or a correction, and for what denies one. */
const CHANGE = fromLanguages((languages) => {
  const { fromMonth, unspaced, denied, denying, weak, ...change } = wordsOfAll(languages, "change");
  const words = change.words
    .replaceAll("*", String.raw`\p{L}*`)
    .replaceAll(" … ", String.raw` (?:[\p{L}'’]{1,20} ){1,5}`)
    .replaceAll("@", String.raw`[\p{L}'’]{1,20}`);
  // "From June", "ab Juni".
  const inMonth = `(?:${fromMonth}) (?:${wordsOfAll(languages, "time").months})`;
  const wordsOfChange = expression(
    String.raw`(?<![\p{L}\p{N}_'’]|\bto )(?:${inMonth}|${words})(?![\p{L}\p{N}_])|${unspaced}`,
    "g",
  );
  // V8 interprets a pattern the first time and compiles it for the next: interpreting this one over a note takes .4 s.
  wordsOfChange.exec("");
  return {
    words: wordsOfChange,
    /** "Not removed", "nobody resumed": what was denied did not change. */
    denied: expression(String.raw`(?:(?<!\p{L})(?:${denied})|n['’]t) (?:[\p{L}'’]{1,12} ){0,2}$`),
    /** Words of change that deny ("no longer") stand for themselves. */
    denying: expression(String.raw`^(?:${denying})(?!\p{L})`),
    weak: expression(`^(?:${weak})$`),
  };
});
/** Characters of a text that are searched. */
const SEARCHED_CHARS = 2_000;

/** The words of change in a text, folded, but for those that it denies. */
export function changeWords(text: string): Set<string> {
  const folded = searched(text);
  const found = new Set<string>();
  const { words, denied, denying } = CHANGE();
  for (const { 0: word, index } of matchesOf(words, folded))
    if (denying.test(word) || !denied.test(folded.slice(Math.max(0, index - 40), index))) found.add(word);
  return found;
}

/** Whether a word of change is ambiguous: "new". */
export const isWeakChange = (word: string): boolean => CHANGE().weak.test(word);

const STANDING = fromLanguages((languages) => {
  const { warning, warningUnspaced, doseUnits, open } = wordsOfAll(languages, "change");
  const word = (pattern: string) => String.raw`(?<![\p{L}\p{N}])(?:${pattern})(?![\p{L}\p{N}])`;
  return {
    warning: expression(`${word(warning)}|${warningUnspaced}`),
    dose: expression(word(String.raw`\d[\d.,]* ?(?:${doseUnits})`)),
    open: expression(String.raw`^\s*(?:[-*] )?\[ \]|(?<!\p{L})(?:${open})(?!\p{L})`),
  };
});
const searched = (text: string): string => fold(text.slice(0, SEARCHED_CHARS));

/** Whether a note tells a prohibition, an allergy, a danger or another warning. */
export const isWarning = (text: string): boolean => STANDING().warning.test(searched(text));

/** Whether a note must never be taken for replaced by a guess: a warning, a dose, or something open. */
export function isStanding(text: string): boolean {
  const folded = searched(text);
  return Object.values(STANDING()).some((pattern) => pattern.test(folded));
}
