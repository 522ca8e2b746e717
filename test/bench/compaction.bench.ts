/**
 * Erasing a thousand of 10 000 and of 100 000 memories over HTTP: how long it takes, what the disk holds before, at most and
 * after, and what questions take meanwhile. The figures go into `compaction-results.md`.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, it } from "vitest";
import { MINILM } from "../../src/models/bundled-models.ts";
import { nodeDisk, usageBelow } from "../../src/storage/disk.ts";
import { fillStore, SUBJECTS } from "../support/fill-store.ts";
import { type DaemonUnderLoad, startDaemonUnderLoad } from "./daemon-under-load.ts";
import { type Figure, ms, plain, table } from "./report.ts";
import { percentile, usageOf } from "./timing.ts";

const SIZES = [10_000, 100_000];
const DELETED = 1_000;
const DELETERS = 8;
const QUESTIONS_BEFORE = 100;
const RESULTS = join(import.meta.dirname, "compaction-results.md");
const tables: string[] = [];
const directories: string[] = [];

interface Status {
  readonly running?: object;
  readonly last?: { readonly took_ms: number; readonly problem?: string };
}

afterAll(() => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
  writeFileSync(
    RESULTS,
    `# Erasing what was deleted\n\nWritten by \`npm run bench -- compaction\`.\n${tables.join("\n")}`,
  );
});

describe.each(SIZES)("%i memories", (count) => {
  it("are rid of a thousand", async () => {
    const directory = mkdtempSync(join(tmpdir(), "memoryd-bench-compaction-"));
    directories.push(directory);
    await fillStore({ directory, count, stamp: MINILM.stamp });
    const daemon = await startDaemonUnderLoad(directory);
    try {
      await deleteSome(daemon, DELETED);
      const quiet: number[] = [];
      while (quiet.length < QUESTIONS_BEFORE) quiet.push(await ask(daemon));
      await daemon.loopDelay();
      const resident = usageOf(daemon.pid).residentMegabytes;
      const before = await diskMegabytes(directory);

      await daemon.post("/compact", {});
      const beside: number[] = [];
      let most = before;
      let mostResident = resident;
      let status: Status;
      do {
        beside.push(await ask(daemon));
        most = Math.max(most, await diskMegabytes(directory));
        mostResident = Math.max(mostResident, usageOf(daemon.pid).residentMegabytes);
        status = (await daemon.get("/compact")) as Status;
        await sleep(10);
      } while (status.running !== undefined);
      if (status.last?.problem !== undefined) throw new Error(status.last.problem);
      const delay = await daemon.loopDelay();
      const after = await diskMegabytes(directory);
      const figures: Figure[] = [
        plain("took", `${((status.last?.took_ms ?? 0) / 1_000).toFixed(1)} s`),
        plain(
          "disk before, at most, after",
          [before, most, after].map((mb) => `${mb.toFixed(0)} MB`).join(", "),
        ),
        plain("resident before, at most", `${resident.toFixed(0)} MB, ${mostResident.toFixed(0)} MB`),
        plain("a question before, p50, p95", `${ms(percentile(quiet, 0.5))}, ${ms(percentile(quiet, 0.95))}`),
        plain(
          `a question meanwhile (${beside.length}), p50, p95, longest`,
          `${ms(percentile(beside, 0.5))}, ${ms(percentile(beside, 0.95))}, ${ms(Math.max(...beside))}`,
        ),
        plain("delay of the main thread meanwhile, p99, longest", `${ms(delay.p99)}, ${ms(delay.max)}`),
      ];
      const text = table(`${count} memories, ${DELETED} of them deleted`, figures);
      tables.push(text);
      process.stdout.write(text);
    } finally {
      await daemon.stop();
    }
  }, 900_000);
});

async function deleteSome(daemon: DaemonUnderLoad, count: number): Promise<void> {
  const ids: string[] = [];
  while (ids.length < count) {
    const path = `/memory/all?l=${Math.min(1_000, count - ids.length)}&u=${ids.length * 3}`;
    const { items } = (await daemon.get(path)) as { items: { id: string }[] };
    ids.push(...items.map(({ id }) => id));
  }
  const waiting = [...new Set(ids)];
  const remove = async () => {
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) await daemon.delete(`/memory/${id}`);
  };
  await Promise.all(Array.from({ length: DELETERS }, remove));
}

async function ask(daemon: DaemonUnderLoad): Promise<number> {
  const subject = SUBJECTS[Math.floor(Math.random() * SUBJECTS.length)];
  const query = `what of ${subject} and w${Math.floor(Math.random() ** 2 * 20_000)}`;
  const begun = performance.now();
  await daemon.post("/memory/query", { query, k: 8 });
  return performance.now() - begun;
}

async function diskMegabytes(directory: string): Promise<number> {
  return (await usageBelow(nodeDisk, directory)).bytes / 1e6;
}
