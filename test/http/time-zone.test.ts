import { expect, it } from "vitest";
import { bindOperations } from "../../src/core/operations.ts";
import { createMemoryWorld } from "../support/memory-world.ts";
import { createTestServer } from "../support/test-server.ts";

it("decides of which day a question speaks: the daemon's, unless the request names another", async () => {
  const { ports } = createMemoryWorld();
  const { post } = createTestServer(bindOperations({ ...ports, timeZone: "Asia/Tokyo" }));
  // In Tokyo the 10th and the 11th, in New York the 9th and the 10th.
  for (const [content, occurred_at] of [
    ["Bought rye flour.", "2025-05-10T00:30:00Z"],
    ["Mended the gate.", "2025-05-10T16:00:00Z"],
  ])
    await post("/memory/add", { content, occurred_at });
  const found = async (more: object) => {
    const { matches } = (
      await post("/memory/query", { query: "what happened on 10 May 2025?", ...more })
    ).json();
    return matches.map(({ content }: { content: string }) => content);
  };
  expect(await found({})).toEqual(["Bought rye flour."]);
  expect(await found({ time_zone: null })).toEqual(["Bought rye flour."]);
  expect(await found({ time_zone: "America/New_York" })).toEqual(["Mended the gate."]);
  expect(await found({ time_zone: "UTC" })).toEqual(["Mended the gate.", "Bought rye flour."]);
  const wrong = await post("/memory/query", { query: "today", time_zone: "Mars/Olympus" });
  expect([wrong.statusCode, wrong.json().errors]).toMatchObject([400, [{ path: "/time_zone" }]]);
});
