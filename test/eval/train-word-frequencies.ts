/**
 * Makes `data/word-frequencies.txt` from the piece scores of a multilingual Unigram tokenizer: how common words are in what people
 * write, in a hundred languages. Words are kept as the terms that `analyse` makes of them.
 *
 *   npx jiti test/eval/train-word-frequencies.ts FOLDER/tokenizer.json
 *
 * A score is the natural logarithm of a piece's share of a text in all languages at once. Of a text in the word's own
 * language it is some fifty times that; and a memory has some twenty words.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { analyse } from "../../src/core/text/analyser.ts";

const LANGUAGE_SHARE = 1 / 50;
const WORDS_PER_MEMORY = 20;
/** Rarer words are left out: they count as rare without being listed. */
const LEAST_SHARE = 1 / 128;
const FILE = join(import.meta.dirname, "../../data/word-frequencies.txt");

const { model } = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as {
  readonly model: { readonly vocab: readonly (readonly [piece: string, score: number])[] };
};
const shares = new Map<string, number>();
for (const [piece, score] of model.vocab) {
  const word = piece.replace(/^▁/, "");
  // Without the mark a piece is the end of a word, but for scripts that have no spaces.
  const isWord =
    piece.startsWith("▁") ||
    /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Hangul}]+$/u.test(word);
  if (!isWord || !/^[\p{L}\p{M}]+$/u.test(word)) continue;
  const inText = Math.min(1, Math.exp(score) / LANGUAGE_SHARE);
  for (const term of new Set(analyse(word))) shares.set(term, (shares.get(term) ?? 0) + inText);
}
const levels = new Map<number, string[]>();
for (const [term, inText] of shares) {
  const share = 1 - (1 - Math.min(1, inText)) ** WORDS_PER_MEMORY;
  if (share < LEAST_SHARE) continue;
  const level = Math.max(1, Math.round(-2 * Math.log2(share)));
  levels.set(level, [...(levels.get(level) ?? []), term]);
}
const lines = [...levels]
  .sort(([a], [b]) => a - b)
  .map(([level, terms]) => `${level} ${terms.sort().join(" ")}`);
writeFileSync(FILE, `${lines.join("\n")}\n`);
console.log(`${FILE}: ${[...levels.values()].flat().length} words`);
