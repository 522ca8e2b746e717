import { mkdtemp, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FeedEntry } from "../../src/core/feed.ts";
import { nodeDisk } from "../../src/storage/files/disk.ts";
import { StoredFeed, type StoredFeedOptions } from "../../src/storage/stored-feed.ts";
import { createFaultyDisk } from "../support/faulty-disk.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
let directory: string;
let now: number;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "memoryd-feed-"));
  now = 1_000_000;
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const open = (options: Partial<StoredFeedOptions> = {}) =>
  StoredFeed.open({
    disk: nodeDisk,
    directory,
    storeId: "store",
    epoch: 1,
    clock: { now: () => now },
    after: 0,
    ...options,
  });
const added = (id: string, userId: string | null = null): FeedEntry => ({ kind: "memory.added", id, userId });
const idsAfter = (feed: StoredFeed, since: string, userId?: string) =>
  feed.list({ since, limit: 1_000, ...(userId !== undefined && { userId }) }).items.map(({ id }) => id);
const fill = (feed: StoredFeed, from: number, to: number) => {
  for (let n = from; n <= to; n += 1) feed.publish(n, now, [added(`m${n}`)]);
};

describe("a page", () => {
  it("has what came after its position, in order, and says where the next begins", async () => {
    const feed = await open();
    expect(feed.list({ since: "0", limit: 9 })).toMatchObject({ items: [], reset: false });
    feed.publish(1, now, [added("a", "ann"), added("b", "ben")]);
    feed.publish(2, now, []);
    feed.publish(3, now + 1, [added("c", "ann")]);
    const first = feed.list({ since: "0", limit: 2 });
    expect(first.items.map(({ id, at }) => [id, at])).toEqual([
      ["a", now],
      ["b", now],
    ]);
    expect(first.next).toBe(first.items[1]?.position);
    expect(idsAfter(feed, first.items[0]?.position ?? "")).toEqual(["b", "c"]);
    const second = feed.list({ since: first.next, limit: 2 });
    expect(second.items.map(({ id }) => id)).toEqual(["c"]);
    expect(feed.list({ since: second.next, limit: 2 })).toEqual({
      items: [],
      next: second.next,
      reset: false,
    });
    expect(feed.list({ limit: 2 })).toEqual({ items: [], next: second.next, reset: false });
    expect(idsAfter(feed, "0", "ann")).toEqual(["a", "c"]);
    expect(feed.list({ since: "0", limit: 9, userId: "ben" }).next).toBe(second.next);
  });

  it("refuses what is no position", async () => {
    const feed = await open();
    for (const since of ["", "x", "1.2", "a.b.c", "1.2.3.4", "-1.0.0"])
      expect(() => feed.list({ since, limit: 1 })).toThrow("no position");
  });

  it("resets a reader from another store, from another epoch, or from ahead", async () => {
    const feed = await open();
    fill(feed, 1, 3);
    const { next } = feed.list({ limit: 1 });
    for (const other of [{ storeId: "other" }, { epoch: 2 }]) {
      const another = await open(other);
      fill(another, 1, 3);
      const page = another.list({ since: next, limit: 9 });
      expect(page).toMatchObject({ items: [], reset: true });
      fill(another, 4, 4);
      expect(idsAfter(another, page.next)).toEqual(["m4"]);
    }
    const shorter = await open();
    fill(shorter, 1, 2);
    expect(shorter.list({ since: next, limit: 9 }).reset).toBe(true);
  });

  it("calls watchers after each record, until they stop", async () => {
    const feed = await open();
    let calls = 0;
    const stop = feed.watch(() => (calls += 1));
    fill(feed, 1, 2);
    stop();
    fill(feed, 3, 3);
    expect(calls).toBe(2);
  });
});

describe("what is kept", () => {
  it("is the last entries, and those of a week; who wants more is reset", async () => {
    const feed = await open({ maxEntries: 10 });
    fill(feed, 1, 3);
    const { position } = feed.list({ since: "0", limit: 1 }).items[0] ?? { position: "" };
    fill(feed, 4, 14);
    expect(idsAfter(feed, "0")).toEqual(["m5", "m6", "m7", "m8", "m9", "m10", "m11", "m12", "m13", "m14"]);
    expect(feed.list({ since: "0", limit: 9 }).reset).toBe(true);
    expect(feed.list({ since: position, limit: 9 })).toMatchObject({ items: [], reset: true });
    const { next } = feed.list({ limit: 1 });
    now += 7 * DAY_MS + 1;
    expect(feed.list({ since: "0", limit: 9 })).toMatchObject({ items: [], reset: true });
    expect(feed.list({ since: next, limit: 9 })).toMatchObject({ items: [], reset: false });
  });

  it("is nothing of an erased user but that", async () => {
    const feed = await open();
    feed.publish(1, now, [added("a", "ann"), added("b", "ben")]);
    await feed.save(1);
    expect(feed.names("ann")).toBe(true);
    feed.publish(2, now, [{ kind: "user.erased", id: "ann", userId: "ann" }], "ann");
    await feed.save(2);
    const text = await readFile(join(directory, "CHANGES"), "utf8");
    expect(text).not.toContain('"a"');
    for (const each of [feed, await open({ after: 2 })])
      expect(each.list({ since: "0", limit: 9 }).items.map(({ kind, id }) => [kind, id])).toEqual([
        ["memory.added", "b"],
        ["user.erased", "ann"],
      ]);
  });
});

