/**
 * What embedding costs: one caller, eight callers, the delay of the main thread's loop meanwhile, loading and memory.
 * Every figure is of whole calls of `embedDocument`, threads and messages included.
 *
 *   npx jiti test/bench/embedding.ts
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { openEmbedder } from "../../src/models/onnx-embedder.ts";

const TEXTS = 400;
const CALLERS = 8;
const WORDS =
  "garden meeting kitchen invoice train Berlin sister budget piano recipe window Tuesday dentist bicycle report".split(
    " ",
  );

/** 25 words, about 36 pieces, no two texts alike. */
function textOf(n: number): string {
  return (
    Array.from({ length: 25 }, (_, i) =>
      i % 3 === 2 ? "and the" : WORDS[(n * 7 + i * i) % WORDS.length],
    ).join(" ") + ` ${n}.`
  );
}

const openedAt = performance.now();
const embedder = await openEmbedder();
const load = performance.now() - openedAt;
for (let n = 0; n < 50; n++) await embedder.embedDocument(textOf(n));

const times: number[] = [];
for (let n = 0; n < TEXTS; n++) {
  const startedAt = performance.now();
  await embedder.embedDocument(textOf(n));
  times.push(performance.now() - startedAt);
}
times.sort((a, b) => a - b);

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const startedAt = performance.now();
let next = 0;
await Promise.all(
  Array.from({ length: CALLERS }, async () => {
    while (next < 3 * TEXTS) await embedder.embedDocument(textOf(next++));
  }),
);
const seconds = (performance.now() - startedAt) / 1_000;
delay.disable();

const figures = {
  threads: embedder.workers,
  loadMilliseconds: Math.round(load),
  oneCallerP50Milliseconds: Number((times[TEXTS / 2] ?? 0).toFixed(2)),
  eightCallersPerSecond: Math.round((3 * TEXTS) / seconds),
  // The histogram counts the timer's own millisecond too.
  loopDelayP99Milliseconds: Number((delay.percentile(99) / 1e6).toFixed(2)),
  residentMegabytes: Math.round(process.memoryUsage().rss / 1e6),
};
await embedder.close();
process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
