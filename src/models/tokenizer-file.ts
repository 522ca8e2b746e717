/** The parts of a `tokenizer.json` that are read here, besides the pieces. */
export interface TokenizerRest {
  readonly added_tokens?: readonly { readonly id: number }[];
  readonly normalizer?: Normalizer | null;
  readonly model?: { readonly type?: string; readonly unk_id?: number };
}

interface Normalizer {
  readonly precompiled_charsmap?: string;
  readonly normalizers?: readonly Normalizer[];
}

export interface TokenizerFile {
  readonly pieces: readonly string[];
  /** Logarithms of probabilities, one per piece. */
  readonly scores: Float64Array;
  /** The JSON without the pieces. */
  readonly rest: string;
}

/** A piece and its score, as in `["▁the", -3.5],`. */
const PIECE = /\s*\[\s*("(?:[^"\\]|\\.)*")\s*,\s*(-?\d[\d.eE+-]*)\s*\]\s*(?:,|(?=\]))/y;

/**
 * Reads a unigram model's `tokenizer.json` piece by piece: parsed as one JSON text, its list of 250 000 pieces takes 200 MB.
 *
 * @throws {TypeError} if the file is not of that layout.
 */
export function readTokenizerFile(file: Buffer): TokenizerFile {
  const text = file.toString("utf8");
  const [opening = ""] = /"vocab"\s*:\s*\[/.exec(text) ?? [];
  const start = text.indexOf(opening) + opening.length;
  if (opening === "") throw malformed();
  const pieces: string[] = [];
  const scores: number[] = [];
  let end = start;
  PIECE.lastIndex = start;
  for (let found = PIECE.exec(text); found !== null; found = PIECE.exec(text)) {
    const [, piece = "", score] = found;
    pieces.push(piece.includes("\\") ? (JSON.parse(piece) as string) : piece.slice(1, -1));
    scores.push(Number(score));
    end = PIECE.lastIndex;
  }
  const rest = text.slice(end);
  if (!/^\s*\]/.test(rest) || !scores.every(Number.isFinite)) throw malformed();
  return { pieces, scores: Float64Array.from(scores), rest: text.slice(0, start) + rest };
}

/** The base64 text of the character map; empty where the tokenizer has none. */
export function characterMapIn(normalizer: Normalizer | null | undefined): string {
  if (normalizer?.precompiled_charsmap !== undefined) return normalizer.precompiled_charsmap;
  return normalizer?.normalizers?.map(characterMapIn).find((map) => map !== "") ?? "";
}

function malformed(): TypeError {
  return new TypeError("tokenizer.json is not of a unigram model: its list of pieces cannot be read");
}
