import { Tokenizer } from "@huggingface/tokenizers";
import { fold } from "../../core/text/fold.ts";
import { type EmbeddingModel, readVerified } from "../bundled-models.ts";
import { buildPieceTable, find, HASH_START, hashOn, openPieceTable, type PieceTable } from "./piece-table.ts";
import { readPieceTable } from "./piece-table-file.ts";
import { type Piece, type PieceReader, unitsOf } from "../windows.ts";

export interface OpenedPieceReader {
  readonly reader: PieceReader;
  /** For readers in other threads; absent for models that do not share their pieces. */
  readonly pieceTable?: SharedArrayBuffer;
}

/**
 * The tokenizer of a model. For the 250 000 pieces of a multilingual model it takes long and much memory without the
 * `pieceTable` of an earlier call.
 * @throws {ServiceError} MODEL_UNAVAILABLE if a file is missing or not the expected one.
 */
export async function openPieceReader(
  { kind, files }: Pick<EmbeddingModel, "kind" | "files">,
  pieceTable?: SharedArrayBuffer,
): Promise<OpenedPieceReader> {
  if (kind === "xlm-roberta") {
    const table =
      pieceTable ??
      (await readPieceTable(files.tokenizer)) ??
      buildPieceTable(await readVerified(files.tokenizer));
    return { reader: sentencePieces(table), pieceTable: table };
  }
  const [tokenizer, config] = await Promise.all([
    readVerified(files.tokenizer),
    readVerified(files.tokenizerConfig),
  ]);
  return {
    reader: wordPieces(
      JSON.parse(tokenizer.toString("utf8")) as object,
      JSON.parse(config.toString("utf8")) as object,
    ),
  };
}

/** The model's own marks ([UNK], [CLS] …) and unused pieces. */
const MARK = /^\[(?:[A-Z]+|unused\d+)\]$/;
const PUNCTUATION = /^[\p{P}\p{S}]+$/u;

/** Reads text into the word pieces of a BERT model, by its parsed `tokenizer.json` and `tokenizer_config.json`. */
function wordPieces(json: object, config: object): PieceReader {
  // Units are short, and windows are cut elsewhere.
  const tokenizer = new Tokenizer({ ...json, padding: null, truncation: null }, config);
  const read = (unit: string): Piece[] => {
    const { ids, tokens }: { ids: number[]; tokens: string[] } = tokenizer.encode(unit, {
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
      return { id, word: fold(word), isWord: !MARK.test(tokens[i] ?? "") && !PUNCTUATION.test(word) };
    });
  };
  return { units: (text) => unitsOf(text, read) };
}

/** Stands for a space before a word, in pieces and in text alike. */
const SPACE = "▁";

/** Scripts in which a run of letters is many words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u;
const STARTS_WORD = /^[\p{L}\p{N}\p{M}]/u;
const AROUND_WORD = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}\p{M}]+$/gu;

/**
 * Reads text into the pieces of a SentencePiece unigram model (XLM-R and its kin): of all ways to cut a word into
 * pieces the likeliest one.
 * @param shared what `buildPieceTable` made; threads may read it at the same time.
 * @see Kudo, "Subword Regularization", ACL 2018
 */
export function sentencePieces(shared: SharedArrayBuffer): PieceReader {
  const table = openPieceTable(shared);
  const read = (unit: string, isRunStart: boolean): Piece[] => {
    const found: { readonly id: number; readonly text: string }[] = [];
    const words = (table.isUnified ? unify(unit) : unit).split(/[ ▁]+/u);
    for (const [i, word] of words.entries()) {
      if (word === "") continue;
      const spaced = i > 0 || isRunStart ? SPACE + word : word;
      found.push(...cut(table, spaced));
    }
    return withWords(found, table.unknownId);
  };
  return { units: (text) => unitsOf(text, read) };
}

/** Gives each piece the word that it is a part of. */
function withWords(
  pieces: readonly { readonly id: number; readonly text: string }[],
  unknownId: number,
): Piece[] {
  const words: string[] = [];
  let goesOn = false;
  const wordOf = pieces.map(({ text }) => {
    const isUnspaced = UNSPACED.test(text);
    if (goesOn && !isUnspaced && STARTS_WORD.test(text)) words[words.length - 1] += text;
    else words.push(text.replace(SPACE, ""));
    goesOn = !isUnspaced && (text === SPACE || LETTER_OR_DIGIT.test(text));
    return words.length - 1;
  });
  const folded = words.map((word) => fold(word).replace(AROUND_WORD, ""));
  return pieces.map(({ id, text }, i) => ({
    id,
    word: folded[wordOf[i] ?? 0] ?? "",
    isWord: id !== unknownId && LETTER_OR_DIGIT.test(text),
  }));
}

/** The likeliest pieces of a text; neighbouring characters that no piece has become one unknown piece. */
function cut(table: PieceTable, text: string): { id: number; text: string }[] {
  const { length } = text;
  const best = new Float64Array(length + 1).fill(-Infinity);
  const startOf = new Int32Array(length + 1);
  const idOf = new Int32Array(length + 1);
  best[0] = 0;
  for (let start = 0; start < length; start++) {
    const before = best[start] ?? -Infinity;
    // Inside a surrogate pair.
    if (before === -Infinity) continue;
    const character = (text.codePointAt(start) ?? 0) > 0xffff ? 2 : 1;
    let hasCharacter = false;
    let hash = HASH_START;
    const last = Math.min(length, start + table.longest);
    for (let end = start + 1; end <= last; end++) {
      hash = hashOn(hash, text.charCodeAt(end - 1));
      const id = find(table, hash, text, start, end);
      if (id < 0) continue;
      if (end - start === character) hasCharacter = true;
      const score = before + (table.scores[id] ?? 0);
      if (score > (best[end] ?? 0)) {
        best[end] = score;
        startOf[end] = start;
        idOf[end] = id;
      }
    }
    const end = start + character;
    const score = before + table.unknownScore;
    if (!hasCharacter && score > (best[end] ?? 0)) {
      best[end] = score;
      startOf[end] = start;
      idOf[end] = table.unknownId;
    }
  }

  const pieces: { id: number; text: string }[] = [];
  for (let end = length; end > 0;) {
    const start = startOf[end] ?? 0;
    const id = idOf[end] ?? 0;
    const next = pieces.at(-1);
    if (next !== undefined && id === table.unknownId && next.id === id)
      next.text = text.slice(start, end) + next.text;
    else pieces.push({ id, text: text.slice(start, end) });
    end = start;
  }
  return pieces.reverse();
}

/** Characters that the map drops, and those that it makes a space, besides NFKC. */
// oxlint-disable-next-line no-control-regex
const DROPPED = /[\u0001-\u0008\u000b\u000e-\u001f\u007f\u008f\u009f]/g;
const SPACES = /[\t\n\f\r\u1680\u200b-\u200f\u2028\u2029▁\ufeff\ufffd]/g;
/** Stays as it is, unlike in NFKC. */
const WIDE_TILDE = "～";

/**
 * Unifies characters as SentencePiece's usual map (`nmt_nfkc`) does, which is NFKC with few exceptions; of all code points only
 * those differ that Unicode added after that map was made.
 * @see https://github.com/google/sentencepiece/blob/master/doc/normalization.md
 */
const unify = (text: string): string =>
  text
    .replace(DROPPED, "")
    .replace(SPACES, " ")
    .split(WIDE_TILDE)
    .map((part) => part.normalize("NFKC"))
    .join(WIDE_TILDE);
