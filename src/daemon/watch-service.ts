import { type ChildProcess, fork } from "node:child_process";
import { watchedFoldersTime, readWatchedFolders } from "../files/watched-folders.ts";
import { builtFile } from "../sandbox/sandboxed-process.ts";
import { lowerPriority } from "../sandbox/watchdog.ts";
import type { Logger } from "./system.ts";

const LOOK_EVERY_MS = 1_000;
/** After the process failed. */
const RETRY_MS = 30_000;

/**
 * Follows the folders that `memoryd watch` names, in a process of its own, while there are any.
 * @returns the function that ends it.
 */
export function followWatchedFolders(dataDir: string, log: Logger): () => Promise<void> {
  let child: ChildProcess | undefined;
  let ended: Promise<void> = Promise.resolve();
  let seen = 0;
  let retryAt = 0;

  function start(): void {
    const started = fork(builtFile("cli/ingest/watch-worker.js"), [dataDir], {
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    child = started;
    if (started.pid !== undefined) lowerPriority(started.pid);
    started.on("message", (message) => {
      const { level, text } = message as { readonly level: "info" | "warn"; readonly text: string };
      log[level](text);
    });
    ended = new Promise((resolve) => {
      started.once("error", (error) => log.warn({ err: error }, "watched folders are not followed"));
      started.once("close", (code) => {
        child = undefined;
        seen = 0;
        if (code !== 0) retryAt = performance.now() + RETRY_MS;
        resolve();
      });
    });
  }

  function look(): void {
    const time = watchedFoldersTime(dataDir);
    if (child !== undefined || time === seen || performance.now() < retryAt) return;
    seen = time;
    try {
      if (readWatchedFolders(dataDir).length > 0) start();
    } catch (error) {
      log.warn({ err: error }, "watched folders are not followed");
    }
  }

  look();
  const timer = setInterval(look, LOOK_EVERY_MS).unref();
  return async () => {
    clearInterval(timer);
    child?.kill("SIGKILL");
    await ended;
  };
}
