/** Keeps the documents of a user and project like their files: what `ingest` and watched folders have in common. */
import { createHash } from "node:crypto";
import { createReadStream, openAsBlob } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { HOUR_MS } from "../../core/text/time-periods.ts";
import { type MemorydClient, MemorydError, type StoredDocument } from "../../client/client.ts";
import { isPictureName } from "../../files/file-kinds.ts";
import { type FoundFile, isGone } from "../../files/find-documents.ts";
import { isWithin } from "../../files/watched-folders.ts";
import { formatTime, present } from "../../schemas/wire.ts";
import type { Flags } from "../output/options.ts";
import { showProgress } from "../output/output.ts";

export interface IngestOptions extends Flags {
  /** A label of the Encoding Standard, for texts that are not UTF-8. */
  readonly encoding?: string;
}

/** The result of one pass over the folders. */
export interface Tally {
  added: number;
  replaced: number;
  unchanged: number;
  removed: number;
  memories: number;
  /** Left for the next run, because memoryd does not answer. */
  notTried: number;
  /** Pictures of folders that hold no text, or cannot be read on this machine. */
  readonly unread: { readonly path: string; readonly reason: string }[];
  readonly failed: { readonly path: string; readonly reason: string }[];
  /** Texts whose encoding was hardly more than guessed. */
  readonly guessed: { readonly path: string; readonly encoding: string }[];
}

/** A run of `ingest`: what it knows of the daemon's documents and of the files. */
export interface Run {
  /** Another one once the daemon was restarted. */
  api: Pick<MemorydClient, "documents" | "jobs">;
  /** The client of the daemon that answers now, if any. */
  readonly findApi: () => Promise<Run["api"] | undefined>;
  readonly documents: Map<string, KnownDocument>;
  /** Size and time of each file that needs no second look, by path. */
  readonly seen: Map<string, string>;
  /** When a document of a file that changed last went to the trash, by path. */
  readonly kept: Map<string, number>;
  readonly options: IngestOptions;
  /** Stops after the current file, whose job is cancelled. */
  readonly signal: AbortSignal;
}

/** A document and the paths of its files, from its `metadata.path`. */
type KnownDocument = { readonly sha256: string; readonly paths: readonly string[] };

/** Reads which documents of the user and project came from which files. */
export async function startRun(
  api: Run["api"],
  findApi: Run["findApi"],
  options: IngestOptions,
  signal: AbortSignal,
): Promise<Run> {
  const documents = new Map<string, KnownDocument>();
  const { user, project = "" } = options;
  for await (const document of api.documents.list({ project, ...(user && { user_id: user }) })) {
    // Without a user the list has everybody's.
    if (document.user_id === (user ?? null)) documents.set(document.id, known(document));
  }
  return { api, findApi, documents, seen: new Map(), kept: new Map(), options, signal };
}

export const emptyTally = (): Tally => ({
  added: 0,
  replaced: 0,
  unchanged: 0,
  removed: 0,
  memories: 0,
  notTried: 0,
  unread: [],
  failed: [],
  guessed: [],
});

/** A less sure guess of an encoding is told. */
const SURE_ENCODING = 0.5;

/** Equal while a file has not changed, as far as its size and time tell. */
export const lookOf = ({ bytes, modifiedMs }: FoundFile) => `${bytes}/${modifiedMs}`;

/** Sends new and changed files. A file that the daemon refuses is sent again when it changes, any other failure at once. */
export async function ingestFiles(run: Run, files: readonly FoundFile[], tally: Tally): Promise<void> {
  const { seen, signal } = run;
  const changed = files.filter((file) => seen.get(file.path) !== lookOf(file));
  for (const [i, file] of changed.entries()) {
    if (signal.aborted) return;
    const name = `${i + 1}/${changed.length} ${basename(file.path)}`;
    showProgress(name);
    try {
      await ingestFile(run, file.path, tally, (line) => showProgress(`${line}  ${name}`));
      seen.set(file.path, lookOf(file));
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Error)) throw error;
      const { status = 500 } = error instanceof MemorydError ? error : {};
      const isUnread = !file.isNamed && isPictureName(file.path) && (status === 415 || status === 422);
      tally[isUnread ? "unread" : "failed"].push({ path: file.path, reason: error.message });
      if (status >= 400 && status < 500 && ![401, 403, 409, 429].includes(status))
        seen.set(file.path, lookOf(file));
      if (status !== 0) continue;
      // No answer, perhaps because the file changed while it was sent.
      const api = await run.findApi();
      if (api === undefined) {
        tally.notTried += changed.length - i - 1;
        return;
      }
      run.api = api;
    }
  }
}

