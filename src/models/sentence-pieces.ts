import { fold } from "../core/text/fold.ts";
import { find, HASH_START, hashOn, openPieceTable, type PieceTable } from "./piece-table.ts";
import { type Piece, type PieceReader, type Unit, unitsOf } from "./text-units.ts";

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
 * @see Kudo, "Subword Regularization", ACL 2018
 */
export class SentencePieces implements PieceReader {
  readonly #table: PieceTable;
  readonly #normalise: (text: string) => string;

  /** @param shared what `buildPieceTable` made; threads may read it at the same time. */
  constructor(shared: SharedArrayBuffer) {
    this.#table = openPieceTable(shared);
    this.#normalise = readCharacterMap(this.#table.characterMap);
  }

  units(text: string): Generator<Unit, void> {
    return unitsOf(text, (unit, isRunStart) => this.#read(unit, isRunStart));
  }

  #read(unit: string, isRunStart: boolean): Piece[] {
    const found: { readonly id: number; readonly text: string }[] = [];
    const words = this.#normalise(unit).split(/[ ▁]+/u);
    for (const [i, word] of words.entries()) {
      if (word === "") continue;
      const spaced = i > 0 || isRunStart ? SPACE + word : word;
      found.push(...cut(this.#table, spaced));
    }
    return withWords(found, this.#table.unknownId);
  }
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

/** Bits of a node of the trie, as darts-clone lays them out. */
const HAS_LEAF = 1 << 8;
const LABEL = 0x800000ff | 0;
const VALUE = 0x7fffffff;
const WIDE_OFFSET = 1 << 9;

/**
 * The map by which a SentencePiece model unifies characters before it looks for pieces (`precompiled_charsmap`): a trie over UTF-8
 * bytes, whose longest match is replaced by a text. Without a map, texts stay as they are.
 * @see https://github.com/google/sentencepiece/blob/master/doc/normalization.md
 */
function readCharacterMap(map: Uint8Array): (text: string) => string {
  if (map.length < 4) return (text) => text;
  const view = new DataView(map.buffer, map.byteOffset, map.byteLength);
  const trieBytes = view.getUint32(0, true);
  const trie = Int32Array.from({ length: trieBytes / 4 }, (_, i) => view.getInt32(4 + 4 * i, true));
  const replacements = map.subarray(4 + trieBytes);
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  const replacementAt = (start: number) =>
    // A copy: a decoder takes no shared memory.
    decoder.decode(replacements.slice(start, replacements.indexOf(0, start)));

  return (text) => {
    // Printable ASCII is never replaced.
    if (/^[ -~]*$/.test(text)) return text;
    const bytes = encoder.encode(text);
    let normalised = "";
    let done = 0;
    for (let at = 0; at < bytes.length;) {
      const { length, value } = longestMatch(trie, bytes, at);
      const end = at + (length || bytesOfCharacter(bytes[at] ?? 0));
      if (length > 0) {
        normalised += decoder.decode(bytes.subarray(done, at)) + replacementAt(value);
        done = end;
      }
      at = end;
    }
    return normalised + decoder.decode(bytes.subarray(done));
  };
}

/** The longest key at that place, and where its replacement starts; length 0 without one. */
function longestMatch(trie: Int32Array, bytes: Uint8Array, at: number): { length: number; value: number } {
  const match = { length: 0, value: 0 };
  let node = offsetOf(trie[0] ?? 0);
  for (let i = at; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    node ^= byte;
    const unit = trie[node] ?? 0;
    if ((unit & LABEL) !== byte) break;
    node ^= offsetOf(unit);
    if ((unit & HAS_LEAF) === 0) continue;
    match.length = i + 1 - at;
    match.value = (trie[node] ?? 0) & VALUE;
  }
  return match;
}

const offsetOf = (unit: number): number => (unit >>> 10) << ((unit & WIDE_OFFSET) >>> 6);

function bytesOfCharacter(first: number): number {
  return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}
