import { describe, expect, it } from "vitest";
import { drawTimeline, type TimelineEvent } from "../../../src/cli/output/draw-timeline.ts";

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 0, 1);

function fact(object: string, from: string, to: string | null, more = {}) {
  const time = (day: string) => `${day}T00:00:00.000Z`;
  const period = { valid_from: time(from), valid_to: to === null ? null : time(to) };
  return { id: object, subject: "Ada", predicate: "lives in", object, confidence: 1, ...period, ...more };
}
const event = (of: ReturnType<typeof fact>, type = "created", timestamp = of.valid_from): TimelineEvent => ({
  timestamp,
  change_type: type,
  fact: of,
});

describe("drawTimeline", () => {
  it("draws bars on one scale, by predicate, with what was said of a fact later", () => {
    const london = fact("London", "2016-01-01", "2021-01-01");
    const paris = fact("Paris", "2021-01-01", null, { predicate: "Lives In", confidence: 0.5 });
    const lines = drawTimeline(
      [
        event(london),
        event(london, "superseded", "2021-01-01T00:00:00.000Z"),
        event(paris),
        event(paris, "updated", "2025-06-01T09:30:00.000Z"),
        event(fact("a boat", "2018-07-01", "2018-07-02", { predicate: "owns" })),
      ],
      NOW,
    );
    expect(lines).toEqual([
      "lives in",
      "  ├───────────────────┤                     2016-01-01 – 2021-01-01  London",
      "                      ├──────────────────▶  from 2021-01-01          Paris · confidence 0.5",
      "                                            2025-06-01 09:30 updated · confidence 0.5",
      "",
      "owns",
      "            │                               2018-07-01 – 2018-07-02  a boat",
    ]);
  });

  it("reaches as far as what is planned, and stays within its columns", () => {
    const far = fact("Mars", "2080-01-01", null);
    const [, line = ""] = drawTimeline([event(far)], NOW);
    expect(line.indexOf("▶")).toBe(41);
    const now = fact("now", "2026-01-01", null);
    expect(drawTimeline([event(now)], NOW)[1]).toContain("▶");
    expect(drawTimeline([event(now)], NOW - DAY_MS)[1]).toContain("▶");
  });

  it("lets no text move the cursor", () => {
    const [name, line] = drawTimeline(
      [event(fact("a\u001b[2Jb\nc", "2020-01-01", null, { predicate: "p\u0007" }))],
      NOW,
    );
    expect(`${name}${line}`).not.toMatch(/\p{Cc}/u);
  });
});
