import { beforeEach, describe, expect, it } from "vitest";
import type { FeedEntry } from "../../src/core/feed.ts";
import { RecentFeed, type RecentFeedOptions } from "../../src/storage/recent-feed.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
let now: number;
beforeEach(() => {
  now = 1_000_000;
});

const open = (options: Partial<RecentFeedOptions> = {}) =>
  new RecentFeed({ storeId: "store", epoch: 1, clock: { now: () => now }, after: 0, ...options });
const added = (id: string, userId: string | null = null): FeedEntry => ({ kind: "memory.added", id, userId });
const idsAfter = (feed: RecentFeed, since: string, userId?: string) =>
  feed.list({ since, limit: 1_000, ...(userId !== undefined && { userId }) }).items.map(({ id }) => id);
const fill = (feed: RecentFeed, from: number, to: number) => {
  for (let n = from; n <= to; n += 1) feed.publish(n, now, [added(`m${n}`)]);
};

describe("a page", () => {
  it("has what came after its position, in order, and says where the next begins", () => {
    const feed = open();
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

  it("refuses what is no position", () => {
    const feed = open();
    for (const since of ["", "x", "1.2", "a.b.c", "1.2.3.4", "-1.0.0"])
      expect(() => feed.list({ since, limit: 1 })).toThrow("no position");
  });

  it("resets a reader from another store, from another epoch, or from ahead", () => {
    const feed = open();
    fill(feed, 1, 3);
    const { next } = feed.list({ limit: 1 });
    for (const other of [{ storeId: "other" }, { epoch: 2 }]) {
      const another = open(other);
      fill(another, 1, 3);
      const page = another.list({ since: next, limit: 9 });
      expect(page).toMatchObject({ items: [], reset: true });
      fill(another, 4, 4);
      expect(idsAfter(another, page.next)).toEqual(["m4"]);
    }
    const shorter = open();
    fill(shorter, 1, 2);
    expect(shorter.list({ since: next, limit: 9 }).reset).toBe(true);
  });

  it("calls watchers after each record, until they stop", () => {
    const feed = open();
    let calls = 0;
    const stop = feed.watch(() => (calls += 1));
    fill(feed, 1, 2);
    stop();
    fill(feed, 3, 3);
    expect(calls).toBe(2);
  });
});

describe("what is kept", () => {
  it("is the last entries, and those of a week; who wants more is reset", () => {
    const feed = open({ maxEntries: 10 });
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

  it("is nothing of an erased user but that", () => {
    const feed = open();
    feed.publish(1, now, [added("a", "ann"), added("b", "ben")]);
    expect(feed.names("ann")).toBe(true);
    feed.publish(2, now, [{ kind: "user.erased", id: "ann", userId: "ann" }], "ann");
    expect(feed.names("ann")).toBe(true);
    expect(feed.names("ben")).toBe(true);
    expect(feed.list({ since: "0", limit: 9 }).items.map(({ kind, id }) => [kind, id])).toEqual([
      ["memory.added", "b"],
      ["user.erased", "ann"],
    ]);
  });
});

describe("after a restart", () => {
  it("has every entry since the checkpoint at its place, from the journal, and resets readers behind it", () => {
    const feed = open();
    fill(feed, 1, 9);
    const positions = feed.list({ since: "0", limit: 99 }).items.map(({ position }) => position);
    for (const after of [5, 7]) {
      const again = open({ after });
      fill(again, after + 1, 9);
      expect(idsAfter(again, positions[after] ?? "")).toEqual(idsAfter(feed, positions[after] ?? ""));
      for (const since of ["0", positions[after - 2] ?? "", positions[after - 1] ?? ""])
        expect(again.list({ since, limit: 99 }).reset).toBe(true);
      expect(again.list({ since: feed.list({ limit: 1 }).next, limit: 9 })).toMatchObject({
        items: [],
        reset: false,
      });
    }
  });

  it("tells a reader that was reset all that comes after", () => {
    const again = open({ after: 5 });
    const { next, reset } = again.list({ since: "0", limit: 9 });
    expect(reset).toBe(true);
    expect(open({ after: 5 }).list({ since: next, limit: 9 })).toMatchObject({ items: [], reset: false });
    fill(again, 6, 6);
    expect(again.list({ since: next, limit: 9 })).toMatchObject({ items: [{ id: "m6" }], reset: false });
  });

  it("keeps the place of a record that said nothing", () => {
    const feed = open({ after: 1 });
    feed.publish(2, now, []);
    const { next } = feed.list({ limit: 1 });
    const again = open({ after: 1 });
    again.publish(2, now, []);
    expect(again.list({ since: next, limit: 1 })).toEqual({ items: [], next, reset: false });
  });
});
