import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MINILM } from "../../src/models/bundled-models.ts";
import { nodeDisk, usageBelow } from "../../src/storage/files/disk.ts";
import { fillStore } from "../support/fill-store.ts";
import { type DaemonUnderLoad, startDaemonUnderLoad } from "./daemon-under-load.ts";
import {
  megabytes,
  ms,
  newMemoryText,
  newQuestion,
  seconds,
  table,
  timed,
  timingOf,
  usageOf,
} from "./measure.ts";

const FILLED = 10_000;
const CALLERS = 8;
const RESTARTS = 20;
const SAMPLES_PER_RUN = 3;
/** Memories that a caller keeps; it deletes the oldest beyond them, so that the store stays as large as it was. */
const KEPT = 100;
const PICTURE = join(import.meta.dirname, "../../docs/pictures/soak.svg");

interface Sample {
  /** Requests since the beginning. */
  readonly at: number;
  readonly resident: number;
  readonly handles: number;
  readonly disk: number;
  readonly question: number;
  readonly add: number;
  /** Milliseconds of the daemon's processor time a request, which other work on the machine moves least. */
  readonly processor: number;
}

/**
 * So many mixed requests with 20 restarts: memory, handles, disk, latencies and processor time, which should not grow. Deleted memories
 * are purged within minutes and not kept in the trash, so that purges are part of it and the disk has no reason to grow.
 */
export async function benchSoak(directory: string, wanted: number): Promise<string> {
  await fillStore({ directory, count: FILLED, stamp: MINILM.stamp });
  const samples: Sample[] = [];
  const kept: string[][] = Array.from({ length: CALLERS }, () => []);
  const begun = performance.now();
  let requests = 0;
  for (let run = 0; run <= RESTARTS; run += 1) {
    const daemon = await startDaemonUnderLoad(directory, {
      MEMORYD_COMPACT_AFTER_MINUTES: "3",
      MEMORYD_HISTORY_DAYS: "0",
    });
    for (let part = 1; part <= SAMPLES_PER_RUN; part += 1) {
      const before = { requests, processor: usageOf(daemon.pid).cpuSeconds };
      const until = (wanted * (run + part / SAMPLES_PER_RUN)) / (RESTARTS + 1);
      const times = { question: [] as number[], add: [] as number[] };
      await Promise.all(
        kept.map(async (ids) => {
          while (requests < until) {
            const made = await mixedRequests(daemon, ids, times);
            requests += made;
          }
        }),
      );
      const { residentMegabytes, cpuSeconds } = usageOf(daemon.pid);
      samples.push({
        at: requests,
        resident: residentMegabytes,
        processor: (1_000 * (cpuSeconds - before.processor)) / (requests - before.requests),
        handles: readdirSync(`/proc/${daemon.pid}/fd`).length,
        disk: (await usageBelow(nodeDisk, directory)).bytes / 1e6,
        question: timingOf(times.question).p50,
        add: timingOf(times.add).p50,
      });
    }
    await daemon.stop();
    writeFileSync(PICTURE, drawn(samples));
    console.error(`${requests} requests: ${JSON.stringify(samples.at(-1))}`);
  }
  const row = (name: string, of: keyof Sample, show: (value: number) => string) => {
    // Of the last sample before each restart: what a run has come to.
    const ends = samples.filter((_, i) => i % SAMPLES_PER_RUN === SAMPLES_PER_RUN - 1).map((one) => one[of]);
    const third = Math.floor(ends.length / 3);
    const { p50: early } = timingOf(ends.slice(0, third));
    const { p50: late } = timingOf(ends.slice(-third));
    return [name, show(early), show(late), show(Math.max(...samples.map((one) => one[of])))];
  };
  const title = `${requests} requests in ${seconds(performance.now() - begun)}, ${RESTARTS} restarts`;
  return table(
    [title, "first third", "last third", "most"],
    [
      row("resident", "resident", megabytes),
      row("file handles", "handles", String),
      row("disk", "disk", megabytes),
      row("question p50", "question", ms),
      row("add p50", "add", ms),
      row("processor time a request", "processor", ms),
    ],
  );
}

/** Adds, asks, lists, reads, reinforces and deletes. @returns how many requests it made. */
async function mixedRequests(
  daemon: DaemonUnderLoad,
  ids: string[],
  times: { readonly question: number[]; readonly add: number[] },
): Promise<number> {
  const content = newMemoryText(Math.floor(Math.random() * 1e9));
  let id = "";
  times.add.push(
    await timed(async () => {
      ({ id } = (await daemon.post("/memory/add", { content, user_id: "soak" })) as { id: string });
    }),
  );
  ids.push(id);
  times.question.push(await timed(() => daemon.post("/memory/query", { query: newQuestion() })));
  await daemon.get("/memory/all?l=20&user_id=soak");
  await daemon.get("/memory/all?l=5&user_id=soak");
  for (const place of [0, 0.25, 0.5, 0.75])
    await daemon.get(`/memory/${ids[Math.floor(place * ids.length)]}`);
  await daemon.get("/health");
  await daemon.post("/memory/reinforce", { id });
  if (ids.length <= KEPT) return 10;
  await daemon.delete(`/memory/${ids.shift()}`);
  return 11;
}

const WIDTH = 640;
const HEIGHT = 90;
const LEFT = 150;

/** A curve each over the same requests, from 0 to its most. */
function drawn(samples: readonly Sample[]): string {
  const last = samples.at(-1)?.at ?? 1;
  const curves = [
    ["resident, MB", "resident"],
    ["file handles", "handles"],
    ["disk, MB", "disk"],
    ["question p50, ms", "question"],
    ["add p50, ms", "add"],
    ["processor, ms", "processor"],
  ] as const;
  const parts = curves.map(([name, of], place) => {
    const most = Math.max(...samples.map((sample) => sample[of]));
    const bottom = (place + 1) * HEIGHT - 12;
    const points = samples.map(
      (sample) =>
        `${(LEFT + (sample.at / last) * (WIDTH - LEFT - 10)).toFixed(1)},${(bottom - (sample[of] / most) * (HEIGHT - 30)).toFixed(1)}`,
    );
    return (
      `<text x="6" y="${bottom - 24}">${name}</text><text x="6" y="${bottom - 8}" opacity=".6">most ${most < 10 ? most.toFixed(1) : most.toFixed(0)}</text>` +
      `<path fill="none" d="M${LEFT} ${bottom}H${WIDTH - 10}" stroke="#8888"/><polyline fill="none" points="${points.join(" ")}" stroke="#2a78d6" stroke-width="1.5"/>`
    );
  });
  const height = curves.length * HEIGHT + 16;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">` +
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/><g fill="#222">${parts.join("")}` +
    `<text x="${WIDTH - 10}" y="${height - 6}" text-anchor="end">${last} requests</text></g></svg>\n`
  );
}
