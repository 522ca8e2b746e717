import { expect, it } from "vitest";
import { clockTime } from "../../../src/core/text/calendar.ts";

it.each([
  [0, "0:00"],
  [7_900, "0:07"],
  [751_000, "12:31"],
  [3_599_999, "59:59"],
  [3_723_000, "1:02:03"],
  [864_000_000, "240:00:00"],
])("shows %s ms as %s", (ms, text) => {
  expect(clockTime(ms)).toBe(text);
});
