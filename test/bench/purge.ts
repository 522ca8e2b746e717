import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { MINILM } from "../../src/models/bundled-models.ts";
import { nodeDisk, usageBelow } from "../../src/storage/files/disk.ts";
import { fillStore } from "../support/fill-store.ts";
import { type DaemonUnderLoad, startDaemonUnderLoad } from "./daemon-under-load.ts";
import {
  callBeside,
  megabytes,
  ms,
  newQuestion,
  seconds,
  table,
  timeCallers,
  timingOf,
  usageOf,
} from "./measure.ts";

const DELETED = 1_000;

interface Status {
  readonly running?: object;
  readonly last?: { readonly took_ms: number; readonly problem?: string };
}

/** Purging a thousand of 10 000 and of 100 000 memories: time, disk and memory, and what questions take meanwhile. */
export async function benchPurge(directory: string): Promise<string> {
  const rows = [];
  for (const count of [10_000, 100_000]) rows.push(await purge(join(directory, String(count)), count));
  return table(
    [
      `memories, ${DELETED} deleted`,
      "took",
      "disk before, most, after",
      "resident before, most",
      "question before, p50, p95",
      "meanwhile, p50, p95",
      "longest step of the main thread",
    ],
    rows,
  );
}

async function purge(directory: string, count: number): Promise<string[]> {
  await fillStore({ directory, count, stamp: MINILM.stamp });
  const daemon = await startDaemonUnderLoad(directory);
  const ids = await someIds(daemon);
  await timeCallers(() => daemon.delete(`/memory/${ids.pop()}`), { callers: 8, calls: DELETED });
  const ask = () => daemon.post("/memory/query", { query: newQuestion() });
  const before = await timeCallers(ask, { callers: 1, calls: 100 });
  const look = async () => ({
    disk: (await usageBelow(nodeDisk, directory)).bytes / 1e6,
    resident: usageOf(daemon.pid).residentMegabytes,
  });
  const looks = [await look()];
  await daemon.loopDelay();
  const beside = callBeside(ask);
  await daemon.post("/compact", {});
  let status: Status;
  do {
    await sleep(50);
    looks.push(await look());
    status = (await daemon.get("/compact")) as Status;
  } while (status.running !== undefined);
  await beside.stop();
  if (status.last?.problem !== undefined) throw new Error(status.last.problem);
  const { max } = await daemon.loopDelay();
  const after = await look();
  await daemon.stop();
  const [first] = looks;
  const most = (of: "disk" | "resident") => megabytes(Math.max(...looks.map((one) => one[of])));
  const meanwhile = timingOf(beside.times);
  return [
    String(count),
    seconds(status.last?.took_ms ?? Number.NaN),
    `${megabytes(first?.disk ?? 0)}, ${most("disk")}, ${megabytes(after.disk)}`,
    `${megabytes(first?.resident ?? 0)}, ${most("resident")}`,
    `${ms(before.p50)}, ${ms(before.p95)}`,
    `${ms(meanwhile.p50)}, ${ms(meanwhile.p95)}`,
    ms(max),
  ];
}

/** Every third of the newest. */
async function someIds(daemon: DaemonUnderLoad): Promise<string[]> {
  const ids: string[] = [];
  for (let skipped = 0; ids.length < DELETED; skipped += 1_000) {
    const { items } = (await daemon.get(`/memory/all?l=1000&u=${skipped}`)) as { items: { id: string }[] };
    ids.push(...items.filter((_, i) => i % 3 === 0).map(({ id }) => id));
  }
  return ids;
}
