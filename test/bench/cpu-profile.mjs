/**
 * Loaded into the daemon with `--import`: SIGUSR2 begins a processor profile of the main thread and the next one ends it and writes it
 * to the file that MEMORYD_BENCH_PROFILE names.
 */
import { renameSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { isMainThread } from "node:worker_threads";

const file = process.env["MEMORYD_BENCH_PROFILE"];
if (isMainThread && file !== undefined) {
  const session = new Session();
  let isRunning = false;
  const toggle = async () => {
    isRunning = !isRunning;
    if (isRunning) {
      session.connect();
      await session.post("Profiler.enable");
      await session.post("Profiler.setSamplingInterval", { interval: 500 });
      await session.post("Profiler.start");
    } else {
      const { profile } = await session.post("Profiler.stop");
      session.disconnect();
      writeFileSync(`${file}.part`, JSON.stringify(profile));
      renameSync(`${file}.part`, file);
    }
  };
  process.on("SIGUSR2", () => void toggle());
}
