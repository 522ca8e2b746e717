import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MINILM } from "../../src/models/bundled-models.ts";
import { call, type DaemonProcess, startDaemonProcess } from "../support/daemon-process.ts";
import { fillStore } from "../support/fill-store.ts";
import { times } from "../support/stress.ts";

/**
 * The daemon is killed around the deletion of a user who has thousands of memories, documents and facts. After each
 * restart all of it is there or none, none once it was acknowledged, and the other user has what they had.
 */
const ROUNDS = times(3);
/** Half of them, with their vectors and waypoints, are more rows than one step shows. */
const MEMORIES = 8_000;
const LONGEST_WAIT_MS = 700;

let dataDir: string;
let daemon: DaemonProcess;
beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), "memoryd-kill-user-"));
});
afterAll(async () => {
  await daemon?.kill();
  rmSync(dataDir, { recursive: true, force: true });
});

interface Counts {
  readonly memory_count: number;
  readonly fact_count: number;
  readonly document_count: number;
}

async function countsOf(userId: string): Promise<Counts> {
  const { body } = await call(daemon, "GET", "/users");
  const none = { memory_count: 0, fact_count: 0, document_count: 0 };
  const found = body.items.find((user: { user_id: string }) => user.user_id === userId) ?? none;
  return {
    memory_count: found.memory_count,
    fact_count: found.fact_count,
    document_count: found.document_count,
  };
}

async function giveDocumentAndFact(): Promise<void> {
  const text = "The gate code of the allotment is 7719.";
  expect((await call(daemon, "POST", "/ingest", { text, user_id: "user0" })).status).toBe(200);
  const fact = { subject: "Ann", predicate: "owns", object: "a kite", user_id: "user0" };
  expect((await call(daemon, "POST", "/api/temporal/fact", fact)).status).toBe(200);
}

describe(`a daemon that is killed ${ROUNDS} times while it deletes a user`, () => {
  it("has all of the user or nothing", async () => {
    await fillStore({ directory: dataDir, count: MEMORIES, stamp: MINILM.stamp, users: 2, waypoints: 3 });
    let isGone = true;
    let others: Counts | undefined;
    for (let round = 1; round <= ROUNDS; round += 1) {
      daemon = await startDaemonProcess(dataDir, { MEMORYD_CHECKPOINT_BYTES: "65536" });
      const before = await countsOf("user0");
      others ??= await countsOf("user1");
      if (before.memory_count === 0) {
        expect(before).toEqual({ memory_count: 0, fact_count: 0, document_count: 0 });
        expect(readdirSync(join(dataDir, "journal")).length).toBeGreaterThan(0);
        const memories = Array.from({ length: 500 }, (_, i) => ({
          content: `round ${round}, note ${i} on the allotment`,
          user_id: "user0",
          session_id: "notes",
        }));
        expect((await call(daemon, "POST", "/memory/add/batch", { memories })).body.added).toBe(500);
        await giveDocumentAndFact();
      } else if (before.document_count === 0) await giveDocumentAndFact();
      const whole = await countsOf("user0");
      expect(whole).toMatchObject({ fact_count: 1, document_count: 1 });
      expect(isGone || before.memory_count > 0).toBe(true);

      let isAcknowledged = false;
      const deleting = call(daemon, "DELETE", "/users/user0/memories?include=facts").then(
        ({ status }) => (isAcknowledged = status === 200),
        () => false,
      );
      await sleep(Math.random() * LONGEST_WAIT_MS);
      await daemon.kill();
      await deleting;

      daemon = await startDaemonProcess(dataDir);
      const after = await countsOf("user0");
      isGone = after.memory_count === 0;
      const none = { memory_count: 0, fact_count: 0, document_count: 0 };
      expect([whole, none]).toContainEqual(after);
      if (isAcknowledged) expect(after).toEqual(none);
      expect(await countsOf("user1")).toEqual(others);
      const { body } = await call(daemon, "GET", "/users/user0/memories?l=1");
      expect(body.total).toBe(after.memory_count);
      await daemon.kill();
    }
  });
});
