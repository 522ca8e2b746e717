import { crc32 } from "node:zlib";

/** The pieces of a unigram model in flat arrays over one buffer, which threads share; found by a hash of their text. */
export interface PieceTable {
  readonly unknownId: number;
  /** The score of a character without a piece. */
  readonly unknownScore: number;
  /** UTF-16 units of the longest piece. */
  readonly longest: number;
  /** Logarithms of probabilities, by id. */
  readonly scores: Float64Array;
  /** Start of each piece in `characters`, and the end of the last one. */
  readonly starts: Int32Array;
  readonly characters: Uint16Array;
  /** Open addressing: ids plus 1, where 0 is free. */
  readonly slots: Int32Array;
  /** Whether texts are to be brought to NFKC, as SentencePiece does. */
  readonly isUnified: boolean;
}

/** CRC-32 of `precompiled_charsmap` where it is the map of XLM-R and its kin. */
const NMT_NFKC = 0x5bfd09a4;
/** Below the rarest piece's score, as in SentencePiece. */
const UNKNOWN_PENALTY = 10;
export const HASH_START = 0x811c9dc5;

/** FNV-1a over UTF-16 units. */
export const hashOn = (hash: number, unit: number): number => Math.imul(hash ^ unit, 0x01000193);

function slotOf(slots: Int32Array, hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (mixed ^ (mixed >>> 13)) & (slots.length - 1);
}

/** The id of the piece that equals that part of the text, whose hash is given; −1 without one. */
export function find(table: PieceTable, hash: number, text: string, start: number, end: number): number {
  const { slots, starts, characters } = table;
  for (let slot = slotOf(slots, hash); ; slot = (slot + 1) & (slots.length - 1)) {
    const id = (slots[slot] ?? 0) - 1;
    if (id < 0) return -1;
    const at = starts[id] ?? 0;
    if ((starts[id + 1] ?? 0) - at !== end - start) continue;
    let i = start;
    while (i < end && characters[at + i - start] === text.charCodeAt(i)) i++;
    if (i === end) return id;
  }
}

const HEADER_BYTES = 32;

/** The arrays over a buffer that `buildPieceTable` made. */
export function openPieceTable(shared: SharedArrayBuffer): PieceTable {
  const header = new Int32Array(shared, 0, HEADER_BYTES / 4);
  const [pieces = 0, characters = 0, slots = 0, isUnified = 0, longest = 0, unknownId = 0] = header;
  let at = HEADER_BYTES;
  const next = (bytes: number) => (at += bytes) - bytes;
  const scores = new Float64Array(shared, next(8 * (pieces + 1)), pieces + 1);
  return {
    unknownId,
    unknownScore: scores[pieces] ?? 0,
    longest,
    scores,
    starts: new Int32Array(shared, next(4 * (pieces + 1)), pieces + 1),
    slots: new Int32Array(shared, next(4 * slots), slots),
    characters: new Uint16Array(shared, next(2 * characters), characters),
    isUnified: isUnified === 1,
  };
}

/**
 * The pieces of a unigram model's `tokenizer.json`. The marks of the model's own are left out, so that no text can hold one.
 * @throws {TypeError} if the file is of another kind.
 */
export function buildPieceTable(file: Buffer): SharedArrayBuffer {
  const { added_tokens: marks = [], normalizer, model } = JSON.parse(file.toString("utf8")) as TokenizerFile;
  if (model?.type !== "Unigram" || model.unk_id === undefined || model.vocab === undefined)
    throw new TypeError("the tokenizer is not a unigram model with an unknown piece");
  const pieces = model.vocab.map(([piece]) => piece);
  const scores = model.vocab.map(([, score]) => score);
  const characterMap = characterMapIn(normalizer);
  if (characterMap !== "" && crc32(characterMap) !== NMT_NFKC)
    throw new TypeError("the tokenizer unifies characters in a way that is not known here");
  const characters = pieces.reduce((sum, piece) => sum + piece.length, 0);
  // At least twice the pieces, so that a search for a missing piece ends soon.
  const slots = 2 ** Math.ceil(Math.log2(2 * pieces.length + 2));
  const shared = new SharedArrayBuffer(HEADER_BYTES + 12 * (pieces.length + 1) + 4 * slots + 2 * characters);
  const longest = pieces.reduce((most, { length }) => Math.max(most, length), 0);
  new Int32Array(shared, 0, HEADER_BYTES / 4).set([
    pieces.length,
    characters,
    slots,
    characterMap === "" ? 0 : 1,
    longest,
    model.unk_id,
  ]);

  const table = openPieceTable(shared);
  table.scores.set(scores);
  table.scores[pieces.length] = scores.reduce((least, score) => Math.min(least, score), 0) - UNKNOWN_PENALTY;
  const isMark = new Set(marks.map(({ id }) => id)).add(model.unk_id);
  let at = 0;
  for (const [id, piece] of pieces.entries()) {
    table.starts[id] = at;
    let hash = HASH_START;
    for (let i = 0; i < piece.length; i++) {
      const unit = piece.charCodeAt(i);
      table.characters[at++] = unit;
      hash = hashOn(hash, unit);
    }
    if (isMark.has(id)) continue;
    let slot = slotOf(table.slots, hash);
    while (table.slots[slot] !== 0) slot = (slot + 1) & (slots - 1);
    table.slots[slot] = id + 1;
  }
  table.starts[pieces.length] = at;
  return shared;
}

/** The parts of a `tokenizer.json` that are read here. */
interface TokenizerFile {
  readonly added_tokens?: readonly { readonly id: number }[];
  readonly normalizer?: Normalizer | null;
  readonly model?: {
    readonly type?: string;
    readonly unk_id?: number;
    /** Pieces, and the logarithms of their probabilities. */
    readonly vocab?: readonly (readonly [piece: string, score: number])[];
  };
}

type Normalizer = { readonly precompiled_charsmap?: string; readonly normalizers?: readonly Normalizer[] };

/** The base64 text of the character map; empty where the tokenizer has none. */
function characterMapIn(normalizer: Normalizer | null | undefined): string {
  if (normalizer?.precompiled_charsmap !== undefined) return normalizer.precompiled_charsmap;
  return normalizer?.normalizers?.map(characterMapIn).find((map) => map !== "") ?? "";
}
