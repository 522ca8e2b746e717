/** Texts in pieces, read in parts of any size and never as a whole. The message of a refusal names the limit. */
import { jsonOf } from "../../files/own-files.ts";
import { guessEncoding } from "../../files/text-decoding.ts";

/** Bytes of a line of JSON or a row of CSV: a memory of 200 000 characters, each escaped, and its metadata take 3 MB. */
export const MAX_LINE_BYTES = 16 * 1_024 * 1_024;
/** Bytes of an element of a JSON array: a conversation. */
export const MAX_ELEMENT_BYTES = 64 * 1_024 * 1_024;
export const MAX_ARCHIVE_ENTRIES = 100_000;
export const MAX_NOTE_BYTES = 4 * 1_024 * 1_024;

export type Bytes = AsyncIterable<Uint8Array>;

/** A piece of a text whose end is still looked for; of one that is too long nothing is kept. */
class Piece {
  readonly #maxBytes: number;
  #parts: Uint8Array[] = [];
  length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(part: Uint8Array): void {
    this.length += part.length;
    if (this.length <= this.#maxBytes) this.#parts.push(part);
    else this.#parts = [];
  }

  /** Its bytes, and none from then on; undefined if it was too long. */
  take(): Buffer | undefined {
    const bytes = this.length > this.#maxBytes ? undefined : Buffer.concat(this.#parts);
    this.#parts = [];
    this.length = 0;
    return bytes;
  }
}

export type Line =
  | { readonly number: number; readonly text: string }
  | { readonly number: number; readonly fault: string };
/** A line, and whether it has an end: the last one may be written still. */
type WrittenLine = Line & { readonly isEnded: boolean };

export const NOT_UTF8 = "is not UTF-8";

/** Says that bytes are not UTF-8, and which encoding they seem to have. */
export function notUtf8(bytes: Uint8Array): string {
  const { encoding } = guessEncoding(bytes);
  return `${NOT_UTF8}; name its encoding: --encoding ${encoding}, which it looks like, or another one`;
}

const NEWLINE = 0x0a;

/** The lines of bytes, without the line feed that ends each; undefined in place of one that is longer than `maxBytes`. */
export async function* byteLines(
  bytes: Bytes,
  maxBytes: number,
): AsyncGenerator<{ readonly line: Buffer | undefined; readonly isEnded: boolean }> {
  const piece = new Piece(maxBytes);
  for await (const chunk of bytes) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      piece.add(chunk.subarray(start, end));
      yield { line: piece.take(), isEnded: true };
      start = end + 1;
    }
    piece.add(chunk.subarray(start));
  }
  if (piece.length > 0) yield { line: piece.take(), isEnded: false };
}

/**
 * The lines of a text in UTF-8, from 1, without their ends (LF or CRLF) and without a byte order mark; empty ones too. A line that
 * is not UTF-8 has a fault, or the replacement character in place of the bytes that are not if `isLoose`.
 */
export async function* textLines(
  bytes: Bytes,
  maxBytes = MAX_LINE_BYTES,
  { isLoose = false } = {},
): AsyncGenerator<WrittenLine> {
  let number = 0;
  const read = (line: Buffer | undefined): { readonly text: string } | { readonly fault: string } => {
    if (line === undefined) return { fault: `is longer than ${maxBytes} bytes` };
    try {
      // A decoder of its own for each line leaves out a byte order mark, which only the first may have.
      const text = new TextDecoder("utf-8", { fatal: !isLoose, ignoreBOM: number > 1 }).decode(line);
      return { text: text.endsWith("\r") ? text.slice(0, -1) : text };
    } catch {
      return { fault: NOT_UTF8 };
    }
  };
  for await (const { line, isEnded } of byteLines(bytes, maxBytes)) {
    number += 1;
    yield { number, isEnded, ...read(line) };
  }
}

export type JsonElement =
  | { readonly number: number; readonly value: unknown }
  | { readonly number: number; readonly fault: string };

const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('"\\,[]{}');
/** White space and the byte order mark. */
const BLANK = new Set(Buffer.from(" \t\r\n\ufeff"));

/**
 * The elements of a JSON array, from 1, one at a time: no more than one is in memory. A text that is no array is its
 * only element. All that is looked at is where elements end; each is parsed by itself, so a bad one keeps no other out.
 */
export async function* jsonElements(bytes: Bytes, maxBytes = MAX_ELEMENT_BYTES): AsyncGenerator<JsonElement> {
  const piece = new Piece(maxBytes);
  let number = 0;
  let depth = 0;
  /** Undefined until the first byte that tells. */
  let isList: boolean | undefined;
  let isOver = false;
  let isText = false;
  let isEscaped = false;
  const finish = (): JsonElement | undefined => {
    const element = piece.take();
    if (element?.every((byte) => BLANK.has(byte)) === true) return undefined;
    number += 1;
    if (element === undefined) return { number, fault: `is larger than ${maxBytes} bytes` };
    try {
      const value = jsonOf(new TextDecoder("utf-8", { fatal: true }).decode(element));
      return value === undefined ? { number, fault: "is not JSON" } : { number, value };
    } catch {
      return { number, fault: NOT_UTF8 };
    }
  };

  for await (const chunk of bytes) {
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (isText) {
        if (byte === QUOTE && !isEscaped) isText = false;
        isEscaped = byte === BACKSLASH && !isEscaped;
      } else if (isList === undefined && (BLANK.has(byte) || byte === OPEN_LIST)) {
        if (byte === OPEN_LIST) isList = true;
        start = at + 1;
      } else if (depth === 0 && isList === true && !isOver && (byte === COMMA || byte === CLOSE_LIST)) {
        piece.add(chunk.subarray(start, at));
        const element = finish();
        if (element !== undefined) yield element;
        start = at + 1;
        isOver = byte === CLOSE_LIST;
      } else {
        isList ??= false;
        if (byte === QUOTE) isText = true;
        else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth += 1;
        else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
      }
    }
    piece.add(chunk.subarray(start));
  }
  const rest = finish();
  if (isList === true && !isOver)
    yield { number: rest?.number ?? number + 1, fault: "is cut off: the file ends in the middle" };
  else if (rest !== undefined)
    yield isOver ? { number: rest.number, fault: "stands after the end of the list" } : rest;
}
