import { Tokenizer } from "@huggingface/tokenizers";
import { type Piece, type PieceReader, type Unit, unitsOf } from "./text-units.ts";

/** The ids below are marks of the model's own ([UNK], [CLS] …) and places it keeps unused. */
const FIRST_WORD_ID = 999;
const PUNCTUATION = /^[\p{P}\p{S}]+$/u;

/** Reads text into the word pieces of a BERT model. */
export class WordPieces implements PieceReader {
  readonly #tokenizer: Tokenizer;

  /** Of the parsed `tokenizer.json` and `tokenizer_config.json` of a BERT model. */
  constructor(tokenizer: object, config: object) {
    this.#tokenizer = new Tokenizer(tokenizer, config);
  }

  units(text: string): Generator<Unit, void> {
    return unitsOf(text, (unit) => this.#read(unit));
  }

  #read(unit: string): Piece[] {
    const { ids, tokens }: { ids: number[]; tokens: string[] } = this.#tokenizer.encode(unit, {
      add_special_tokens: false,
    });
    const words: string[] = [];
    const wordOf = tokens.map((token) => {
      if (token.startsWith("##") && words.length > 0) words[words.length - 1] += token.slice(2);
      else words.push(token);
      return words.length - 1;
    });
    return ids.map((id, i) => {
      const word = words[wordOf[i] ?? 0] ?? "";
      return { id, word, isWord: id >= FIRST_WORD_ID && !PUNCTUATION.test(word) };
    });
  }
}
