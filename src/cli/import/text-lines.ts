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

/** The bytes of a file, counted as they are read. */
export async function* readFileBytes(path: string, progress: Progress): Bytes & AsyncGenerator<Uint8Array> {
  progress.total += (await stat(path)).size;
  for await (const chunk of createReadStream(path, { highWaterMark: 64 * 1_024 })) {
    yield chunk as Buffer;
    progress.done += (chunk as Buffer).length;
  }
}

export type Line =
  | { readonly number: number; readonly text: string }
  | { readonly number: number; readonly fault: string };

const NEWLINE = 0x0a;

/** The lines of a text in UTF-8, from 1, without their ends (LF or CRLF) and without a byte order mark; empty ones too. */
export async function* textLines(bytes: Bytes, maxBytes = MAX_LINE_BYTES): AsyncGenerator<Line> {
  let parts: Uint8Array[] = [];
  let length = 0;
  let number = 0;

  const finish = (): Line => {
    number += 1;
    const isLong = length > maxBytes;
    const line = Buffer.concat(parts);
    parts = [];
    length = 0;
    if (isLong) return { number, fault: `is longer than ${maxBytes} bytes` };
    try {
      // A decoder of its own for each line leaves out a byte order mark, which only the first may have.
      const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: number > 1 }).decode(line);
      return { number, text: text.endsWith("\r") ? text.slice(0, -1) : text };
    } catch {
      return { number, fault: "is not UTF-8" };
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
      yield finish();
      start = end + 1;
    }
    if (start < chunk.length) keep(chunk.subarray(start));
  }
  if (length > 0) yield finish();
}