async function ingestFile(run: Run, path: string, tally: Tally, onProgress: (line: string) => void) {
  const { documents } = run;
  const sha256 = await hashOf(path);
  let same: KnownDocument | undefined;
  const older: string[] = [];
  let isReread = false;
  for (const [id, document] of documents) {
    if (document.sha256 === sha256) {
      // The same bytes are read again where the person says how, unless they stand for other files too.
      isReread = run.options.encoding !== undefined && document.paths.every((other) => other === path);
      if (isReread) {
        await run.api.documents.delete(id, { trash: true }).catch(unlessMissing);
        documents.delete(id);
      } else same ??= document;
    } else if (document.paths.includes(path)) older.push(id);
  }
  // A document without paths was sent by another program, and is not this command's to change.
  const isKnown = same !== undefined && (same.paths.includes(path) || same.paths.length === 0);
  let isNew = false;
  if (!isKnown) {
    const sent = await send(run, path, onProgress);
    isNew = !sent.deduplicated;
    if (isNew) tally.memories += sent.memory_ids.length;
    const { encoding } = sent.extraction;
    if (encoding !== undefined && (sent.extraction.confidence ?? 1) < SURE_ENCODING)
      tally.guessed.push({ path, encoding });
    // The hash is that of the bytes that were sent: the file may have changed since it was read.
    const { id, sha256: sentHash } = sent.document;
    // A document that was there has the paths of its other files too.
    documents.set(
      id,
      isNew ? { sha256: sentHash, paths: [path] } : known(await run.api.documents.get(id, { l: 1 })),
    );
  }
  for (const id of older) await release(run, id, [path], "changed");
  if (!isKnown && (older.length > 0 || isReread)) tally.replaced += 1;
  else if (isNew) tally.added += 1;
  else tally.unchanged += 1;
}

export interface GoneFiles {
  /** How many documents have a file under the roots. */
  readonly known: number;
  /** Documents of which no file is left, and documents that stand for another file from now on. */
  readonly lost: ReadonlyMap<string, readonly string[]>;
  readonly moved: ReadonlyMap<string, readonly string[]>;
  /** Roots that are gone themselves: a disk that is not mounted looks so. */
  readonly missingRoots: readonly string[];
}

/** Looks which files are certainly gone; an empty, ignored or unreadable one is not. */
export async function findGone(run: Pick<Run, "documents">, roots: readonly string[]): Promise<GoneFiles> {
  const folders = roots.map((root) => resolve(root));
  const gone = { known: 0, lost: new Map<string, string[]>(), moved: new Map<string, string[]>() };
  for (const [id, { paths, sha256 }] of run.documents) {
    if (!paths.some((path) => folders.some((folder) => isWithin(folder, path)))) continue;
    gone.known += 1;
    const [left, missing]: [string[], string[]] = [[], []];
    for (const path of paths) ((await isGone(path)) ? missing : left).push(path);
    if (missing.length === 0) continue;
    const isLost = (await withContent(sha256, left)).length === 0;
    (isLost ? gone.lost : gone.moved).set(id, missing);
  }
  const missingRoots: string[] = [];
  for (const folder of folders) if (await isGone(folder)) missingRoots.push(folder);
  return { ...gone, missingRoots };
}

