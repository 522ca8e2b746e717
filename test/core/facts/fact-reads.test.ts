import { beforeEach, describe, expect, it } from "vitest";
import { compareFacts } from "../../../src/core/facts/compare-facts.ts";
import { factStats, volatileFacts } from "../../../src/core/facts/fact-stats.ts";
import { factTimeline, findFacts } from "../../../src/core/facts/find-facts.ts";

import { invalidateFact, searchFacts, updateFact } from "../../../src/core/facts/fact-operations.ts";
import { recordFact, type RecordFactInput } from "../../../src/core/facts/record-fact.ts";
import { createFakeFactPorts, type FakeFactPorts } from "../../support/in-memory-fact-store.ts";

const YEAR = (year: number) => Date.UTC(year, 0, 1);
const NOW = YEAR(2026);
const DAY_MS = 86_400_000;

let ports: FakeFactPorts;
const add = (
  subject: string,
  predicate: string,
  object: string,
  year: number,
  rest: Partial<RecordFactInput> = {},
) => recordFact(ports, { subject, predicate, object, validFrom: YEAR(year), ...rest });
const said = (facts: readonly { subject: string; object: string }[]) =>
  facts.map((f) => `${f.subject} ${f.object}`);

/** Ann moved from Paris to Rome in 2022 and will move to Oslo; Bob speaks two languages, one since 2024. */
beforeEach(async () => {
  ports = createFakeFactPorts(NOW);
  await add("Ann", "lives in", "Paris", 2020);
  await add("Ann", "lives in", "Rome", 2022, { confidence: 0.5 });
  await add("Ann", "lives in", "Oslo", 2030);
  await add("Bob", "speaks", "French", 2015, { cardinality: "many", userId: "u" });
  await add("Bob", "speaks", "Welsh", 2024, { userId: "u" });
});

describe("findFacts", () => {
  it("lists open facts first, then the newest beginning, in pages", () => {
    const expected = ["Ann Oslo", "Bob Welsh", "Bob French", "Ann Rome", "Ann Paris"];
    expect(said(findFacts(ports, { limit: 10 }).facts)).toEqual(expected);
    const page = findFacts(ports, { limit: 2, offset: 1 });
    expect([said(page.facts), page.total]).toEqual([expected.slice(1, 3), 5]);
  });

  it("filters by every condition", () => {
    const found = (filter: object) => said(findFacts(ports, { limit: 10, ...filter }).facts);
    expect(found({ subject: "ANN", at: YEAR(2021) })).toEqual(["Ann Paris"]);
    expect(found({ predicate: " Speaks " })).toEqual(["Bob Welsh", "Bob French"]);
    expect(found({ object: "Rome " })).toEqual(["Ann Rome"]);
    expect(found({ object: "rome" })).toEqual([]);
    expect(found({ minConfidence: 0.6, subject: "Ann" })).toEqual(["Ann Oslo", "Ann Paris"]);
    expect(found({ userId: "u", at: NOW })).toEqual(["Bob Welsh", "Bob French"]);
    expect(found({ userId: "nobody" })).toEqual([]);
    expect(found({ recordedFrom: NOW + 3 })).toEqual(["Bob Welsh", "Bob French"]);
    expect(found({ knownAt: NOW })).toEqual(["Ann Paris"]);
    expect(found({ knownAt: NOW - 1 })).toEqual([]);
  });

  it("knows who recorded a fact, and what was cut off from it", async () => {
    await add("Cleo", "works at", "Museum", 2020, { createdBy: "codex" });
    await add("Cleo", "works at", "Library", 2022, { validTo: YEAR(2023), createdBy: "cursor" });
    const by = (createdBy: string) => said(findFacts(ports, { limit: 10, createdBy }).facts);
    expect(by("codex")).toEqual(["Cleo Museum", "Cleo Museum"]);
    expect(by("cursor")).toEqual(["Cleo Library"]);
    expect(by("nobody")).toEqual([]);
  });
});

describe("factTimeline", () => {
  it("tells what began, changed and ended, in order", async () => {
    const [rome] = findFacts(ports, { object: "Rome", limit: 1 }).facts;
    const [oslo] = findFacts(ports, { object: "Oslo", limit: 1 }).facts;
    ports.clock.time = YEAR(2027);
    await updateFact(ports, { id: rome?.id ?? "", confidence: 0.9 });
    await invalidateFact(ports, { id: oslo?.id ?? "", validTo: YEAR(2031) });
    const { events, total } = factTimeline(ports, { subject: "ann", limit: 10 });
    expect(
      events.map((e) => [
        new Date(e.timestamp).getUTCFullYear(),
        e.changeType,
        e.fact.object,
        e.fact.confidence,
      ]),
    ).toEqual([
      [2020, "created", "Paris", 1],
      [2022, "superseded", "Paris", 1],
      [2022, "created", "Rome", 0.9],
      [2027, "updated", "Rome", 0.9],
      [2030, "superseded", "Rome", 0.9],
      [2030, "created", "Oslo", 1],
      [2031, "invalidated", "Oslo", 1],
    ]);
    expect(total).toBe(7);
    const part = factTimeline(ports, {
      subject: "Ann",
      predicate: "lives in",
      from: YEAR(2022),
      to: YEAR(2030),
      limit: 1,
      offset: 1,
    });
    expect([part.events.map((e) => e.fact.object), part.total]).toEqual([["Rome"], 3]);
    expect(factTimeline(ports, { subject: "Ann", userId: "u", limit: 10 }).total).toBe(0);
    // Before the correction became known there was none.
    expect(factTimeline(ports, { subject: "Ann", knownAt: NOW + 10, limit: 10 }).total).toBe(5);
  });
});

