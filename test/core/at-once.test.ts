import { expect, it } from "vitest";
import { loadedOnce } from "../../src/core/at-once.ts";

it("loads once, and again after a failure", async () => {
  let loads = 0;
  const get = loadedOnce(async () => {
    loads += 1;
    if (loads === 1) throw new Error("not there yet");
    return `load ${loads}`;
  });
  const first = await Promise.allSettled([get(), get()]);
  expect(first.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(loads).toBe(1);
  expect(await Promise.all([get(), get()])).toEqual(["load 2", "load 2"]);
  expect(await get()).toBe("load 2");
});
