import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { MINILM } from "../../src/models/bundled-models.ts";
import { nodeDisk } from "../../src/storage/files/disk.ts";
import { restoreBackup } from "../../src/storage/copies/restore-backup.ts";
import { fillStore } from "../support/fill-store.ts";
import { startDaemonUnderLoad } from "./daemon-under-load.ts";
import { callBeside, megabytes, ms, newMemoryText, seconds, table, timed, timingOf } from "./measure.ts";

const COUNT = 100_000;
const WRITERS = 8;

interface Backups {
  readonly running: object | null;
  readonly last: { readonly took_ms: number; readonly problem: string | null } | null;
  readonly items: readonly { readonly bytes: number; readonly added_bytes: number }[];
}

/** Two backups of 100 000 memories on the store's own disk while eight callers add, and a restore. */
export async function benchBackup(directory: string): Promise<string> {
  const dataDir = join(directory, "data");
  await fillStore({ directory: dataDir, count: COUNT, stamp: MINILM.stamp });
  const daemon = await startDaemonUnderLoad(dataDir);
  let turn = 0;
  const add = () => daemon.post("/memory/add", { content: newMemoryText((turn += 1)) });
  const adding = async (work: () => Promise<unknown>) => {
    const writers = Array.from({ length: WRITERS }, () => callBeside(add));
    await work();
    await Promise.all(writers.map((writer) => writer.stop()));
    const { p50, p95 } = timingOf(writers.flatMap(({ times }) => times));
    return `${ms(p50)}, ${ms(p95)}`;
  };
  const rows = [["without a backup", "", "", await adding(() => sleep(10_000))]];
  for (const name of ["first", "second"]) {
    let status: Backups | undefined;
    const adds = await adding(async () => {
      await daemon.post("/backups", { name });
      do {
        await sleep(50);
        status = (await daemon.get("/backups")) as Backups;
      } while (status.running !== null);
    });
    const problem = status?.last?.problem ?? undefined;
    if (problem !== undefined) throw new Error(problem);
    const [backup] = status?.items ?? [];
    const bytes = [backup?.bytes, backup?.added_bytes].map((value = 0) => megabytes(value / 1e6));
    rows.push([`${name} backup`, seconds(status?.last?.took_ms ?? 0), bytes.join(", "), adds]);
  }
  await daemon.stop();
  const backup = join(dataDir, "backups", "second");
  const took = await timed(() => restoreBackup(nodeDisk, backup, join(directory, "restored")));
  rows.push(["restore", seconds(took), "", ""]);
  return table(
    [`${COUNT} memories`, "took", "bytes, new bytes", `an add of ${WRITERS} callers meanwhile, p50, p95`],
    rows,
  );
}
