import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { BUNDLED_MODELS, type EmbeddingModel } from "../../src/models/bundled-models.ts";
import { openEmbedder } from "../../src/models/onnx-embedder.ts";
import { startDaemonUnderLoad } from "./daemon-under-load.ts";
import { megabytes, ms, newMemoryText, newQuestion, table, timed, timeInTurns, usageOf } from "./measure.ts";

const NOTES = 50;
const THREADS = 3;
const IDLE_MS = 100;
const WAKINGS = 3;

/** What a short note and a question cost with each model that ships, in a store that is otherwise empty; threads and waking in this process. */
export async function benchModels(directory: string): Promise<string> {
  const running = await Promise.all(
    BUNDLED_MODELS.map(async (model) => ({
      model,
      daemon: await startDaemonUnderLoad(join(directory, model.name), { MEMORYD_MODEL: model.name }),
    })),
  );
  const ask = Object.fromEntries(
    running.map(({ model, daemon }) => [
      model.name,
      () => daemon.post("/memory/query", { query: newQuestion() }),
    ]),
  );
  const columns: string[][] = [];
  try {
    for (const { model, daemon } of running) {
      await ask[model.name]?.();
      const before = usageOf(daemon.pid);
      for (let turn = 0; turn < NOTES; turn += 1)
        await daemon.post("/memory/add", { content: newMemoryText(turn) });
      const cpuSeconds = usageOf(daemon.pid).cpuSeconds - before.cpuSeconds;
      columns.push([megabytes(before.residentMegabytes), ms((cpuSeconds * 1_000) / NOTES)]);
    }
    const times = await timeInTurns(ask, { rounds: 5, perRound: 20 });
    running.forEach(({ model }, i) => columns[i]?.push(ms(times[model.name]?.p50 ?? Number.NaN)));
  } finally {
    for (const { daemon } of running) await daemon.stop();
  }
  for (const [i, model] of BUNDLED_MODELS.entries()) {
    const { took, cpu } = await waking(model);
    columns[i]?.push(megabytes(await memoryOfThread(model)), ms(took), ms(cpu));
  }
  const rows = [
    ["resident, an empty store", "≤ 450 MB"],
    ["processor time of adding a note of 36 pieces", "≤ 25 ms"],
    ["a question, p50", ""],
    ["each further thread", "≤ 120 MB"],
    ["embedding the first question after idling", "≤ 400 ms"],
    ["processor time of the same, all threads", ""],
  ].map(([what = "", goal = ""], row) => [what, ...columns.map((column) => column[row] ?? ""), goal]);
  return table(["", ...BUNDLED_MODELS.map(({ name }) => name), "goal"], rows);
}

/** Megabytes. */
async function memoryOfThread(model: EmbeddingModel): Promise<number> {
  const embedder = await openEmbedder(model, { workers: THREADS });
  const { residentMegabytes } = usageOf("self");
  const texts = Array.from({ length: 6 * THREADS }, (_, turn) => newMemoryText(turn));
  await Promise.all(texts.map((text) => embedder.embedDocument(text)));
  const more = (usageOf("self").residentMegabytes - residentMegabytes) / Math.max(1, embedder.workers - 1);
  await embedder.close();
  return more;
}

/** Milliseconds, each the least of a few. */
async function waking(model: EmbeddingModel): Promise<{ readonly took: number; readonly cpu: number }> {
  const embedder = await openEmbedder(model, { workers: 1, idleTimeoutMs: IDLE_MS });
  let least = { took: Infinity, cpu: Infinity };
  for (let i = 0; i < WAKINGS; i += 1) {
    while (embedder.workers > 0) await sleep(IDLE_MS);
    const { cpuSeconds } = usageOf("self");
    const took = await timed(() => embedder.embedQuestion(newQuestion()));
    const cpu = (usageOf("self").cpuSeconds - cpuSeconds) * 1_000;
    least = { took: Math.min(least.took, took), cpu: Math.min(least.cpu, cpu) };
  }
  await embedder.close();
  return least;
}
