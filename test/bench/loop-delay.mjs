/**
 * Loaded into the daemon with `--import`: on SIGUSR2 it writes the delay of the main thread's loop since the last one to
 * standard error, as JSON in a line. It measures from the first signal on, because that alone takes 1 % of a processor.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

if (isMainThread) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  process.on("SIGUSR2", () => {
    const milliseconds = (percentile) => delay.percentile(percentile) / 1e6;
    process.stderr.write(
      `loop-delay ${JSON.stringify({ p50: milliseconds(50), p99: milliseconds(99), max: delay.max / 1e6 })}\n`,
    );
    delay.reset();
    delay.enable();
  });
}
