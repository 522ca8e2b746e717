import { describe, expect, it, vi } from "vitest";
import { RowCache } from "../../../src/storage/postgres/row-cache.ts";

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

function promised() {
  let resolve: (read: Map<string, Row>) => void = () => {};
  const promise = new Promise<Map<string, Row>>((done) => (resolve = done));
  return { promise, resolve };
}
