/**
 * The pieces of texts as memoryd reads them, and how much each counts in token matching: the root of its word's inverse document
 * frequency in an empty store, 0 for stop words and punctuation.
 *
 *   npx jiti test/eval/encoder/pieces.ts TEXTS.json OUT.bin
 *
 * OUT: for each text its number of pieces (uint32), for each piece its id (uint32) and weight × 80 (uint32), little-endian.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { analyse } from "../../../src/core/text/analyser.ts";
import { termWeights } from "../../../src/core/recall/bm25.ts";
import { readWordFrequencies } from "../../../src/core/text/stop-words.ts";
import { MEMORYD_E5 } from "../../../src/models/bundled-models.ts";
import { openPieceReader } from "../../../src/models/tokenizer/piece-reader.ts";
import { isKept } from "../../../src/models/windows.ts";

/** More are cut: texts of training are short. */
const MOST_PIECES = 72;
const SCALE = 80;

const [source, out] = process.argv.slice(2);
if (source === undefined || out === undefined) throw new Error("usage: pieces.ts TEXTS.json OUT.bin");
const texts = JSON.parse(readFileSync(source, "utf8")) as string[];
const { reader } = await openPieceReader(MEMORYD_E5);
const frequencies = readWordFrequencies(
  readFileSync(new URL("../../../data/word-frequencies.txt", import.meta.url), "utf8"),
);
const weights = termWeights(
  { memories: 0, totalLength: 0, memoriesWith: () => 0, termsNear: () => [] },
  frequencies,
);
const weightOf = new Map<string, number>();
const weigh = (word: string) => {
  let weight = weightOf.get(word);
  if (weight === undefined) {
    weight = Math.round(SCALE * Math.sqrt(weights.inverseDocumentFrequency(analyse(word)[0] ?? word)));
    weightOf.set(word, weight);
  }
  return weight;
};
const numbers: number[] = [];
for (const text of texts) {
  const pieces = Array.from(reader.units(text), (unit) => unit.pieces)
    .flat()
    .slice(0, MOST_PIECES);
  numbers.push(pieces.length);
  for (const piece of pieces) numbers.push(piece.id, isKept(piece) ? weigh(piece.word) : 0);
}
writeFileSync(out, Uint32Array.from(numbers));
