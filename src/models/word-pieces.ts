import { Tokenizer } from "@huggingface/tokenizers";
import { STOP_WORDS } from "../core/text/stop-words.ts";

/**
 * A run of text without white space, or a part of a very long one: what windows are cut between. The tokenizer reads
 * each on its own, which gives the same pieces as reading the text at once and tells where in the text they are.
 */
export interface Unit {
  /** In UTF-16 units; never inside a surrogate pair. */
  readonly start: number;
  readonly end: number;
  readonly pieces: readonly Piece[];
}

export interface Piece {
  readonly id: number;
  /** The whole word that it is a piece of, lower case and without accents. */
  readonly word: string;
  /** False for punctuation and for what the model has no piece for. */
  readonly isWord: boolean;
}

/**
 * Longer runs are cut: the tokenizer gives up on a word of more than 100 letters, and writing without spaces has to be
 * cut somewhere. Short enough that windows fill up well with it. In UTF-16 units.
 */
export const MAX_UNIT = 32;

/** The ids below are marks of the model's own ([UNK], [CLS] …) and places it keeps unused. */
const FIRST_WORD_ID = 999;
const PUNCTUATION = /^[\p{P}\p{S}]+$/u;

/** Reads text into word pieces. */
export class WordPieces {
  readonly #tokenizer: Tokenizer;

  /** Of the parsed `tokenizer.json` and `tokenizer_config.json` of a BERT model. */
  constructor(tokenizer: object, config: object) {
    this.#tokenizer = new Tokenizer(tokenizer, config);
  }

  /** The units of a text, in order, read as they are asked for. */
  *units(text: string): Generator<Unit, void> {
    for (const { index, 0: run } of text.matchAll(/\S+/g)) {
      let start = 0;
      while (start < run.length) {
        const end = unitEnd(run, start);
        yield { start: index + start, end: index + end, pieces: this.#read(run.slice(start, end)) };
        start = end;
      }
    }
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

/** Whether token matching keeps a piece: of a word, and not of a stop word. */
export function isKept(piece: Piece): boolean {
  return piece.isWord && !STOP_WORDS.has(piece.word);
}

/** Where the unit that starts there ends: the run's end, or in a long run after the last sign between words. */
function unitEnd(run: string, start: number): number {
  const limit = start + MAX_UNIT;
  if (run.length <= limit) return run.length;
  const shortest = start + MAX_UNIT / 2;
  for (let end = limit; end > shortest; end--) {
    if (/[^\p{L}\p{N}\p{M}\p{Cs}]/u.test(run.charAt(end - 1))) return end;
  }
  return splitsPair(run, limit) ? limit - 1 : limit;
}

function splitsPair(text: string, at: number): boolean {
  return (text.codePointAt(at - 1) ?? 0) > 0xffff;
}
