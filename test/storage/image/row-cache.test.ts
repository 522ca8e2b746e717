import { describe, expect, it, vi } from "vitest";
import { memoryRow } from "../../support/memory-row.ts";
import {
  CachedRows,
  type CacheSizes,
  cacheSizes,
  filledMemories,
  RowCache,
} from "../../../src/storage/image/row-cache.ts";

interface Row {
  readonly value: number;
}

const BYTES_A_ROW = 2;
const cacheOf = (maxBytes: number) => new RowCache<Row>(maxBytes, () => BYTES_A_ROW);
const rows = (...entries: readonly (readonly [string, number])[]) =>
  new Map(entries.map(([id, value]) => [id, { value }]));
const nothing = async () => rows();
/** What is there without reading. */
const valuesOf = async (cache: RowCache<Row>, ...ids: string[]) => {
  const found = await cache.read(ids, nothing);
  return ids.map((id) => found.get(id)?.value);
};

describe("RowCache", () => {
  it("reads what it does not have, once", async () => {
    const cache = cacheOf(100);
    await cache.read(["a"], async () => rows(["a", 1]));
    const read = vi.fn(async () => rows(["b", 2]));
    expect(await cache.read(["a", "b"], read)).toEqual(rows(["a", 1], ["b", 2]));
    expect(await cache.read(["b", "a"], read)).toEqual(rows(["a", 1], ["b", 2]));
    expect(read.mock.calls).toEqual([[["b"]]]);
  });

  it("holds no more than its bytes, and lets go of what was read longest ago", async () => {
    const cache = cacheOf(2 * BYTES_A_ROW);
    await cache.read(["a", "b"], async () => rows(["a", 1], ["b", 2]));
    await cache.read(["c"], async () => rows(["c", 3]));
    expect(await valuesOf(cache, "a", "b", "c")).toEqual([undefined, 2, 3]);
    expect(cache.bytes).toBe(2 * BYTES_A_ROW);
  });

  it("forgets what has changed, and does not take it from a reading that began before", async () => {
    const cache = cacheOf(100);
    await cache.read(["a"], async () => rows(["a", 1]));
    const { promise, resolve } = promised();
    const reading = cache.read(["b", "c"], () => promise);
    cache.forget("a");
    cache.forget("b");
    resolve(rows(["b", 1], ["c", 1]));
    await reading;
    expect(await valuesOf(cache, "a", "b", "c")).toEqual([undefined, undefined, 1]);
    await cache.read(["b"], async () => rows(["b", 2]));
    expect(await valuesOf(cache, "b")).toEqual([2]);
  });

  it("keeps nothing of before it was cleared, nor of a reading that began before", async () => {
    const cache = cacheOf(100);
    await cache.read(["a"], async () => rows(["a", 1]));
    const { promise, resolve } = promised();
    const reading = cache.read(["b"], () => promise);
    cache.clear();
    resolve(rows(["b", 1]));
    await reading;
    expect(await valuesOf(cache, "a", "b")).toEqual([undefined, undefined]);
    expect(cache.bytes).toBe(0);
  });

  it("goes on after a reading that failed", async () => {
    const cache = cacheOf(100);
    await expect(cache.read(["a"], () => Promise.reject(new Error("disk")))).rejects.toThrow("disk");
    expect(cache.bytes).toBe(0);
  });
});

describe("CachedRows", () => {
  const rowsOf = (count: number, until = new AbortController().signal, sizes?: CacheSizes) => {
    const ids = Array.from({ length: count }, (_, i) => `m${i}`);
    const read = vi.fn(
      async (wanted: readonly string[]) => new Map(wanted.map((id) => [id, memoryRow({ id })])),
    );
    const settled = () => undefined;
    return { cached: new CachedRows({ read, ids: () => ids, settled, until, sizes }), read };
  };

  it("reads all of a small store after the first question, each row once", async () => {
    const { cached, read } = rowsOf(600);
    await cached.read(["m7", "m599"]);
    cached.readAhead();
    await vi.waitFor(() => expect(read.mock.calls.flat(2).length).toBe(600));
    expect((await cached.read(["m0", "m300", "m1"])).size).toBe(3);
    expect(read.mock.calls.flat(2).length).toBe(600);
  });

  it("reads of a large store, or of one that closes, only what is asked for", async () => {
    const small = rowsOf(600, undefined, { memories: 4e5 });
    for (const { cached, read } of [rowsOf(20_000), rowsOf(600, AbortSignal.abort()), small]) {
      await cached.read(["m7"]);
      cached.readAhead();
      await new Promise((done) => setTimeout(done, 5));
      expect(read.mock.calls).toEqual([[["m7"]]]);
    }
  });
});

it("shares a budget among all caches", () => {
  for (const bytes of [8e6, 64e6]) {
    const { memories, tables } = cacheSizes(bytes);
    expect(memories + (tables?.index ?? 0) + (tables?.metadata ?? 0)).toBeCloseTo(bytes);
    expect(Math.min(memories, tables?.metadata ?? 0)).toBeGreaterThan(500_000);
  }
  expect([filledMemories(cacheSizes()), cacheSizes().tables]).toEqual([12_998, undefined]);
});

function promised() {
  let resolve: (read: Map<string, Row>) => void = () => {};
  const promise = new Promise<Map<string, Row>>((done) => (resolve = done));
  return { promise, resolve };
}