describe("after a restart", () => {
  it("has every entry at its place: saved ones, and the others again from the journal", async () => {
    const feed = await open();
    fill(feed, 1, 5);
    await feed.save(5);
    fill(feed, 6, 7);
    await feed.save(7);
    fill(feed, 8, 9);
    const all = feed.list({ since: "0", limit: 99 });
    // At the newest checkpoint, and at the one before.
    for (const after of [7, 5]) {
      const again = await open({ after });
      fill(again, after + 1, 9);
      expect(again.list({ since: "0", limit: 99 })).toEqual(all);
      await again.save(9);
      expect((await open({ after: 9 })).list({ since: "0", limit: 99 })).toEqual(all);
    }
  });

  it("reads ids and users with any character", async () => {
    const feed = await open();
    feed.publish(1, now, [added("a\u2028b\n", "ann \u2029\r")]);
    await feed.save(1);
    expect(idsAfter(await open({ after: 1 }), "0", "ann \u2029\r")).toEqual(["a\u2028b\n"]);
  });

  it("keeps the place of a record that said nothing", async () => {
    const feed = await open();
    fill(feed, 1, 1);
    feed.publish(2, now, []);
    await feed.save(2);
    const { next } = feed.list({ limit: 1 });
    expect((await open({ after: 2 })).list({ since: next, limit: 1 })).toEqual({
      items: [],
      next,
      reset: false,
    });
  });

  it.each(["missing", "cut short", "changed", "of another store"])(
    "resets where the file is %s",
    async (how) => {
      const feed = await open();
      fill(feed, 1, 5);
      await feed.save(5);
      const seen = feed.list({ since: "0", limit: 3 }).next;
      const path = join(directory, "CHANGES");
      const bytes = await readFile(path);
      if (how === "missing") await rm(path);
      else if (how === "cut short") await truncate(path, bytes.length - 3);
      else if (how === "changed") await writeFile(path, bytes.toString().replace("m3", "mX"));
      const again = await open({ after: 5, ...(how === "of another store" && { storeId: "other" }) });
      expect(again.list({ since: seen, limit: 9 })).toMatchObject({ items: [], reset: true });
      expect(again.list({ since: "0", limit: 9 })).toMatchObject({ items: [], reset: true });
      fill(again, 6, 6);
      const { next } = again.list({ since: seen, limit: 9 });
      await again.save(6);
      const third = await open({ after: 6, ...(how === "of another store" && { storeId: "other" }) });
      fill(third, 7, 7);
      expect(third.list({ since: next, limit: 9 }).items.map(({ id }) => id)).toEqual(["m7"]);
    },
  );

  it("loses nothing of an earlier save to one that the disk fails, at any step", async () => {
    for (let step = 1; ; step += 1) {
      await rm(directory, { recursive: true, force: true });
      await nodeDisk.makeDirectory(directory);
      const disk = await createFaultyDisk(directory);
      const feed = await open({ disk });
      fill(feed, 1, 3);
      await feed.save(3);
      const stepsBefore = disk.steps;
      fill(feed, 4, 6);
      disk.failAt(stepsBefore + step, "ENOSPC");
      const failed = await feed.save(6).then(
        () => false,
        () => true,
      );
      if (!failed) break;
      const after = await open({ after: 3 });
      expect(idsAfter(after, "0")).toEqual(["m1", "m2", "m3"]);
      disk.heal();
      await feed.save(6);
      expect(idsAfter(await open({ after: 6 }), "0")).toEqual(["m1", "m2", "m3", "m4", "m5", "m6"]);
    }
  });

  it("has a file no larger than what is kept", async () => {
    const feed = await open({ maxEntries: 100 });
    let most = 0;
    for (let n = 1; n <= 2_000; n += 50) {
      fill(feed, n, n + 49);
      await feed.save(n + 49);
      most = Math.max(most, (await readFile(join(directory, "CHANGES"))).length);
    }
    expect(most).toBeLessThan(110 * 60);
    expect(idsAfter(await open({ maxEntries: 100, after: 2_000 }), "0")).toHaveLength(100);
  });
});
