/**
 * Ends its process when a document takes too much of it. A thread of its own, because the thread that parses may not
 * come back to its event loop, and the kernel's memory limits are not everywhere.
 */
import { writeSync } from "node:fs";
import { workerData } from "node:worker_threads";
import type { WatchdogData, WatchdogVerdict } from "./extraction-messages.ts";

const LOOK_EVERY_MS = 50;
const STDERR = 2;

const { isBusy, limits } = workerData as WatchdogData;
const parent = process.ppid;

function end(verdict: WatchdogVerdict): void {
  writeSync(STDERR, `${verdict}\n`);
  process.kill(process.pid, "SIGKILL");
}

for (;;) {
  Atomics.wait(isBusy, 0, 0);
  const before = process.cpuUsage();
  while (Atomics.load(isBusy, 0) === 1) {
    const { user, system } = process.cpuUsage(before);
    if ((user + system) / 1_000 > limits.maxWorkingMs) end("watchdog: time");
    if (process.memoryUsage.rss() > limits.maxResidentBytes) end("watchdog: memory");
    if (process.ppid !== parent) end("watchdog: orphan");
    Atomics.wait(isBusy, 0, 1, LOOK_EVERY_MS);
  }
}
