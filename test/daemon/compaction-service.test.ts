import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createCompactionService } from "../../src/daemon/compaction-service.ts";
import type { PurgeReport, UnpurgedRows } from "../../src/core/status.ts";
import type { PurgeOptions } from "../../src/storage/checkpoints/purge.ts";

const MINUTE = 60_000;
const REPORT: PurgeReport = {
  tables: [],
  journal: { before: { bytes: 2, files: 2 }, after: { bytes: 1, files: 1 } },
  originals: { bytes: 0, files: 0 },
};

/** An erasure that ends when it is told to, and a daemon that is busy when the test says so. */
function world(afterMinutes = 60) {
  const runs: { readonly options: PurgeOptions; readonly end: (error?: Error) => void }[] = [];
  const state = {
    waiting: undefined as UnpurgedRows | undefined,
    activity: 0,
    failure: undefined as Error | undefined,
  };
  const service = createCompactionService({
    purge: {
      get waiting() {
        return state.waiting;
      },
      run: (options) =>
        new Promise((resolve, reject) => {
          const end = (error?: Error) => (error === undefined ? resolve(REPORT) : reject(error));
          options.signal?.addEventListener("abort", () => end(new Error("aborted")));
          runs.push({ options, end });
        }),
    },
    originals: { listUnneeded: async () => [], removeUnneeded: async () => [] },
    backups: {
      copies: async () => ({ made: null, removed: 0, remaining: 3 }),
      renew: async () => {
        if (state.failure !== undefined) throw state.failure;
        return { made: "new", removed: 3, remaining: 0 };
      },
    },
    clock: { now: Date.now },
    afterMinutes,
    activity: () => state.activity,
    log: { info: () => {}, warn: () => {} },
  });
  service.begin();
  return { service, runs, state };
}

const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);

beforeEach(() => vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date", "performance"] }));
afterEach(() => vi.useRealTimers());

describe("the compaction service", () => {
  it("begins gently when something has waited long enough and the daemon is quiet", async () => {
    const { service, runs, state } = world();
    await pass(120 * MINUTE);
    expect(runs).toHaveLength(0);
    state.waiting = { items: 1, rows: { memories: 1 }, since: Date.now() };
    await pass(59 * MINUTE);
    expect(runs).toHaveLength(0);
    await pass(2 * MINUTE);
    expect(runs).toHaveLength(1);
    expect(runs[0]?.options.isGentle?.()).toBe(true);
    expect(service.status()).toMatchObject({ running: { stage: "preparing" }, waiting: { items: 1 } });
    // Whoever asks now does not want it gentle.
    expect(service.start()).toBe(false);
    expect(runs[0]?.options.isGentle?.()).toBe(false);
    runs[0]?.end();
    await pass(0);
    expect(service.status().last).toMatchObject({ report: REPORT });
    expect(service.status().running).toBeUndefined();
    await service.close();
  });

  it("waits for a quiet moment, but not for ever", async () => {
    const { service, runs, state } = world();
    state.waiting = { items: 1, rows: {}, since: Date.now() };
    for (let i = 0; i < 118 * 6; i += 1) {
      state.activity += 1;
      await pass(10_000);
    }
    expect(runs).toHaveLength(0);
    for (let i = 0; i < 13; i += 1) {
      state.activity += 1;
      await pass(10_000);
    }
    expect(runs).toHaveLength(1);
    await service.close();
  });

  it("rests after one in proportion to what it took, and longer after a failure", async () => {
    const { service, runs, state } = world(1);
    state.waiting = { items: 1, rows: {}, since: Date.now() };
    await pass(2 * MINUTE);
    await pass(MINUTE);
    runs[0]?.end();
    await pass(15 * MINUTE);
    expect(runs).toHaveLength(1);
    await pass(30 * MINUTE);
    expect(runs).toHaveLength(2);
    runs[1]?.end(new Error("no room"));
    await pass(9 * MINUTE);
    expect(runs).toHaveLength(2);
    expect(service.status().last).toMatchObject({ problem: "no room" });
    await pass(2 * MINUTE);
    expect(runs).toHaveLength(3);
    await service.close();
  });

  it("begins only when asked where the setting says so, and at once then", async () => {
    const { service, runs, state } = world(0);
    state.waiting = { items: 1, rows: {}, since: Date.now() };
    await pass(1_000 * MINUTE);
    expect(runs).toHaveLength(0);
    expect(service.start()).toBe(true);
    expect(service.start()).toBe(false);
    expect(runs[0]?.options.isGentle?.()).toBe(false);
    await service.close();
    expect(runs[0]?.options.signal?.aborted).toBe(true);
    expect(service.start()).toBe(false);
  });

  it("says in how many backups what it purged is yet, and replaces them where it shall", async () => {
    const { service, runs, state } = world();
    service.start();
    const renewed = service.purgeWithBackups();
    runs[0]?.end();
    await pass(0);
    expect(service.status().last?.backups).toEqual({ made: null, removed: 0, remaining: 3 });
    // What was deleted while the first one ran is in neither.
    expect(runs).toHaveLength(2);
    runs[1]?.end();
    expect(await renewed).toEqual({ made: "new", removed: 3, remaining: 0 });

    state.failure = new Error("no room");
    const failing = service.purgeWithBackups();
    runs[2]?.end();
    await expect(failing).rejects.toThrow(/older backups still hold it: no room/);
    expect(service.status().last?.problem).toMatch(/no room/);
    await service.close();
    await expect(service.purgeWithBackups()).rejects.toMatchObject({ code: "NOT_READY" });
  });

  it("takes none for its own that ended before it was stopped", async () => {
    const { service, runs } = world();
    const first = service.purgeWithBackups();
    runs[0]?.end();
    expect(await first).toMatchObject({ made: "new" });
    const stopped = service.purgeWithBackups();
    const [refused] = await Promise.allSettled([stopped, service.close()]);
    expect(refused).toMatchObject({ status: "rejected", reason: { code: "NOT_READY" } });
  });
});
