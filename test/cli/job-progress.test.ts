import { expect, it } from "vitest";
import { progressLines } from "../../src/cli/output/times.ts";

it("shows the stage, a bar and the time left, by the pace of the stage", () => {
  let now = 5_000;
  const line = progressLines(() => now);
  expect(line({ stage: "queued", done: 0, total: 0 })).toBe("queued");
  expect(line({ stage: "transcribing", done: 0, total: 600 })).toBe(
    "transcribing [....................] 0 %",
  );
  now += 30_000;
  expect(line({ stage: "transcribing", done: 150, total: 600 })).toBe(
    "transcribing [#####...............] 25 %, 1:30 left",
  );
  now += 1_000;
  expect(line({ stage: "embedding", done: 3, total: 3 })).toBe("embedding [####################] 100 %");
  expect(line({ stage: "embedding", done: 4, total: 3 })).toMatch(/100 %/);
});
