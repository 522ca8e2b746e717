import { findDocuments } from "../../files/find-documents.ts";
import type { FolderStatus } from "../../files/watched-folders.ts";
import { findGone, ingestFiles, lookOf, removeGone, type Run, type Tally } from "./sync-files.ts";

/** From this number of documents on, a folder without any of their files looks like a disk that is not mounted. */
const MIN_KNOWN = 5;
const FILES_PER_LOOK = 50;
/**
 * A file may move between the two halves of one look; at the next its new path is seen first, and at the third it is ingested. An
 * editor that writes by renaming brings a file back sooner.
 */
const LOOKS_UNTIL_GONE = 3;
const MAX_REMOVED_KEPT = 10_000;

/** Keeps the documents of one watched folder like its files. To be looked at again and again. */
export class FolderFollower {
  readonly #folder: string;
  readonly #run: Run;
  /** Sizes and times at the look before: a file that is being written has others. */
  #before: ReadonlyMap<string, string> = new Map();
  /** Number of looks, one after the other, at which the files of a document were gone. */
  #goneLooks: ReadonlyMap<string, number> = new Map();
  readonly #failed = new Map<string, string>();
  readonly #removed: Set<string>;
  #files = 0;
  #waiting = 0;

  constructor(folder: string, run: Run, removed: FolderStatus["removed"] = []) {
    this.#removed = new Set(removed);
    this.#folder = folder;
    this.#run = run;
  }

  /**
   * Ingests new and changed files that were the same at the look before, at most 50, so that a change of the list of folders
   * does not wait for thousands.
   * @returns whether another look is needed soon, and whether files wait for it.
   */
  async ingest(tally: Tally): Promise<{ readonly isUnsettled: boolean; readonly isWaiting: boolean }> {
    const { files } = await findDocuments([this.#folder]);
    const looks = new Map(files.map((file) => [file.path, lookOf(file)]));
    const isStill = (path: string) => this.#before.get(path) === looks.get(path);
    const due = files.filter(({ path }) => this.#run.seen.get(path) !== looks.get(path));
    const settled = due.filter(({ path }) => isStill(path));
    this.#before = looks;
    this.#files = files.length;
    const tried = settled.slice(0, FILES_PER_LOOK);
    const { notTried } = tally;
    const failedBefore = tally.failed.length;
    await ingestFiles(this.#run, tried, tally);
    this.#waiting = due.length - tried.length;
    for (const path of this.#failed.keys()) if (!looks.has(path)) this.#failed.delete(path);
    for (const { path } of tried) this.#failed.delete(path);
    for (const { path, reason } of tally.failed.slice(failedBefore)) this.#failed.set(path, reason);
    const isUnsettled = settled.length < due.length || tally.notTried > notTried;
    const isWaiting = settled.length > FILES_PER_LOOK;
    return { isUnsettled: isUnsettled || isWaiting, isWaiting };
  }

  /**
   * Moves documents to the trash whose files were gone at three looks; all folders must have been ingested before, so that a file
   * that moved is known by its new path: while files wait, nothing is removed. A folder that is gone, or empty of all its files, removes nothing.
   */
  async remove(
    tally: Tally,
    { isWaiting }: { readonly isWaiting: boolean },
  ): Promise<{ readonly isUnsettled: boolean; readonly status: FolderStatus }> {
    const { known, lost, moved, missingRoots } = await findGone(this.#run, [this.#folder]);
    const isAway =
      missingRoots.length > 0 ||
      (lost.size > 0 && this.#files === 0) ||
      (known >= MIN_KNOWN && lost.size === known);
    const mayGo = isAway || isWaiting ? [] : [...moved, ...lost];
    const gone = new Map(mayGo.filter(([id]) => !this.#removed.has(id)));
    const looks = new Map(Array.from(gone.keys(), (id) => [id, (this.#goneLooks.get(id) ?? 0) + 1]));
    this.#goneLooks = looks;
    const certain = [...gone].filter(([id]) => (looks.get(id) ?? 0) >= LOOKS_UNTIL_GONE);
    await removeGone(this.#run, certain, tally);
    const { documents } = this.#run;
    for (const [id] of certain) if (!documents.has(id)) this.#removed.add(id);
    // The file of a restored document is there again.
    for (const id of this.#removed)
      if (documents.has(id) && !lost.has(id) && !moved.has(id)) this.#removed.delete(id);
    const status: FolderStatus = {
      state: isAway ? "kept" : "followed",
      files: this.#files,
      waiting: this.#waiting,
      kept: isAway ? lost.size : 0,
      removed: [...this.#removed].slice(-MAX_REMOVED_KEPT),
      looked_at: new Date().toISOString(),
      failed: Array.from(this.#failed, ([path, reason]) => ({ path, reason })),
    };
    return { isUnsettled: certain.length < gone.size, status };
  }
}
