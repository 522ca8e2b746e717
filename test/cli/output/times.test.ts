import { describe, afterEach, beforeEach, expect, it } from "vitest";
import { parseLocalTime } from "../../../src/core/text/calendar.ts";
import { day, minute, moment } from "../../../src/cli/output/output.ts";

describe("times", () => {
  /** UTC−5 in winter, UTC−4 in summer. */
  const ZONE = "America/New_York";
  const NOW = Date.parse("2026-11-22T02:30:00Z"); // 21:30 of the 21st there

  const zoneBefore = process.env["TZ"];
  beforeEach(() => void (process.env["TZ"] = ZONE));
  afterEach(() => {
    if (zoneBefore === undefined) delete process.env["TZ"];
    else process.env["TZ"] = zoneBefore;
  });

  const parsed = (text: string, forward = false) => {
    const time = parseLocalTime(text, NOW, forward);
    return time === undefined ? undefined : new Date(time).toISOString();
  };

  describe("parseLocalTime", () => {
    it.each([
      ["now", "2026-11-22T02:30:00.000Z"],
      ["today", "2026-11-21T05:00:00.000Z"],
      ["Yesterday", "2026-11-20T05:00:00.000Z"],
      ["tomorrow", "2026-11-22T05:00:00.000Z"],
      ["7d", "2026-11-15T02:30:00.000Z"],
      ["2w", "2026-11-08T02:30:00.000Z"],
      ["90s", "2026-11-22T02:28:30.000Z"],
      ["90min", "2026-11-22T01:00:00.000Z"],
      ["12h", "2026-11-21T14:30:00.000Z"],
      // Half past nine in the evening, of summer time.
      ["3mo", "2026-08-22T01:30:00.000Z"],
      ["1y", "2025-11-22T02:30:00.000Z"],
      ["2022", "2022-01-01T05:00:00.000Z"],
      ["2022-09", "2022-09-01T04:00:00.000Z"],
      ["2022-09-03", "2022-09-03T04:00:00.000Z"],
      ["2022-09-03 14:30", "2022-09-03T18:30:00.000Z"],
      ["2022-09-03T14:30:15.5", "2022-09-03T18:30:15.500Z"],
      ["2022-09-03T14:30:00Z", "2022-09-03T14:30:00.000Z"],
      ["2022-09-03T14:30+02:00", "2022-09-03T12:30:00.000Z"],
      ["1662215400000", "2022-09-03T14:30:00.000Z"],
    ])("reads %s as %s", (text, expected) => {
      expect(parsed(text)).toBe(expected);
    });

    it.each([
      "",
      "someday",
      "31.12.2025",
      "2022-13",
      "2022-02-30",
      "2022-02-30T00:00Z",
      "0d",
      "2022-09-03 24:00",
      "2022-9-3",
    ])("refuses %j", (text) => expect(parsed(text)).toBeUndefined());

    it("reads spans forward where an end is meant", () => {
      expect(parsed("7d", true)).toBe("2026-11-29T02:30:00.000Z");
    });
  });

  it("prints the time of the machine", () => {
    expect(day("2026-11-22T02:30:00Z")).toBe("2026-11-21");
    expect(minute("2026-11-22T02:30:00Z")).toBe("2026-11-21 21:30");
    expect(moment("2026-11-21T05:00:00Z")).toBe("2026-11-21");
  });
});
