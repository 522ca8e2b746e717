import { beforeEach, describe, expect, it } from "vitest";
import type { FeedEntry } from "../../src/core/feed.ts";
import { RecentFeed, type RecentFeedOptions } from "../../src/storage/recent-feed.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
let now: number;
beforeEach(() => {
  now = 1_000_000;
});

const open = (options: Partial<RecentFeedOptions> = {}) =>
  new RecentFeed({ clock: { now: () => now }, isNew: true, ...options });
const added = (id: string, userId: string | null = null): FeedEntry => ({ kind: "memory.added", id, userId });
const idsAfter = (feed: RecentFeed, since: number, userId?: string) =>
  feed.list({ since, limit: 1_000, ...(userId !== undefined && { userId }) }).items.map(({ id }) => id);
const fill = (feed: RecentFeed, from: number, to: number) => {
  for (let n = from; n <= to; n += 1) feed.publish(now, [added(`m${n}`)]);
};

describe("a page", () => {
  it("has what came after its position, in order, and says where the next begins", () => {
    const feed = open();
    expect(feed.list({ since: 0, limit: 9 })).toMatchObject({ items: [], reset: false });
    feed.publish(now, [added("a", "ann"), added("b", "ben")]);
    feed.publish(now, []);
    feed.publish(now + 1, [added("c", "ann")]);
    const first = feed.list({ since: 0, limit: 2 });
    expect(first.items.map(({ id, at }) => [id, at])).toEqual([
      ["a", now],
      ["b", now],
    ]);
    expect(first.next).toBe(first.items[1]?.position);
    expect(idsAfter(feed, first.items[0]?.position ?? 0)).toEqual(["b", "c"]);
    const second = feed.list({ since: first.next, limit: 2 });
    expect(second.items.map(({ id }) => id)).toEqual(["c"]);
    expect(feed.list({ since: second.next, limit: 2 })).toEqual({
      items: [],
      next: second.next,
      reset: false,
    });
    expect(feed.list({ limit: 2 })).toEqual({ items: [], next: second.next, reset: false });
    expect(idsAfter(feed, 0, "ann")).toEqual(["a", "c"]);
    expect(feed.list({ since: 0, limit: 9, userId: "ben" }).next).toBe(first.next);
  });

  it("resets a reader from before the start, and one from the beginning of a store that is not new", () => {
    const feed = open({ isNew: false });
    fill(feed, 1, 3);
    const page = feed.list({ since: null, limit: 9 });
    expect(page).toMatchObject({ items: [], reset: true });
    expect(feed.list({ since: page.next, limit: 9 })).toEqual({ items: [], next: page.next, reset: false });
    expect(feed.list({ since: 0, limit: 9 })).toMatchObject({ items: [{}, {}, {}], reset: true });
    const { next } = open({ isNew: false }).list({ since: 0, limit: 9 });
    expect(open({ isNew: false }).list({ since: next, limit: 9 }).reset).toBe(false);
  });

  it("is for one user's reader as if others wrote nothing", () => {
    const [quiet, busy] = [open({ maxEntries: 10 }), open({ maxEntries: 10 })];
    const others = () => {
      for (let n = 0; n < 40; n += 1) busy.publish(now, [added(`b${n}`, "ben"), added(`n${n}`)]);
    };
    const calls = [0, 0];
    quiet.watch(() => (calls[0] = (calls[0] ?? 0) + 1), "ann");
    busy.watch(() => (calls[1] = (calls[1] ?? 0) + 1), "ann");
    /** Pages as a reader sees them: which ids, whether to reset, and which of the positions are the same. */
    const seen = [quiet, busy].map((feed) => {
      const between = () => feed === busy && others();
      const pages: object[] = [];
      const positions: number[] = [];
      const read = (since: number | null | undefined) => {
        const page = feed.list({ limit: 3, userId: "ann", ...(since !== undefined && { since }) });
        const places = [...page.items.map(({ position }) => position), page.next];
        positions.push(...places);
        pages.push({ ids: page.items.map(({ id }) => id), reset: page.reset });
        between();
        return page.next;
      };
      between();
      let next = read(undefined);
      next = read(next);
      for (let n = 0; n < 5; n += 1) {
        feed.publish(now, [added(`a${n}`, "ann")]);
        between();
        if (n % 2 === 0) next = read(next);
      }
      for (const since of [0, null, undefined, next, next]) read(since);
      return { pages, same: positions.map((position) => positions.indexOf(position)) };
    });
    expect(seen[1]).toEqual(seen[0]);
    expect(calls).toEqual([5, 5]);
    now += 7 * DAY_MS + 1;
    for (const feed of [quiet, busy])
      expect(feed.list({ since: 0, limit: 9, userId: "ann" }).reset).toBe(true);
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
    const { position } = feed.list({ since: 0, limit: 1 }).items[0] ?? { position: 0 };
    fill(feed, 4, 14);
    expect(idsAfter(feed, 0)).toEqual(["m5", "m6", "m7", "m8", "m9", "m10", "m11", "m12", "m13", "m14"]);
    expect(feed.list({ since: 0, limit: 9 }).reset).toBe(true);
    expect(feed.list({ since: position, limit: 9 })).toMatchObject({ items: [], reset: true });
    const { next } = feed.list({ limit: 1 });
    now += 7 * DAY_MS + 1;
    expect(feed.list({ since: 0, limit: 9 })).toMatchObject({ items: [], reset: true });
    expect(feed.list({ since: next, limit: 9 })).toMatchObject({ items: [], reset: false });
  });

  it("is 10 000 entries of each user, in one order for who sees all", () => {
    const feed = open();
    const many = Array.from({ length: 11_000 }, (_, n) => [added(`a${n}`, "ann"), added(`b${n}`, "ben")]);
    feed.publish(now, many.flat().slice(0, -3_000));
    feed.publish(now, many.flat().slice(-3_000));
    expect(feed.list({ since: 0, limit: 20_000, userId: "ann" }).items).toHaveLength(10_000);
    expect(feed.list({ since: 0, limit: 20_000, userId: "eve" })).toMatchObject({ items: [], reset: false });
    const found: string[] = [];
    let next = (feed.list({ since: 0, limit: 1 }).items[0]?.position ?? 0) - 1;
    for (let page; (page = feed.list({ since: next, limit: 999 })).items.length > 0;) {
      found.push(...page.items.map(({ id }) => id));
      next = page.next;
    }
    expect(found).toEqual(
      many
        .slice(1_000)
        .flat()
        .map(({ id }) => id),
    );
  });

  it("is nothing of an erased user but that", () => {
    const feed = open();
    feed.publish(now, [added("a", "ann"), added("b", "ben")]);
    expect(feed.names("ann")).toBe(true);
    feed.publish(now, [{ kind: "user.erased", id: "ann", userId: "ann" }], "ann");
    expect(feed.names("ann")).toBe(true);
    expect(feed.names("ben")).toBe(true);
    expect(feed.list({ since: 0, limit: 9 }).items.map(({ kind, id }) => [kind, id])).toEqual([
      ["memory.added", "b"],
      ["user.erased", "ann"],
    ]);
  });
});
