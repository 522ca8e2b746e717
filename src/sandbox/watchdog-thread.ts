/**
 * Ends its process when a piece of work takes too much of it. A thread of its own, because the thread that works may not
 * come back to its event loop, and the kernel's memory limits are not everywhere.
 */
import { writeSync } from "node:fs";
import { workerData } from "node:worker_threads";
import { IDLE, type WatchdogData, type WatchdogVerdict } from "./watchdog.ts";

const MEASURE_EVERY_MS = 50;
const STDERR = 2;

const { work, limits } = workerData as WatchdogData;
const parent = process.ppid;

function end(verdict: WatchdogVerdict): void {
  writeSync(STDERR, `${verdict}\n`);
  process.kill(process.pid, "SIGKILL");
}

for (;;) {
  Atomics.wait(work, 0, IDLE);
  const piece = Atomics.load(work, 0);
  if (piece === IDLE) continue;
  const before = process.cpuUsage();
  while (Atomics.load(work, 0) === piece) {
    const { user, system } = process.cpuUsage(before);
    if ((user + system) / 1_000 > limits.maxWorkingMs) end("watchdog: time");
    if (process.memoryUsage.rss() > limits.maxResidentBytes) end("watchdog: memory");
    if (process.ppid !== parent) end("watchdog: orphan");
    Atomics.wait(work, 0, piece, MEASURE_EVERY_MS);
  }
}
