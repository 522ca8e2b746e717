import { describe, expect, it } from "vitest";
import { memoryId } from "../../src/cli/connect.ts";
import type { MemorydClient } from "../../src/client/client.ts";

const IDS = ["019aa5a0-6c1e-7c3a-9d0f-aaaaaa123456", "019aa5a0-6c1e-7c3a-9d0f-bbbbbb123456"];
const api = {
  memories: {
    page: async ({ id_end = "" }) => ({
      items: IDS.filter((id) => id.endsWith(id_end)).map((id) => ({ id })),
    }),
  },
} as unknown as MemorydClient;

describe("memoryId", () => {
  it("takes an id whole, or an end that no other has", async () => {
    expect(await memoryId(api, (IDS[0] ?? "").toUpperCase())).toBe(IDS[0]);
    expect(await memoryId(api, "B123456")).toBe(IDS[1]);
  });

  it("names several that end alike, and what is no end of an id", async () => {
    await expect(memoryId(api, "123456")).rejects.toThrow(
      `Several ids end in 123456: ${IDS.join(", ")}; give more`,
    );
    await expect(memoryId(api, "23456")).rejects.toThrow(
      '"23456" is no id of a memory; give the id, or its last 6',
    );
    await expect(memoryId(api, "ffffff")).rejects.toThrow(
      "There is no memory with an id that ends in ffffff.",
    );
  });
});
