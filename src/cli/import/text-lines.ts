import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Progress } from "./import-item.ts";

/** Limits of the files that are read. The message of a refusal names the limit. */

/** Bytes of a line of JSON or a row of CSV: a memory of 200 000 characters, each escaped, and its metadata take 3 MB. */
export const MAX_LINE_BYTES = 16 * 1_024 * 1_024;
/** Bytes of an element of a JSON array: a conversation. */
export const MAX_ELEMENT_BYTES = 64 * 1_024 * 1_024;
export const MAX_ARCHIVE_ENTRIES = 100_000;
export const MAX_NOTE_BYTES = 4 * 1_024 * 1_024;

export type Bytes = AsyncIterable<Uint8Array>;

/** The bytes of a file from `start` on, counted as they are read. */
export async function* readFileBytes(
  path: string,
  progress: Progress,
  start = 0,
): Bytes & AsyncGenerator<Uint8Array> {
  progress.total += (await stat(path)).size - start;
  for await (const chunk of createReadStream(path, { start, highWaterMark: 64 * 1_024 })) {
    yield chunk as Buffer;
    progress.done += (chunk as Buffer).length;
  }
}

export type Line =
  | { readonly number: number; readonly text: string }
  | { readonly number: number; readonly fault: string };
/** A line, and how many bytes there are up to its end; undefined of a last line that has none. */
type PlacedLine = Line & { readonly end: number | undefined };

const NEWLINE = 0x0a;

/**
 * The lines of a text in UTF-8, from 1, without their ends (LF or CRLF) and without a byte order mark; empty ones too. A line that
 * is not UTF-8 has a fault, or the replacement character in place of the bytes that are not if `isLoose`.
 */
export async function* textLines(
  bytes: Bytes,
  maxBytes = MAX_LINE_BYTES,
  { isLoose = false } = {},
): AsyncGenerator<PlacedLine> {
  let parts: Uint8Array[] = [];
  let length = 0;
  let number = 0;
  let before = 0;

  const finish = (end?: number): PlacedLine => {
    number += 1;
    const isLong = length > maxBytes;
    const line = Buffer.concat(parts);
    parts = [];
    length = 0;
    if (isLong) return { number, end, fault: `is longer than ${maxBytes} bytes` };
    try {
      // A decoder of its own for each line leaves out a byte order mark, which only the first may have.
      const text = new TextDecoder("utf-8", { fatal: !isLoose, ignoreBOM: number > 1 }).decode(line);
      return { number, end, text: text.endsWith("\r") ? text.slice(0, -1) : text };
    } catch {
      return { number, end, fault: "is not UTF-8" };
    }
  };
  const keep = (part: Uint8Array): void => {
    length += part.length;
    if (length <= maxBytes) parts.push(part);
    else parts = [];
  };

  for await (const chunk of bytes) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      keep(chunk.subarray(start, end));
      yield finish(before + end + 1);
      start = end + 1;
    }
    if (start < chunk.length) keep(chunk.subarray(start));
    before += chunk.length;
  }
  if (length > 0) yield finish();
}

export type JsonElement =
  | { readonly number: number; readonly value: unknown }
  | { readonly number: number; readonly fault: string };

const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('"\\,[]{}');
const WHITE_SPACE = new Set(Buffer.from(" \t\r\n"));
const BYTE_ORDER_MARK = new Set([0xef, 0xbb, 0xbf]);

/**
 * The elements of a JSON array, from 1, one at a time: no more than one is in memory. A text that is no array is its
 * only element. All that is looked at is where elements end; each is parsed by itself, so a bad one keeps no other out.
 */
export async function* jsonElements(bytes: Bytes, maxBytes = MAX_ELEMENT_BYTES): AsyncGenerator<JsonElement> {
  let parts: Uint8Array[] = [];
  let length = 0;
  let number = 0;
  let depth = 0;
  /** Undefined until the first byte that tells. */
  let isList: boolean | undefined;
  let isOver = false;
  let isText = false;
  let isEscaped = false;

  const keep = (part: Uint8Array): void => {
    length += part.length;
    if (length <= maxBytes) parts.push(part);
    else parts = [];
  };
  const finish = (): JsonElement | undefined => {
    const isLong = length > maxBytes;
    const element = Buffer.concat(parts);
    parts = [];
    length = 0;
    if (isLong) return { number: (number += 1), fault: `is larger than ${maxBytes} bytes` };
    if (element.every((byte) => WHITE_SPACE.has(byte))) return undefined;
    number += 1;
    try {
      const text = new TextDecoder("utf-8", { fatal: true }).decode(element);
      return { number, value: JSON.parse(text) as unknown };
    } catch (error) {
      return { number, fault: error instanceof SyntaxError ? "is not JSON" : "is not UTF-8" };
    }
  };

  for await (const chunk of bytes) {
    let start = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (isText) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isText = false;
        continue;
      }
      if (isList === undefined) {
        if (WHITE_SPACE.has(byte) || BYTE_ORDER_MARK.has(byte)) {
          start = at + 1;
          continue;
        }
        isList = byte === OPEN_LIST;
        if (isList) {
          start = at + 1;
          continue;
        }
      }
      if (byte === QUOTE) isText = true;
      else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth += 1;
      else if (
        (byte === COMMA && depth === 0 && isList) ||
        (byte === CLOSE_LIST && depth === 0 && isList && !isOver)
      ) {
        keep(chunk.subarray(start, at));
        const element = finish();
        if (element !== undefined) yield element;
        start = at + 1;
        if (byte === CLOSE_LIST) isOver = true;
      } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
    }
    if (start < chunk.length) keep(chunk.subarray(start));
  }
  const rest = finish();
  if (isList === false && rest !== undefined) yield rest;
  else if (isList === true && !isOver)
    yield { number: rest?.number ?? number + 1, fault: "is cut off: the file ends in the middle" };
  else if (rest !== undefined) yield { number: rest.number, fault: "stands after the end of the list" };
}
