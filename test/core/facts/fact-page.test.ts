import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { compareFacts } from "../../../src/core/facts/compare-facts.ts";
import { sortedPage } from "../../../src/core/facts/fact-store.ts";
import { factTimeline, findFacts } from "../../../src/core/facts/find-facts.ts";
import { MAX_PAGE_CHARS } from "../../../src/core/page-end.ts";
import { recordFacts } from "../../../src/core/facts/record-fact.ts";
import { createFakeFactPorts } from "../../support/in-memory-fact-store.ts";
import { times } from "../../support/stress.ts";

describe("sortedPage", () => {
  it("is the slice of the sorted list", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.nat(), { maxLength: 200 }),
        fc.nat(12),
        fc.nat(60),
        (numbers, limit, offset) => {
          const sorted = numbers.toSorted((a, b) => a - b);
          expect(sortedPage([...numbers], { limit, offset }, (a, b) => a - b)).toEqual(
            sorted.slice(offset, offset + limit),
          );
        },
      ),
      { numRuns: times(200) },
    );
  });
});

describe("a page of large facts", () => {
  const large = "x".repeat(60_000);
  const ports = createFakeFactPorts();
  beforeAll(async () => {
    const items = Array.from({ length: 300 }, (_, i) => ({
      subject: `s${i}`,
      predicate: "p",
      object: "a",
      validFrom: i,
      metadata: { large },
    }));
    await recordFacts(ports, { items });
    await recordFacts(ports, { items: items.map((item) => ({ ...item, object: "b", validFrom: 1_000 })) });
  });

  it("ends at 8 MiB, and the next begins there", () => {
    const seen = new Set<string>();
    for (let offset = 0; offset < 600;) {
      const { facts, total } = findFacts(ports, { limit: 10_000, offset });
      expect(total).toBe(600);
      expect(facts.length).toBeGreaterThan(Math.min(100, total - offset - 1));
      expect(JSON.stringify(facts).length).toBeLessThan(MAX_PAGE_CHARS);
      for (const { id } of facts) seen.add(id);
      offset += facts.length;
    }
    expect(seen.size).toBe(600);
    expect(factTimeline(ports, { subject: "s1", limit: 9 }).events).toHaveLength(3);
  });

  it("ends in all lists of a comparison at one place", () => {
    const seen: string[] = [];
    for (let offset: number | undefined = 0; offset !== undefined;) {
      const page: ReturnType<typeof compareFacts> = compareFacts(ports, {
        time1: 500,
        time2: 2_000,
        limit: 10_000,
        offset,
      });
      expect(page.summary.changed).toBe(300);
      expect(JSON.stringify(page).length).toBeLessThan(MAX_PAGE_CHARS);
      seen.push(
        ...page.changed.map(({ before, after }) => `${before.object}${after.object}${after.subject}`),
      );
      offset = page.nextOffset;
    }
    expect(new Set(seen).size).toBe(300);
  });
});
