import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { basename } from "node:path";
import { integer, nullable, record, string } from "../../json-form.ts";
import { CliFailure } from "../cli-failure.ts";
import type { DaemonClient } from "../daemon-client.ts";
import type { FoundFile } from "./find-documents.ts";
import type { Ledger, LedgerEntry } from "./ledger.ts";
import { sendDocument, type SendOptions } from "./send-document.ts";

/** What was done with the files of one look at the folders. */
export interface Tally {
  added: number;
  replaced: number;
  unchanged: number;
  removed: number;
  memories: number;
  /** Left for the next run, because memoryd does not answer. */
  notTried: number;
  readonly failed: { readonly path: string; readonly reason: string }[];
}

export interface Work {
  /** Another once it was started anew. */
  daemon: DaemonClient;
  /** The daemon that answers now, if any. */
  readonly findDaemon: () => Promise<DaemonClient | undefined>;
  readonly ledger: Ledger;
  /** Where a document that was there at the start says that it is from. */
  readonly pathOf: (documentId: string) => string | undefined;
  /** By path: size and time of what needs no second look. */
  readonly seen: Map<string, string>;
  readonly options: SendOptions;
  /** Stops after the file in hand, whose job is cancelled. */
  readonly signal: AbortSignal;
  readonly show: (line: string) => void;
}

const Removed = record({ deleted: integer });
const Named = record({ filename: nullable(string) });

export function emptyTally(): Tally {
  return { added: 0, replaced: 0, unchanged: 0, removed: 0, memories: 0, notTried: 0, failed: [] };
}

/**
 * Sends what is new or has changed; the document that a file had before goes, unless another file holds the same. What
 * the daemon refuses is not sent again before it changes; what fails otherwise is.
 */
export async function takeIn(work: Work, files: readonly FoundFile[], tally: Tally): Promise<void> {
  const { seen, signal, show } = work;
  const changed = files.filter((file) => seen.get(file.path) !== lookOf(file));
  for (const [i, file] of changed.entries()) {
    if (signal.aborted) return;
    const name = `${i + 1}/${changed.length} ${basename(file.path)}`;
    show(name);
    try {
      await takeFile(work, file.path, tally, (line) => show(`${line}  ${name}`));
      seen.set(file.path, lookOf(file));
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Error)) throw error;
      tally.failed.push({ path: file.path, reason: error.message });
      if (isRefusal(error)) seen.set(file.path, lookOf(file));
      if (!isUnanswered(error)) continue;
      // The file may be the reason: it changed while it was sent.
      const daemon = await work.findDaemon();
      if (daemon === undefined) {
        tally.notTried = changed.length - i - 1;
        return;
      }
      work.daemon = daemon;
    }
  }
}

/** The paths of the same document that are not gone. */
export function otherPaths(ledger: Ledger, path: string, gone: ReadonlySet<string>): string[] {
  const entry = ledger.get(path);
  return entry === undefined ? [] : ledger.pathsOf(entry.documentId).filter((other) => !gone.has(other));
}

/** Removes the documents of files that are gone; those that other files hold too stay. */
export async function removeGone(work: Work, paths: readonly string[], tally: Tally): Promise<void> {
  const { ledger, seen } = work;
  const gone = new Set(paths);
  let isTidy = true;
  for (const path of paths) {
    const entry = ledger.get(path);
    if (entry === undefined) continue;
    try {
      const others = otherPaths(ledger, path, gone);
      if (others.length > 0) await rename(work, entry, others);
      else if (entry.isOwn && ledger.pathsOf(entry.documentId).length === 1) {
        await deleteDocument(work.daemon, entry.documentId);
        tally.removed += 1;
      }
      await ledger.remove(path);
      seen.delete(path);
      isTidy = false;
    } catch (error) {
      if (work.signal.aborted) break;
      if (!(error instanceof Error)) throw error;
      tally.failed.push({ path, reason: error.message });
    }
  }
  if (!isTidy) await ledger.tidy();
}

async function takeFile(
  work: Work,
  path: string,
  tally: Tally,
  onProgress: (line: string) => void,
): Promise<void> {
  const { daemon, ledger, pathOf, options, signal } = work;
  const before = ledger.get(path);
  if (before !== undefined && before.sha256 === (await hashOf(path))) {
    tally.unchanged += 1;
    return;
  }
  const sent = await sendDocument(daemon, path, options, { signal, onProgress });
  const { id: documentId, sha256 } = sent.document;
  // Of a run that was killed before it could write it down, the document itself says where it is from.
  const isOwn = !sent.deduplicated || ledger.isOwn(documentId) || pathOf(documentId) === path;
  if (!sent.deduplicated) tally.memories += sent.memory_ids.length;
  await ledger.set(path, { documentId, sha256, isOwn });
  if (before === undefined) {
    if (sent.deduplicated) tally.unchanged += 1;
    else tally.added += 1;
    return;
  }
  tally.replaced += 1;
  if (before.documentId === documentId) return;
  const others = ledger.pathsOf(before.documentId);
  if (others.length > 0) await rename(work, before, others);
  else if (before.isOwn) await deleteDocument(daemon, before.documentId);
}

/**
 * A document that is called as a file that it stands for no more is called as one of the others: their bytes sent again
 * are the same document, by their name.
 */
async function rename(
  { daemon, options, signal }: Work,
  { path, documentId, sha256 }: LedgerEntry,
  others: readonly string[],
): Promise<void> {
  const named = await daemon.call(Named, "GET", `/documents/${documentId}?l=1`).catch(unlessMissing);
  if (named?.filename !== basename(path) || others.some((other) => basename(other) === basename(path)))
    return;
  for (const other of others) {
    // One that has changed or gone since has its own turn.
    if ((await hashOf(other).catch(() => undefined)) !== sha256) continue;
    await sendDocument(daemon, other, options, { signal, onProgress: () => {} });
    return;
  }
}

/** One that somebody else has deleted is as good. */
async function deleteDocument(daemon: DaemonClient, id: string): Promise<void> {
  await daemon.call(Removed, "DELETE", `/documents/${id}`).catch(unlessMissing);
}

function unlessMissing(error: unknown): undefined {
  if (!(error instanceof CliFailure && error.status === 404)) throw error;
}

function isUnanswered(error: Error): boolean {
  return error instanceof CliFailure && error.status === undefined && error.cause !== undefined;
}

/** The daemon has judged the file, and would judge it so again. */
function isRefusal(error: Error): boolean {
  const status = error instanceof CliFailure ? (error.status ?? 500) : 500;
  return status >= 400 && status < 500 && ![401, 403, 409, 429].includes(status);
}

function lookOf({ bytes, modifiedMs }: FoundFile): string {
  return `${bytes}/${modifiedMs}`;
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}
