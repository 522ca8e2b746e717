import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fit, relativePeriods, timesIn } from "../../../src/core/text/time-expressions.ts";

const DAY = 86_400_000;
/** A Saturday. */
const NOW = Date.UTC(2026, 10, 21, 15);
const day = (year: number, month: number, date: number, days = 1) => {
  const from = Date.UTC(year, month, date);
  return { kind: "period", from, to: from + days * DAY };
};

describe("timesIn", () => {
  it.each([
    ["what happened on 7 may 2023", day(2023, 4, 7)],
    ["what happened on may 7th, 2023", day(2023, 4, 7)],
    ["on 2023-05-07", day(2023, 4, 7)],
    ["in may 2023", day(2023, 4, 1, 31)],
    ["in 2023", day(2023, 0, 1, 365)],
    ["in may", { kind: "yearly", months: [4] }],
    ["on 7 may", { kind: "yearly", months: [4], day: 7 }],
    ["in spring", { kind: "yearly", months: [2, 3, 4] }],
    ["in the winter of 2022", { kind: "period", from: Date.UTC(2022, 11), to: Date.UTC(2023, 2) }],
    ["yesterday", day(2026, 10, 20)],
    ["last week", day(2026, 10, 9, 7)],
    ["this weekend", day(2026, 10, 21, 2)],
    ["last month", day(2026, 9, 1, 31)],
    ["last year", day(2025, 0, 1, 365)],
    ["two weeks ago", day(2026, 10, 2, 7)],
    ["3 days ago", day(2026, 10, 18)],
    ["on friday", day(2026, 10, 20)],
    ["last saturday", day(2026, 10, 14)],
    ["two weekends ago", day(2026, 10, 7, 2)],
    ["tomorrow", day(2026, 10, 22)],
    ["the day after tomorrow", day(2026, 10, 23)],
    ["next week", day(2026, 10, 23, 7)],
    ["next month", day(2026, 11, 1, 31)],
    ["next saturday", day(2026, 10, 28)],
    ["next sunday", day(2026, 10, 22)],
  ])("reads %s", (text, time) => {
    expect(timesIn(text, NOW)).toEqual([time]);
  });

  it.each(["may i march", "on 40 may", "room 2023", "", "a fall on ice", "he is a spring chicken"])(
    "finds no time in %s",
    (text) => {
      expect(timesIn(text, NOW)).toEqual([]);
    },
  );

  it("reads any text and finds at most eight", () => {
    expect(timesIn("on 1 may 2020 ".repeat(5_000), NOW)).toHaveLength(8);
    const words = fc.constantFrom(
      "in",
      "may",
      "2023",
      "7",
      "last",
      "week",
      "of",
      "ago",
      "two",
      "days",
      ",",
      "-",
    );
    fc.assert(
      fc.property(fc.array(words, { maxLength: 30 }), (parts) => {
        for (const time of timesIn(parts.join(" "), NOW)) {
          if (time.kind === "period") expect(time.from).toBeLessThan(time.to);
          expect(fit(time, NOW)).toBeGreaterThanOrEqual(0);
          expect(fit(time, NOW)).toBeLessThanOrEqual(1);
        }
      }),
    );
  });
});

describe("fit", () => {
  it("is 1 within a time, and falls to 0 outside", () => {
    const [may] = timesIn("on 7 may 2023", NOW);
    if (may === undefined) throw new Error("no time");
    expect(fit(may, Date.UTC(2023, 4, 7, 23))).toBe(1);
    expect(fit(may, Date.UTC(2023, 4, 8, 12))).toBe(0.25);
    expect(fit(may, Date.UTC(2023, 4, 9))).toBe(0);
  });

  it("takes a day without a year for every year's, across its turn too", () => {
    const time = { kind: "yearly", months: [0], day: 1 } as const;
    expect(fit(time, Date.UTC(2019, 0, 1, 5))).toBe(1);
    expect(fit(time, Date.UTC(2018, 11, 31, 12))).toBe(0.25);
    expect(fit({ kind: "yearly", months: [4] }, Date.UTC(2011, 4, 30))).toBe(1);
    expect(fit({ kind: "yearly", months: [4] }, Date.UTC(2011, 5, 1))).toBe(0);
  });
});

describe("relativePeriods", () => {
  it("leaves out what names its date, and weekdays that may be past or to come", () => {
    expect(relativePeriods("yesterday, as on 7 may 2023, and again on friday", NOW)).toEqual([
      day(2026, 10, 20),
    ]);
  });

  it("moves with the moment, and has at most eight", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 40_000 }), (days) => {
        const today = days * DAY;
        expect(relativePeriods("yesterday ".repeat(20), today + DAY / 2)).toEqual(
          Array.from({ length: 8 }, () => ({ kind: "period", from: today - DAY, to: today })),
        );
      }),
    );
  });
});