describe("searchFacts", () => {
  it.each<[string, Parameters<typeof searchFacts>[1]["field"], string[]]>([
    ["rom", "any", ["Ann Rome"]],
    ["R*E", "object", ["Ann Rome"]],
    ["??????", "object", ["Bob French"]],
    ["b*", "subject", ["Bob Welsh", "Bob French"]],
    ["LIVES", "predicate", ["Ann Oslo", "Ann Rome", "Ann Paris"]],
    ["LIVES", "subject", []],
    ["*", "any", ["Ann Oslo", "Bob Welsh", "Bob French", "Ann Rome", "Ann Paris"]],
  ])("%s in %s", (pattern, field, expected) => {
    expect(said(searchFacts(ports, { pattern, field, limit: 10 }).facts)).toEqual(expected);
  });

  it("asks about a moment, of a user", () => {
    expect(said(searchFacts(ports, { pattern: "s", field: "any", at: YEAR(2016), limit: 10 }).facts)).toEqual(
      ["Bob French"],
    );
    expect(searchFacts(ports, { pattern: "ann", field: "any", userId: "u", limit: 10 }).total).toBe(0);
  });
});

describe("compareFacts", () => {
  it("says what came, went, changed and stayed", () => {
    const found = compareFacts(ports, { time1: YEAR(2021), time2: YEAR(2025), limit: 10 });
    expect(found.summary).toEqual({ added: 1, removed: 0, changed: 1, unchanged: 1 });
    expect([said(found.added), said(found.removed), said(found.unchanged)]).toEqual([
      ["Bob Welsh"],
      [],
      ["Bob French"],
    ]);
    expect(found.changed).toMatchObject([{ before: { object: "Paris" }, after: { object: "Rome" } }]);
    const back = compareFacts(ports, { time1: YEAR(2025), time2: YEAR(2010), limit: 2 });
    expect(back.summary).toEqual({ added: 0, removed: 3, changed: 0, unchanged: 0 });
    expect(said(back.removed)).toEqual(["Bob Welsh", "Bob French"]);
    expect(
      compareFacts(ports, { subject: "Bob", time1: 0, time2: NOW, userId: "v", limit: 9 }).summary.added,
    ).toBe(0);
  });
});

describe("factStats", () => {
  it("counts what is, was and will be", () => {
    expect(factStats(ports, {})).toEqual({
      totalFacts: 5,
      activeFacts: 3,
      historicalFacts: 1,
      futureFacts: 1,
      subjects: 2,
      predicates: 2,
      objects: 5,
      averageConfidence: 0.9,
      earliest: YEAR(2015),
      latest: YEAR(2030),
      topPredicates: [
        { predicate: "lives in", count: 3 },
        { predicate: "speaks", count: 2 },
      ],
    });
    expect(factStats(ports, { userId: "nobody" })).toMatchObject({
      totalFacts: 0,
      averageConfidence: null,
      earliest: null,
    });
  });
});

describe("volatileFacts", () => {
  it("counts the values that were taken, what is planned left out", async () => {
    await add("Cid", "born in", "Bern", 1990);
    const years = (YEAR(2022) - YEAR(2020) + (NOW + 5 - YEAR(2022))) / 2 / DAY_MS;
    const found = volatileFacts(ports, { limit: 10 });
    expect(found.map((v) => [v.subject, v.changeCount, v.currentObject])).toEqual([
      ["Bob", 2, "Welsh"],
      ["Ann", 2, "Rome"],
    ]);
    expect(found[1]).toMatchObject({ averageConfidence: 0.75, lastChangedAt: YEAR(2022) });
    expect(found[1]?.averageDurationDays).toBeCloseTo(years, 6);
    expect(
      volatileFacts(ports, { subject: "Ann", limit: 10, from: YEAR(2021), to: YEAR(2023) }),
    ).toMatchObject([{ changeCount: 1 }]);
    expect(volatileFacts(ports, { limit: 1 })).toHaveLength(1);
  });
});
