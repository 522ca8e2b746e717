/** What of a `tokenizer.json` is read here, besides the pieces. */
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
  /** Logarithms of probabilities, one a piece. */
  readonly scores: Float64Array;
  /** The JSON without the pieces. */
  readonly rest: string;
}

/**
 * Reads a unigram model's `tokenizer.json` byte by byte: parsed as one JSON text, its list of 250 000 pieces takes 200 MB.
 *
 * @throws {TypeError} if the file is not of that layout.
 */
export function readTokenizerFile(file: Buffer): TokenizerFile {
  const key = file.indexOf('"vocab"');
  const scan = new Scanner(file, key + '"vocab"'.length);
  if (key < 0 || !scan.takes(":") || !scan.takes("[")) throw malformed();
  const start = scan.at - 1;
  const pieces: string[] = [];
  const scores: number[] = [];
  while (!scan.takes("]")) {
    if (!scan.takes("[")) throw malformed();
    pieces.push(scan.string());
    if (!scan.takes(",")) throw malformed();
    scores.push(scan.number());
    if (!scan.takes("]")) throw malformed();
    scan.takes(",");
  }
  return {
    pieces,
    scores: Float64Array.from(scores),
    rest: `${file.toString("utf8", 0, start)}[]${file.toString("utf8", scan.at)}`,
  };
}

/** The base64 text of the character map; empty where the tokenizer has none. */
export function characterMapIn(normalizer: Normalizer | null | undefined): string {
  if (normalizer?.precompiled_charsmap !== undefined) return normalizer.precompiled_charsmap;
  return normalizer?.normalizers?.map(characterMapIn).find((map) => map !== "") ?? "";
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];

class Scanner {
  readonly #file: Buffer;
  at: number;

  constructor(file: Buffer, at: number) {
    this.#file = file;
    this.at = at;
  }

  /** Whether the sign comes next, but for white space, and steps over it. */
  takes(sign: string): boolean {
    while ((this.#file[this.at] ?? 0x21) <= 0x20) this.at++;
    const isNext = this.#file[this.at] === sign.charCodeAt(0);
    if (isNext) this.at++;
    return isNext;
  }

  string(): string {
    if (!this.takes('"')) throw malformed();
    const start = this.at;
    let isPlain = true;
    for (; this.#file[this.at] !== QUOTE; this.at++) {
      if (this.at >= this.#file.length) throw malformed();
      if (this.#file[this.at] !== BACKSLASH) continue;
      isPlain = false;
      this.at++;
    }
    const text = this.#file.toString("utf8", start, this.at++);
    return isPlain ? text : (JSON.parse(`"${text}"`) as string);
  }

  number(): number {
    while ((this.#file[this.at] ?? 0x21) <= 0x20) this.at++;
    const start = this.at;
    // Until the comma, bracket or white space behind it.
    while ((this.#file[this.at] ?? 0) > 0x20 && this.#file[this.at] !== 0x2c && this.#file[this.at] !== 0x5d)
      this.at++;
    const value = Number(this.#file.toString("latin1", start, this.at));
    if (start === this.at || !Number.isFinite(value)) throw malformed();
    return value;
  }
}

function malformed(): TypeError {
  return new TypeError("tokenizer.json is not of a unigram model: its list of pieces cannot be read");
}
