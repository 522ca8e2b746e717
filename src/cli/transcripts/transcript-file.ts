import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Fields, isObject } from "../../config/narrow.ts";
import { jsonOf, makeFolder, readJson, writeJson } from "../../files/own-files.ts";
import type { Sendable } from "../import/check-item.ts";
import { listOf, objectOf } from "../import/import-item.ts";
import { jsonElements, MAX_LINE_BYTES, textLines } from "../import/text-lines.ts";

/** The parts of a transcript that must not be imported twice; only pending ones hold its text. */
export interface TranscriptMark {
  /** As the transcript's was when it was read. */
  readonly look: string;
  /** Hashes of the imported statements. */
  readonly seen: readonly string[];
  /** Id of the memory that sums up the session. */
  readonly summary?: string;
  /** Statements that the daemon may not have stored: a run that was killed leaves them for the next one. */
  readonly pending?: { readonly items: readonly Sendable[]; readonly summary?: Sendable["body"] };
}

export interface OpenTranscript {
  readonly path: string;
  /** Up to the last line with an end; undefined for a line that is no JSON object. */
  readonly lines: () => AsyncGenerator<Fields | undefined>;
  /** Epoch milliseconds, for lines without a time; the same at every reading where the system keeps it. */
  readonly began: number;
  readonly mark: TranscriptMark | undefined;
  /** Equal while the transcript has not changed, as far as its size and time tell. */
  readonly look: string;
  readonly save: (mark: TranscriptMark) => void;
}

const FOLDER = "captured";

export async function openTranscript(dataDir: string, given: string): Promise<OpenTranscript> {
  const path = await realpath(given);
  const { size, birthtimeMs, mtimeMs } = await stat(path);
  const name = createHash("sha256").update(path).digest("hex").slice(0, 32);
  const markFile = join(dataDir, FOLDER, `${name}.json`);
  const known = readJson(markFile);
  // Without a mark, or with a damaged one, all is taken again, and known memories are not added twice.
  const mark = isObject(known) && Array.isArray(known["seen"]) ? known : undefined;
  return {
    path,
    lines: () => (path.endsWith(".json") ? linesOfWhole(path) : linesOf(path)),
    began: Math.round(birthtimeMs > 0 ? Math.min(birthtimeMs, mtimeMs) : mtimeMs),
    mark: mark as unknown as TranscriptMark | undefined,
    look: `${size}/${mtimeMs}`,
    save(next) {
      makeFolder(join(dataDir, FOLDER));
      writeJson(markFile, next);
    },
  };
}

async function* linesOf(path: string): AsyncGenerator<Fields | undefined> {
  // A line with a broken character may hold what was decided all the same.
  for await (const line of textLines(createReadStream(path), MAX_LINE_BYTES, { isLoose: true })) {
    const text = "text" in line ? line.text : undefined;
    // A line without an end is still written.
    if (line.end !== undefined && text?.trim() !== "") yield objectOf(jsonOf(text ?? ""));
  }
}

/** A session in one object with its messages; one that is still written has no lines yet. */
async function* linesOfWhole(path: string): AsyncGenerator<Fields | undefined> {
  for await (const element of jsonElements(createReadStream(path))) {
    const { messages, ...session } = ("value" in element ? objectOf(element.value) : undefined) ?? {};
    yield session;
    yield* listOf(messages).map(objectOf);
  }
}
