/**
 * The process that follows folders for the daemon: it finds, compares and sends files, one at a time and with less priority, so
 * that questions are answered meanwhile. It is a client of the daemon like `memoryd ingest`, and ends with it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { basename } from "node:path";
import { type FSWatcher, watch } from "chokidar";
import { isSkippedFolder } from "../../files/find-documents.ts";
import {
  readWatchedFolders,
  readWatchStatus,
  watchedFoldersTime,
  writeWatchStatus,
} from "../../files/watched-folders.ts";
import type { FolderStatus, WatchedFolder } from "../../files/watched-folders.ts";
import { findDaemon } from "../connect.ts";
import { plural } from "../output/output.ts";
import { FolderFollower } from "./folder-follower.ts";
import { emptyTally, startRun } from "./sync-files.ts";

export type WatchMessage = { readonly level: "info" | "warn"; readonly text: string };

const TICK_MS = 500;
/** Between a change and the look at it, and between two looks that find a file unchanged. */
const SETTLE_MS = 1_500;
/** Without any change: some file systems tell of none, and a disk may come back. */
const LOOK_EVERY_MS = 60_000;
/** A look takes at most a tenth of the time, however many files there are. */
const PAUSE_PER_LOOK = 9;

const dataDir = process.argv[2] ?? "";
process.on("disconnect", () => process.exit());

function say(level: WatchMessage["level"], text: string): void {
  process.send?.({ level, text } satisfies WatchMessage);
}

interface Following {
  readonly followers: ReadonlyMap<string, FolderFollower>;
  readonly watcher: FSWatcher;
}

let changedAt = performance.now();
/** After the last look, by path. */
let status: Record<string, FolderStatus> = {};

async function follow(folders: readonly WatchedFolder[]): Promise<Following> {
  const findApi = async () => (await findDaemon(dataDir, "memoryd-watch").catch(() => undefined))?.api;
  const api = await findApi();
  if (api === undefined) throw new Error("the daemon does not answer");
  const followers = new Map<string, FolderFollower>();
  const kept = readWatchStatus(dataDir);
  for (const { path, ...options } of folders) {
    const run = await startRun(api, findApi, options, new AbortController().signal);
    followers.set(path, new FolderFollower(path, run, kept[path]?.removed));
  }
  const watcher = watch(
    folders.map(({ path }) => path),
    {
      followSymlinks: false,
      ignoreInitial: true,
      ignorePermissionErrors: true,
      ignored: (path) => isSkippedFolder(basename(path)),
    },
  );
  watcher.on("all", () => (changedAt = performance.now()));
  let isTold = false;
  watcher.on("error", (error) => {
    if (!isTold) say("warn", `changes are only found once a minute: ${(error as Error).message}`);
    isTold = true;
  });
  return { followers, watcher };
}

/** @returns whether another look is needed soon, and whether files wait for it that can be ingested at once. */
async function look({ followers }: Following) {
  const tally = emptyTally();
  let isUnsettled = false;
  let isWaiting = false;
  for (const follower of followers.values()) {
    const after = await follower.ingest(tally);
    isUnsettled ||= after.isUnsettled;
    isWaiting ||= after.isWaiting;
  }
  const before = status;
  status = {};
  for (const [path, follower] of followers) {
    const after = await follower.remove(tally, { isWaiting });
    isUnsettled ||= after.isUnsettled;
    status[path] = after.status;
    const { state, kept } = after.status;
    if (state === "kept" && before[path]?.state !== "kept")
      say("warn", `${path} is gone, or its files are; ${plural(kept, "document")} of them stay`);
  }
  writeWatchStatus(dataDir, status);
  const { added, replaced, removed, failed } = tally;
  if (added + replaced + removed + failed.length > 0)
    say(
      "info",
      `watched folders: ${added} added, ${replaced} replaced, ${removed} removed, ${failed.length} failed`,
    );
  return { isUnsettled, isWaiting: isWaiting && tally.notTried + failed.length === 0 };
}

async function main(): Promise<void> {
  let time = watchedFoldersTime(dataDir);
  const folders = readWatchedFolders(dataDir);
  if (folders.length === 0) return;
  const following = await follow(folders);
  let lookedAt = changedAt;
  let earliest = 0;
  let isDue = true;
  let isWaiting = false;
  for (;;) {
    const now = performance.now();
    const isSettled = now - Math.max(changedAt, isDue ? lookedAt : 0) > SETTLE_MS;
    const isLookDue = (isDue || changedAt > lookedAt) && isSettled && now > earliest;
    if (isWaiting || isLookDue || now - lookedAt > LOOK_EVERY_MS) {
      lookedAt = now;
      ({ isUnsettled: isDue, isWaiting } = await look(following));
      const took = performance.now() - now;
      earliest = performance.now() + (isDue ? 0 : took * PAUSE_PER_LOOK);
      // The next look is only comparable after a while.
      if (isDue) lookedAt = performance.now();
    }
    if (!isWaiting) await sleep(TICK_MS);
    const changed = watchedFoldersTime(dataDir);
    if (changed !== time) {
      time = changed;
      // The daemon starts the next process, with the new list.
      return await following.watcher.close();
    }
  }
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    say("warn", `watched folders: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
    process.disconnect();
  },
);
