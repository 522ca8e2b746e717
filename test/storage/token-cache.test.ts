import { describe, expect, it } from "vitest";
import { TokenCache } from "../../src/storage/token-cache.ts";

const rows = (...entries: readonly (readonly [string, number])[]) =>
  new Map(entries.map(([id, value]) => [id, { vectors: Int8Array.of(value, value) }]));

describe("TokenCache", () => {
  it("keeps what was read, as a copy", async () => {
    const cache = new TokenCache(100);
    const read = rows(["a", 1]);
    expect(await cache.keep(async () => read)).toBe(read);
    read.get("a")?.vectors.fill(9);
    expect(cache.get("a")?.vectors).toEqual(Int8Array.of(1, 1));
    expect(cache.get("b")).toBeUndefined();
  });

  it("holds no more than its bytes, and lets go of what was read longest ago", async () => {
    const cache = new TokenCache(4);
    await cache.keep(async () => rows(["a", 1], ["b", 2]));
    await cache.keep(async () => rows(["c", 3]));
    expect(["a", "b", "c"].map((id) => cache.get(id)?.vectors[0])).toEqual([undefined, 2, 3]);
    expect(cache.bytes).toBe(4);
  });

  it("forgets what has changed, and does not take it from a reading that began before", async () => {
    const cache = new TokenCache(100);
    await cache.keep(async () => rows(["a", 1], ["b", 1]));
    const { promise, resolve } = promised();
    const reading = cache.keep(() => promise);
    cache.forget("a");
    resolve(rows(["a", 1], ["b", 1]));
    await reading;
    expect([cache.get("a"), cache.get("b")?.vectors]).toEqual([undefined, Int8Array.of(1, 1)]);
    await cache.keep(async () => rows(["a", 2]));
    expect(cache.get("a")?.vectors).toEqual(Int8Array.of(2, 2));
  });

  it("keeps nothing of before another model, nor of a reading that began before it", async () => {
    const cache = new TokenCache(100);
    await cache.keep(async () => rows(["a", 1]));
    const { promise, resolve } = promised();
    const reading = cache.keep(() => promise);
    cache.clear();
    resolve(rows(["b", 1]));
    await reading;
    expect([cache.get("a"), cache.get("b"), cache.bytes]).toEqual([undefined, undefined, 0]);
    await cache.keep(async () => new Map([["a", { vectors: Int8Array.of(2), isBefore: true }]]));
    expect(cache.get("a")?.isBefore).toBe(true);
  });

  it("goes on after a reading that failed", async () => {
    const cache = new TokenCache(100);
    await expect(cache.keep(() => Promise.reject(new Error("disk")))).rejects.toThrow("disk");
    expect(cache.bytes).toBe(0);
  });
});

function promised() {
  let resolve: (read: ReturnType<typeof rows>) => void = () => {};
  const promise = new Promise<ReturnType<typeof rows>>((done) => (resolve = done));
  return { promise, resolve };
}
