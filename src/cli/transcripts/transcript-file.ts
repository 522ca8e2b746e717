import { createHash } from "node:crypto";
import { createReadStream, mkdirSync } from "node:fs";
import { open, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Fields, isObject } from "../../config/narrow.ts";
import { jsonElements, MAX_LINE_BYTES, textLines } from "../import/text-lines.ts";
import type { Sendable } from "../import/check-item.ts";
import { listOf, objectOf } from "../import/import-item.ts";
import { jsonOf, readJson, writeJson } from "../../files/own-files.ts";

/** What was found in a transcript and may not all be with the daemon yet. */
export interface Pending {
  readonly items: readonly Sendable[];
  /** The memory that sums up the session. */
  readonly summary?: Sendable["body"];
}

/** What of a transcript must not be taken twice; none of its text but what is pending. */
export interface TranscriptProgress {
  readonly seen: readonly string[];
  readonly conversation?: string;
  readonly folder?: string;
  /** Id of the memory that sums up the session. */
  readonly summary?: string;
  /** Sent again by the next run after one that was killed. */
  readonly pending?: Pending;
}

/** The same with how far the transcript was read. */
export interface TranscriptMark extends TranscriptProgress {
  readonly offset: number;
  /** Of the first bytes: another beginning is another file under the same name. */
  readonly head: string;
  readonly headBytes: number;
}

/** Undefined fields: the line is no JSON object. */
type LineFields = { readonly fields: Fields | undefined };

export interface OpenTranscript {
  readonly path: string;
  /** From the first line that is new to the last one with an end. */
  readonly lines: () => AsyncGenerator<LineFields>;
  /** Epoch milliseconds, for lines without a time; the same at every reading where the system keeps it. */
  readonly began: number;
  readonly mark: TranscriptMark | undefined;
  /** Nothing is new. */
  readonly isRead: boolean;
  /** Keeps how far `lines` came, for the next run. */
  readonly save: (progress: TranscriptProgress) => Promise<void>;
}

const FOLDER = "captured";
const HEAD_BYTES = 1_024;

/** Opens a transcript where the last run ended; from its beginning where it has been cut or replaced. */
export async function openTranscript(dataDir: string, given: string): Promise<OpenTranscript> {
  const path = await realpath(given);
  const { size, birthtimeMs, mtimeMs } = await stat(path);
  const markFile = join(
    dataDir,
    FOLDER,
    `${createHash("sha256").update(path).digest("hex").slice(0, 32)}.json`,
  );
  const known = readMark(markFile);
  const isSame =
    known !== undefined && known.offset <= size && (await headOf(path, known.headBytes)) === known.head;
  const start = isSame ? known.offset : 0;
  const isWhole = path.endsWith(".json");
  let end = start;

  async function* lines(): AsyncGenerator<LineFields> {
    if (isWhole) {
      for await (const element of jsonElements(createReadStream(path))) {
        const value = "value" in element ? objectOf(element.value) : undefined;
        // Read again when it is whole.
        if (value === undefined) return;
        const { messages, ...session } = value;
        yield { fields: session };
        for (const message of listOf(messages)) yield { fields: objectOf(message) };
      }
      end = size;
      return;
    }
    // A line with a broken character may hold what was decided all the same.
    const bytes = createReadStream(path, { start });
    for await (const line of textLines(bytes, MAX_LINE_BYTES, { isLoose: true })) {
      // A line without an end is still written.
      if (line.end === undefined) return;
      end = start + line.end;
      const text = "text" in line ? line.text : undefined;
      if (text?.trim() !== "") yield { fields: objectOf(jsonOf(text ?? "")) };
    }
  }
  return {
    path,
    lines,
    began: Math.round(birthtimeMs > 0 ? Math.min(birthtimeMs, mtimeMs) : mtimeMs),
    mark: known,
    isRead: isSame && known.offset === size,
    async save(progress) {
      const headBytes = Math.min(HEAD_BYTES, end);
      const mark: TranscriptMark = {
        ...progress,
        offset: end,
        headBytes,
        head: await headOf(path, headBytes),
      };
      mkdirSync(join(dataDir, FOLDER), { recursive: true, mode: 0o700 });
      writeJson(markFile, mark);
    },
  };
}

/** Undefined for one that is not there or damaged: then all is read again, and known memories are not added twice. */
function readMark(file: string): TranscriptMark | undefined {
  const value = readJson(file);
  if (!isObject(value)) return undefined;
  const { offset, head, headBytes, seen } = value;
  const isWhole = typeof offset === "number" && typeof head === "string" && typeof headBytes === "number";
  return isWhole && Array.isArray(seen) ? (value as unknown as TranscriptMark) : undefined;
}

async function headOf(path: string, bytes: number): Promise<string> {
  const file = await open(path);
  try {
    const buffer = Buffer.alloc(bytes);
    const { bytesRead } = await file.read(buffer, 0, bytes, 0);
    return createHash("sha256").update(buffer.subarray(0, bytesRead)).digest("hex").slice(0, 32);
  } finally {
    await file.close();
  }
}
