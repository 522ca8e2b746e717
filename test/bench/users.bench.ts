/**
 * Users as a whole over HTTP: the summary of one with 5 000 memories, and the deletion of one with 100 000 while others
 * ask. The figures go into `users-results.md`.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, it } from "vitest";
import { MINILM } from "../../src/models/bundled-models.ts";
import { call } from "../support/daemon-process.ts";
import { fillStore } from "../support/fill-store.ts";
import { startDaemonUnderLoad } from "./daemon-under-load.ts";
import { type Figure, figure, ms, plain, table } from "./report.ts";

const SUMMARISED = 5_000;
const DELETED = 100_000;
const ROUNDS = 5;
const RESULTS = join(import.meta.dirname, "users-results.md");

const directory = mkdtempSync(join(tmpdir(), "memoryd-bench-users-"));
const parts: string[] = [];
afterAll(() => {
  if (parts.length > 0)
    writeFileSync(RESULTS, `# Figures of the last benchmark of users\n\n${parts.join("\n")}`);
  rmSync(directory, { recursive: true, force: true });
});

describe("a user", () => {
  it(`with ${SUMMARISED} memories is summarised`, async () => {
    const small = join(directory, "small");
    await fillStore({ directory: small, count: SUMMARISED, stamp: MINILM.stamp, users: 1 });
    const daemon = await startDaemonUnderLoad(small);
    try {
      const first = await timed(() => daemon.get("/users/user0/summary"));
      const again = await timed(() => daemon.get("/users/user0/summary"));
      await daemon.loopDelay();
      const anew: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1)
        anew.push(await timed(() => daemon.post("/users/user0/summary/regenerate", {})));
      const { max } = await daemon.loopDelay();
      const median = anew.toSorted((a, b) => a - b)[ROUNDS >> 1] ?? 0;
      report(`A summary of ${SUMMARISED} memories`, [
        figure("the first after a start", ms(first), "", first, 1_000, "≤ 1 s"),
        figure("made again, median", ms(median), "", median, 1_000, "≤ 1 s"),
        plain("the one that is there", ms(again)),
        plain("longest step of the main thread meanwhile", ms(max)),
      ]);
    } finally {
      await daemon.stop();
    }
  });

  it(`with ${DELETED} memories is deleted`, async () => {
    const large = join(directory, "large");
    await fillStore({ directory: large, count: DELETED, stamp: MINILM.stamp, users: 1, waypoints: 4 });
    const daemon = await startDaemonUnderLoad(large);
    try {
      await daemon.post("/memory/add", {
        content: "The spare key hangs behind the water meter.",
        user_id: "other",
      });
      await daemon.loopDelay();
      const stop = new AbortController();
      const asking = (async () => {
        let longest = 0;
        while (!stop.signal.aborted) {
          longest = Math.max(longest, await timed(() => daemon.get("/memory/all?user_id=other")));
          await sleep(5);
        }
        return longest;
      })();
      const took = await timed(() => call(daemon, "DELETE", "/users/user0/memories"));
      const { max } = await daemon.loopDelay();
      stop.abort();
      report(`Deleting ${DELETED} memories with 400 000 waypoints in one record`, [
        plain("until it is answered", ms(took)),
        plain("longest step of the main thread", ms(max)),
        plain("slowest answer to somebody else", ms(await asking)),
      ]);
    } finally {
      await daemon.stop();
    }
  });
});

function report(title: string, figures: readonly Figure[]): void {
  const text = table(title, figures);
  console.log(text);
  parts.push(text);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
