/**
 * A first and a second backup of 100 000 memories while eight callers write, and a restore: seconds, bytes, and what an add
 * takes meanwhile beside what it takes without. The figures go into `backup-results.md`.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, it } from "vitest";
import { MINILM } from "../../src/models/bundled-models.ts";
import { nodeDisk } from "../../src/storage/disk.ts";
import { restoreBackup } from "../../src/storage/restore-backup.ts";
import { fillStore } from "../support/fill-store.ts";
import { type DaemonUnderLoad, startDaemonUnderLoad } from "./daemon-under-load.ts";
import { type Figure, ms, plain, table } from "./report.ts";
import { percentile } from "./timing.ts";

const COUNT = 100_000;
const WRITERS = 8;
const QUIET_MS = 10_000;
const RESULTS = join(import.meta.dirname, "backup-results.md");
const directory = mkdtempSync(join(tmpdir(), "memoryd-bench-backup-"));
let written = "";

interface Backups {
  readonly running: object | null;
  readonly last: { readonly took_ms: number; readonly problem: string | null } | null;
  readonly items: readonly {
    readonly bytes: number;
    readonly added_bytes: number;
    readonly memories: number;
  }[];
}

afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
  writeFileSync(RESULTS, `# Backups\n\nWritten by \`npm run bench -- backup\`.\n${written}`);
});

describe(`${COUNT} memories`, () => {
  it("are backed up twice and restored", async () => {
    const dataDir = join(directory, "data");
    await fillStore({ directory: dataDir, count: COUNT, stamp: MINILM.stamp });
    const daemon = await startDaemonUnderLoad(dataDir);
    const figures: Figure[] = [];
    try {
      const writers = write(daemon);
      await sleep(QUIET_MS);
      figures.push(plain("an add without, p50, p95", inMs(writers.taken.splice(0))));
      for (const name of ["first", "second"]) {
        await daemon.post("/backups", { name });
        let status = (await daemon.get("/backups")) as Backups;
        while (status.running !== null) {
          await sleep(50);
          status = (await daemon.get("/backups")) as Backups;
        }
        const problem = status.last?.problem ?? undefined;
        if (problem !== undefined) throw new Error(problem);
        const [backup] = status.items;
        figures.push(
          plain(`${name} backup took`, `${((status.last?.took_ms ?? 0) / 1_000).toFixed(1)} s`),
          plain(
            "its memories, bytes, of which new",
            `${backup?.memories}, ${inMegabytes(backup?.bytes)}, ${inMegabytes(backup?.added_bytes)}`,
          ),
          plain("an add meanwhile, p50, p95", inMs(writers.taken.splice(0))),
        );
      }
      await writers.stop();
    } finally {
      await daemon.stop();
    }
    const begun = performance.now();
    await restoreBackup(nodeDisk, join(dataDir, "backups", "second"), join(directory, "restored"));
    figures.push(plain("restore took", `${((performance.now() - begun) / 1_000).toFixed(1)} s`));
    written = table(`${COUNT} memories, ${WRITERS} callers adding, the backups on the store's disk`, figures);
    process.stdout.write(written);
  }, 900_000);
});

/** Adds one after the other in each of the callers, and tells how long each add took in milliseconds. */
function write(daemon: DaemonUnderLoad): { readonly taken: number[]; stop(): Promise<void> } {
  const taken: number[] = [];
  const over = new AbortController();
  const writing = Array.from({ length: WRITERS }, async (_, writer) => {
    for (let i = 0; !over.signal.aborted; i += 1) {
      const begun = performance.now();
      await daemon.post("/memory/add", { content: `Writer ${writer} notes ${i}: the kettle is on.` });
      taken.push(performance.now() - begun);
    }
  });
  return {
    taken,
    async stop() {
      over.abort();
      await Promise.all(writing);
    },
  };
}

function inMs(taken: readonly number[]): string {
  return `${ms(percentile(taken, 0.5))}, ${ms(percentile(taken, 0.95))} (${taken.length} adds)`;
}

function inMegabytes(bytes = 0): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
