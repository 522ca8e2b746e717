import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { MINILM } from "../../src/models/bundled-models.ts";
import { openEmbedder } from "../../src/models/onnx-embedder.ts";
import { fillStore } from "../support/fill-store.ts";
import { type DaemonUnderLoad, startDaemonUnderLoad } from "./daemon-under-load.ts";
import {
  megabytes,
  ms,
  newMemoryText,
  newQuestion,
  seconds,
  table,
  timeCallers,
  timeInTurns,
  usageOf,
} from "./measure.ts";

/** What may come to the embedding (p50, p95, ms), the model's load (ms) and the empty store (MB). */
const GOALS: Readonly<Record<number, readonly [p50: number, p95: number, ready: number, resident: number]>> =
  {
    1_200: [3, 8, 300, 20],
    10_000: [5, 12, 500, 80],
    100_000: [12, 25, 800, 250],
    1_000_000: [45, 100, 4_000, 1_126],
  };
const QUESTIONS_PER_SECOND = 250;
const ADD_TIMES_ITS_PARTS = 1.3;
const P99_TIMES_P50 = 10;
const BYTES_PER_BYTE = 6;
const CALLERS = 8;
const STARTS = 3;
/** About what the journal writes for a memory of 25 words: its text, its vector and 20 token vectors. */
const RECORD_BYTES = 6 * 1_024;
const COLUMNS = [
  "memories",
  "question p50, p95",
  "ready",
  "resident",
  `questions per second, ${CALLERS} callers`,
  "add p50, p99",
  `add p50, p99, ${CALLERS} callers`,
  "written per byte",
  "measured beside",
];

/**
 * One row per size, goals in parentheses, misses bold: the real daemon over HTTP. Rows of other sizes stay as they are.
 *
 * @param stores directories of stores, by size, that are filled already, with the same model; memories are added to them.
 */
export async function benchSizes(
  directory: string,
  known: string,
  sizes: readonly number[],
  stores: ReadonlyMap<number, string> = new Map(),
): Promise<string> {
  const rows = new Map<string, readonly string[]>();
  for (const [, size = "", others = ""] of known.matchAll(/^\| (\d[\d ]*) \| (.*) \|$/gm))
    rows.set(size, [size, ...others.split(" | ")]);
  const embedder = await openEmbedder(MINILM);
  const load = Math.min(...Array.from({ length: STARTS }, loadOfTheModel));
  const empty = await startDaemonUnderLoad(join(directory, "empty"));
  // Resident memory is that after the questions, of both.
  await timeInTurns({ ask: () => empty.post("/memory/query", { query: newQuestion() }) }, QUESTIONS);
  const emptyMegabytes = usageOf(empty.pid).residentMegabytes;
  await empty.stop();
  for (const size of sizes) {
    const name = size.toLocaleString("en").replaceAll(",", " ");
    const path = stores.get(size) ?? join(directory, String(size));
    const filled = stores.has(size)
      ? undefined
      : await fillStore({ directory: path, count: size, stamp: MINILM.stamp });
    const starts: number[] = [];
    let daemon: DaemonUnderLoad | undefined;
    while (starts.length < STARTS) {
      await daemon?.stop();
      daemon = await startDaemonUnderLoad(path);
      starts.push(daemon.readyAfter);
    }
    if (daemon === undefined) throw new Error("started above");
    const row = await measure(daemon, path, directory, embedder);
    await daemon.stop();
    const [p50, p95, ready, resident] = GOALS[size] ?? [Infinity, Infinity, Infinity, Infinity];
    const { asked, embedding, added, append, byEight } = row;
    const parts = embedding.add.p50 + append;
    rows.set(name, [
      name,
      `${held(ms, asked.p50, embedding.ask.p50 + p50)}, ${held(ms, asked.p95, embedding.ask.p50 + p95)}`,
      held(seconds, Math.min(...starts), load + ready),
      held(megabytes, row.resident, emptyMegabytes + resident),
      held((value) => value.toFixed(0), row.perSecond, QUESTIONS_PER_SECOND, "≥"),
      `${held(ms, added.p50, ADD_TIMES_ITS_PARTS * parts)}, ${held(ms, added.p99, P99_TIMES_P50 * added.p50)}`,
      `${ms(byEight.p50)}, ${held(ms, byEight.p99, P99_TIMES_P50 * byEight.p50)}`,
      filled === undefined
        ? "–"
        : held((value) => value.toFixed(1), filled.bytesWritten / filled.bytesOfRows, BYTES_PER_BYTE),
      `embedding a question ${ms(embedding.ask.p50)}, a memory ${ms(embedding.add.p50)}; model load ${seconds(load)}; ` +
        `empty store ${megabytes(emptyMegabytes)}; write and fdatasync ${ms(append)}; ` +
        `${byEight.perSecond.toFixed(0)} adds per second`,
    ]);
  }
  await embedder.close();
  const memoriesOf = ([size = ""]: readonly string[]) => Number(size.replaceAll(" ", ""));
  return table(
    COLUMNS,
    [...rows.values()].sort((one, other) => memoriesOf(one) - memoriesOf(other)),
  );
}