/** Takes deleted files from their documents, and moves the documents of which no file is left to the trash. */
export async function removeGone(run: Run, gone: Iterable<[string, readonly string[]]>, tally: Tally) {
  for (const [id, paths] of gone) {
    try {
      if (await release(run, id, paths, "gone")) tally.removed += 1;
      for (const path of paths) run.seen.delete(path);
    } catch (error) {
      if (run.signal.aborted) return;
      if (!(error instanceof Error)) throw error;
      tally.failed.push({ path: paths.join(", "), reason: error.message });
    }
  }
}

/**
 * Limits that keep a file that changes all the time from filling the trash: a document goes there that stood for `stoodMs`, else one each
 * `everyMs`.
 */
const KEPT = {
  small: { stoodMs: HOUR_MS / 12, everyMs: HOUR_MS },
  large: { stoodMs: HOUR_MS, everyMs: 24 * HOUR_MS },
} as const;
const LARGE_BYTES = 1_048_576;

/** Whether the document of a file that changed goes to the trash. @param keptAt when one of that file last did. */
function isWorthKeeping({ bytes, created_at }: StoredDocument, keptAt = -Infinity): boolean {
  const now = Date.now();
  const { stoodMs, everyMs } = KEPT[bytes < LARGE_BYTES ? "small" : "large"];
  return now - Date.parse(created_at) >= stoodMs || now - keptAt >= everyMs;
}

/**
 * Takes files that changed or are gone from a document. It is moved to the trash where no other file holds its bytes, or deleted where it
 * is not worth keeping; the daemon is asked again, as another command may have added one. Where it is called as a file that it no longer
 * stands for, it takes the name of one that is left.
 * @returns whether it was deleted.
 */
async function release(
  run: Run,
  id: string,
  gone: readonly string[],
  cause: "changed" | "gone",
): Promise<boolean> {
  const { api, documents, kept } = run;
  const [path = ""] = gone;
  const document = await api.documents.get(id, { l: 1 }).catch(unlessMissing);
  const { sha256, paths } = document === undefined ? { sha256: "", paths: [] } : known(document);
  const left = await withContent(
    sha256,
    paths.filter((path) => !gone.includes(path)),
  );
  const [first] = left;
  if (document === undefined || first === undefined) {
    const trash = cause === "gone" || document === undefined || isWorthKeeping(document, kept.get(path));
    await api.documents.delete(id, { trash }).catch(unlessMissing);
    if (cause === "changed" && trash && document !== undefined) kept.set(path, Date.now());
    documents.delete(id);
    return document !== undefined;
  }
  const isCalled = (path: string) => basename(path) === document.filename;
  if (gone.some(isCalled) && !left.some(isCalled)) await send(run, first, () => {});
  documents.set(id, { sha256, paths: left });
  return false;
}

function unlessMissing(error: unknown): undefined {
  if (!(error instanceof MemorydError && error.status === 404)) throw error;
}

async function withContent(sha256: string, paths: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths) if ((await hashOf(path).catch(() => undefined)) === sha256) found.push(path);
  return found;
}

/** Sends a file and waits until a query can find it. @throws {MemorydError} when the daemon refuses it. */
async function send(run: Run, path: string, onProgress: (line: string) => void) {
  const { api, options, signal } = run;
  const { user, project, tag, language, encoding } = options;
  const fields = {
    metadata: {
      path,
      modified_at: formatTime(Math.round(Math.min((await stat(path)).mtimeMs, Date.now()))),
      ...present({ encoding }),
    },
    ...present({ user_id: user, project, tags: tag, language }),
  };
  const source = { file: await openAsBlob(path), filename: basename(path) };
  const begun = await api.documents.submit(source, fields);
  if ("document" in begun) return begun;
  try {
    return await api.jobs.wait(
      begun.id,
      {},
      {
        signal,
        onProgress: ({ progress: { stage, done, total } }) =>
          onProgress(total === 0 ? stage : `${stage} ${Math.min(100, Math.floor((done / total) * 100))} %`),
      },
    );
  } catch (error) {
    if (signal.aborted) await api.jobs.cancel(begun.id);
    throw error;
  }
}

function known({ sha256, metadata }: Pick<StoredDocument, "sha256" | "metadata">): KnownDocument {
  return { sha256, paths: [metadata["path"]].flat().filter((path) => typeof path === "string") };
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}
