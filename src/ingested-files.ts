/** Which files became which documents: the command line notes it in the data directory, and both sides forget. */
import { appendFileSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError } from "./core/errors.ts";
import { boolean, type Formed, nullable, optional, record, string } from "./json-form.ts";
import { hasCode, nodeDisk, replaceFile } from "./storage/disk.ts";
import type { Originals } from "./storage/erasure.ts";
import { claimRight, rightFile } from "./storage/lock.ts";
import { whereDataIs } from "./storage/moved.ts";

const Line = record({
  path: string,
  user: nullable(string),
  project: nullable(string),
  /** Null: the file is none any more. */
  document: nullable(string),
  sha256: optional(string),
  own: optional(boolean),
});
type Line = Formed<typeof Line>;

/** What the last line of a path says. */
export type IngestedFile = Omit<Line, "document"> & { readonly document: string };

export interface IngestedFiles {
  readonly files: readonly IngestedFile[];
  /** True where more stands on the disk than that: older lines, and paths that stand for nothing. */
  readonly hasMore: boolean;
}

const FILE = "ingested.ndjson";
const RIGHT = "ingested";
const RETRY_MS = 20;
/** Whoever holds the right does so for one read and one write. */
const PATIENCE_MS = 10_000;

export function readIngested(dataDir: string): IngestedFiles {
  return readLines(join(whereDataIs(dataDir), FILE));
}

/** Unlike before once anybody has written; cheap to ask. */
export function lookOfIngested(dataDir: string): string {
  return lookOf(join(whereDataIs(dataDir), FILE));
}

/**
 * Notes what a path stands for now. Others may be writing, too.
 *
 * @param written called before others may write again, with how the file looked before the line.
 * @throws {ServiceError} STORE_UNUSABLE if the directory cannot be written to; CONFLICT if another holds it up.
 */
export async function noteIngested(
  dataDir: string,
  line: Line,
  written: (lookBefore: string) => void,
  patienceMs?: number,
): Promise<void> {
  const work = (path: string): void => {
    const lookBefore = lookOf(path);
    // The break comes first, so that a line that was cut short does not swallow this one.
    appendFileSync(path, `\n${JSON.stringify(line)}`, { mode: 0o600 });
    written(lookBefore);
  };
  await alone(dataDir, work, patienceMs);
}

/** Leaves nothing on the disk but what `isKept` says of the paths that stand for something. @throws as `noteIngested`. */
export async function forgetIngested(
  dataDir: string,
  isKept: (file: IngestedFile) => boolean = () => true,
): Promise<void> {
  const isTidy = ({ files, hasMore }: IngestedFiles): boolean => !hasMore && files.every(isKept);
  if (isTidy(readIngested(dataDir))) return;
  await alone(dataDir, async (path) => {
    const now = readLines(path);
    if (isTidy(now)) return;
    const lines = now.files.filter(isKept).map((file) => JSON.stringify(file));
    await replaceFile(nodeDisk, path, Buffer.from(lines.join("\n")));
  });
}

export interface Forgetting {
  /** Forgets what is noted of files whose documents are there no more. @throws as `noteIngested`. */
  readonly now: () => Promise<void>;
  /** The same, if any document went since; else nothing is read. @throws as `noteIngested`. */
  readonly afterRemovals: () => Promise<void>;
}

/** `removals` grows with each document that goes. */
export function forgettingOf(
  dataDir: string,
  documents: { readonly removals: number; findDocument(id: string): object | undefined },
): Forgetting {
  let removalsSeen: number | undefined;
  async function now(): Promise<void> {
    const { removals } = documents;
    await forgetIngested(dataDir, ({ document }) => documents.findDocument(document) !== undefined);
    removalsSeen = removals;
  }
  return {
    now,
    async afterRemovals() {
      if (documents.removals !== removalsSeen) await now();
    },
  };
}

/** Originals with which, when they are erased, what is noted of files whose documents went is forgotten, too. */
export function withIngested(originals: Originals, forget: () => Promise<void>): Originals {
  return {
    listUnneeded: () => originals.listUnneeded(),
    async removeUnneeded(files) {
      // First: whatever keeps the notes from being written keeps no original.
      const removed = await originals.removeUnneeded(files);
      await forget();
      return removed;
    },
  };
}

async function alone(
  dataDir: string,
  work: (path: string) => void | Promise<void>,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  const directory = whereDataIs(dataDir);
  for (let waited = 0; waited < patienceMs; waited += RETRY_MS) {
    const right = await claimRight(directory, RIGHT);
    if (right === undefined) {
      await sleep(RETRY_MS);
      continue;
    }
    try {
      return await work(join(directory, FILE));
    } finally {
      await right.release();
    }
  }
  throw new ServiceError(
    "CONFLICT",
    `Another memoryd holds ${rightFile(directory, RIGHT)} and does not go on; end it and try again. If you are ` +
      "certain that no other command is running, remove that file.",
  );
}

function lookOf(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? "" : `${found.ino}/${found.size}/${found.mtimeNs}`;
}

function readLines(path: string): IngestedFiles {
  const files = new Map<string, IngestedFile>();
  let lines = 0;
  for (const text of read(path).split("\n")) {
    if (text === "") continue;
    lines += 1;
    const line = parse(text);
    if (line === undefined) continue;
    const { document, ...file } = line;
    const key = JSON.stringify([line.user, line.project, line.path]);
    if (document === null) files.delete(key);
    else files.set(key, { ...file, document });
  }
  return { files: [...files.values()], hasMore: lines > files.size };
}

function parse(line: string): Line | undefined {
  try {
    const said: unknown = JSON.parse(line);
    return Line(said) ? said : undefined;
  } catch {
    return undefined;
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return "";
    throw error;
  }
}