const QUESTIONS = { rounds: 6, perRound: 50 };

async function measure(
  daemon: DaemonUnderLoad,
  path: string,
  directory: string,
  embedder: Awaited<ReturnType<typeof openEmbedder>>,
) {
  const ask = () => daemon.post("/memory/query", { query: newQuestion() });
  const add = (turn: number) =>
    daemon.post("/memory/add", { content: newMemoryText(turn), user_id: "bench" });
  await timeInTurns({ ask }, { rounds: 1, perRound: 20 });
  const question = await timeInTurns({ ask, embed: () => embedder.embedQuestion(newQuestion()) }, QUESTIONS);
  let perSecond = 0;
  for (let round = 0; round < 3; round += 1)
    perSecond = Math.max(perSecond, (await timeCallers(ask, { callers: CALLERS, calls: 200 })).perSecond);
  const { residentMegabytes: resident } = usageOf(daemon.pid);
  const file = openSync(join(directory, "appended"), "a");
  const append = () => {
    writeSync(file, Buffer.alloc(RECORD_BYTES, 1));
    fdatasyncSync(file);
  };
  const alone = await timeInTurns(
    { embed: (turn) => embedder.embedDocument(newMemoryText(turn)), append, add },
    { rounds: 5, perRound: 60 },
  );
  closeSync(file);
  // Tails are of all calls: a checkpoint falls into some of them.
  const one = await timeCallers((turn) => add(10_000 + turn), { callers: 1, calls: 1_000 });
  const byEight = await timeCallers((turn) => add(20_000 + turn), { callers: CALLERS, calls: 4_000 });
  return {
    asked: question.ask,
    embedding: { ask: question.embed, add: alone.embed },
    perSecond,
    resident,
    append: alone.append.p50,
    added: { p50: alone.add.p50, p99: one.p99 },
    byEight,
  };
}

/** A process that loads the model, embeds a word and ends, milliseconds. */
function loadOfTheModel(): number {
  const dist = join(import.meta.dirname, "../../dist/models");
  const script =
    `Promise.all([import("${dist}/onnx-embedder.js"), import("${dist}/bundled-models.js")]).then(` +
    `async ([{ openEmbedder }, { MINILM }]) => { await (await openEmbedder(MINILM)).embedQuestion("word"); process.exit(); })`;
  const startedAt = performance.now();
  const { status } = spawnSync(process.execPath, ["-e", script], { stdio: "inherit" });
  if (status !== 0) throw new Error("the model did not load");
  return performance.now() - startedAt;
}

function held(show: (value: number) => string, value: number, goal: number, sign: "≤" | "≥" = "≤"): string {
  const holds = sign === "≤" ? value <= goal : value >= goal;
  return `${holds ? show(value) : `**${show(value)}**`} (${sign} ${show(goal)})`;
}
