import { describe, expect, it } from "vitest";
import type { Cardinality, Fact } from "../../../src/core/facts/fact.ts";
import {
  closeFact,
  placeStatement,
  settleCardinality,
  type Statement,
} from "../../../src/core/facts/timeline.ts";

const RECORDED_AT = 1_000;

/** A timeline drawn as text: "Paris 0-5", an open end as "Paris 5-", and facts in it named a, b, c … */
function drawn(...facts: string[]): Fact[] {
  return facts.map((text, index) => {
    const id = String.fromCharCode(97 + index);
    const { object, validFrom, validTo } = statement(text);
    const { fact } = placeStatement([], { object, validFrom, validTo: null }, placing([id]));
    return { ...fact, validTo, updatedAt: 1, recordedAt: 1 };
  });
}

function statement(text: string): Statement {
  const [object = "", from = "", to = ""] = text.split(/[ -]/);
  return { object, validFrom: Number(from), validTo: to === "" ? null : Number(to) };
}

function placing(ids: string[], cardinality: Cardinality = "one") {
  return {
    subject: "Ann",
    predicate: "lives in",
    userId: null,
    project: null,
    cardinality,
    recordedAt: RECORDED_AT,
    createdBy: null,
    newId: () => ids.shift() ?? "too many",
  };
}

/** What the timeline holds after a statement, in order of ids; x is the new fact, y the remainder. */
function after(timeline: Fact[], text: string, cardinality?: Cardinality) {
  const placed = placeStatement(timeline, statement(text), placing(["x", "y"], cardinality));
  const facts = new Map([...timeline, ...placed.written].map((fact) => [fact.id, fact]));
  const lines = [...facts.values()]
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map((f) => {
      const links = `${f.supersededBy === null ? "" : ` >${f.supersededBy}`}${f.derivedFrom === null ? "" : ` <${f.derivedFrom}`}`;
      return `${f.id} ${f.object} ${f.validFrom}-${f.validTo ?? ""}${links}`;
    });
  return { lines, placed };
}

describe("placeStatement", () => {
  it.each<[string, string[], string, string[], string[]]>([
    ["nothing there", [], "Rome 3-", ["x Rome 3-"], []],
    ["supersedes an open fact", ["Paris 0-"], "Rome 3-", ["a Paris 0-3 >x", "x Rome 3-"], ["a"]],
    ["cuts a closed fact short", ["Paris 0-5"], "Rome 3-", ["a Paris 0-3 >x", "x Rome 3-"], ["a"]],
    ["is bounded by its successor", ["Paris 5-"], "Rome 3-", ["a Paris 5-", "x Rome 3-5 >a"], []],
    ["is bounded by a closed successor", ["Paris 5-7"], "Rome 3-", ["a Paris 5-7", "x Rome 3-5 >a"], []],
    [
      "closed, is bounded by a successor that outlasts it",
      ["Paris 5-"],
      "Rome 3-8",
      ["a Paris 5-", "x Rome 3-5 >a"],
      [],
    ],
    [
      "goes between two",
      ["Paris 0-9", "Oslo 9-"],
      "Rome 3-",
      ["a Paris 0-3 >x", "b Oslo 9-", "x Rome 3-9 >b"],
      ["a"],
    ],
    [
      "splits an open fact",
      ["Paris 0-"],
      "Rome 3-5",
      ["a Paris 0-3 >x", "x Rome 3-5", "y Paris 5- <a"],
      ["a"],
    ],
    [
      "splits a closed fact",
      ["Paris 0-9"],
      "Rome 3-5",
      ["a Paris 0-3 >x", "x Rome 3-5", "y Paris 5-9 <a"],
      ["a"],
    ],
    ["replaces an equal start", ["Paris 3-"], "Rome 3-", ["a Paris 3-3 >x", "x Rome 3-"], ["a"]],
    [
      "replaces an equal start, not its rest",
      ["Paris 3-"],
      "Rome 3-5",
      ["a Paris 3-3 >x", "x Rome 3-5", "y Paris 5- <a"],
      ["a"],
    ],
    [
      "covers several",
      ["Paris 1-2", "Oslo 3-4", "Bern 5-9"],
      "Rome 0-9",
      ["a Paris 1-1 >x", "b Oslo 3-3 >x", "c Bern 5-5 >x", "x Rome 0-9"],
      ["a", "b", "c"],
    ],
    [
      "covers one and is bounded by the next",
      ["Paris 1-2", "Oslo 5-"],
      "Rome 0-6",
      ["a Paris 1-1 >x", "b Oslo 5-", "x Rome 0-5 >b"],
      ["a"],
    ],
    ["touches before", ["Paris 0-3"], "Rome 3-5", ["a Paris 0-3", "x Rome 3-5"], []],
    ["touches after", ["Paris 5-7"], "Rome 3-5", ["a Paris 5-7", "x Rome 3-5"], []],
    ["is known already", ["Paris 0-"], "Paris 3-", ["a Paris 0-"], []],
    ["is known already inside", ["Paris 0-"], "Paris 3-5", ["a Paris 0-"], []],
    ["is known up to the successor", ["Paris 0-5", "Oslo 5-"], "Paris 3-", ["a Paris 0-5", "b Oslo 5-"], []],
    ["extends forward", ["Paris 0-5"], "Paris 3-", ["a Paris 0-"], []],
    [
      "extends forward to the successor",
      ["Paris 0-5", "Oslo 8-"],
      "Paris 3-",
      ["a Paris 0-8 >b", "b Oslo 8-"],
      [],
    ],
    ["extends backward", ["Paris 5-"], "Paris 3-", ["a Paris 3-"], []],
    ["extends backward and keeps the known end", ["Paris 5-7"], "Paris 3-", ["a Paris 3-7"], []],
    [
      "extends backward over another",
      ["Oslo 0-9", "Paris 9-"],
      "Paris 4-",
      ["a Oslo 0-4 >b", "b Paris 4-"],
      ["a"],
    ],
    [
      "joins two over what stood between",
      ["Paris 0-3", "Oslo 3-5", "Paris 5-"],
      "Paris 2-7",
      ["a Paris 0-", "b Oslo 3-3 >a", "c Paris 5-5 >a"],
      ["b", "c"],
    ],
    [
      "stays apart from the same object before it",
      ["Paris 0-3"],
      "Paris 3-",
      ["a Paris 0-3", "x Paris 3-"],
      [],
    ],
    [
      "takes no notice of replaced facts",
      ["Paris 3-3", "Rome 3-"],
      "Oslo 5-",
      ["a Paris 3-3", "b Rome 3-5 >x", "x Oslo 5-"],
      ["b"],
    ],
  ])("%s", (_case, before, text, lines, superseded) => {
    const { lines: found, placed } = after(drawn(...before), text);
    expect(found).toEqual(lines);
    expect(placed.superseded).toEqual(superseded);
    expect(placed.deduplicated).toBe(placed.fact.id !== "x");
  });

  it("lets objects be side by side with cardinality many, and extends each by itself", () => {
    const timeline = drawn("French 0-", "Dutch 2-5");
    expect(after(timeline, "Welsh 1-", "many").lines).toEqual(["a French 0-", "b Dutch 2-5", "x Welsh 1-"]);
    expect(after(timeline, "Dutch 4-9", "many").lines).toEqual(["a French 0-", "b Dutch 2-9"]);
  });

  it("writes a new version for another confidence, and none for what is known", () => {
    const timeline = drawn("Paris 0-");
    expect(placeStatement(timeline, statement("Paris 3-"), placing([])).written).toEqual([]);
    expect(
      placeStatement(timeline, { ...statement("Paris 3-"), confidence: 0.5 }, placing([])).written,
    ).toMatchObject([
      { id: "a", version: 2, confidence: 0.5, validFrom: 0, updatedAt: RECORDED_AT, recordedAt: 1 },
    ]);
  });

  it.each(["Rome 3-3", "Rome 3-2"])("refuses the period of %s", (text) => {
    expect(() => after([], text)).toThrow(expect.objectContaining({ code: "INVALID_REQUEST" }));
  });
});

describe("closeFact", () => {
  const moment = { now: 7, recordedAt: RECORDED_AT };
  it.each<[string, string, number | undefined, string]>([
    ["now", "Paris 0-", undefined, "0-7"],
    ["at a moment", "Paris 0-", 3, "0-3"],
    ["earlier than it ended", "Paris 0-5", 3, "0-3"],
    ["not later than it ended", "Paris 0-5", 6, "0-5"],
    ["at its beginning", "Paris 3-", 3, "3-3"],
    ["before it began", "Paris 9-", undefined, "9-9"],
  ])("closes %s", (_case, text, validTo, period) => {
    const [fact] = drawn(text);
    if (fact === undefined) throw new Error("one fact was drawn");
    const closed = closeFact(fact, validTo, moment);
    expect(`${closed.validFrom}-${closed.validTo}`).toBe(period);
    expect(closed.version).toBe(closed.validTo === fact.validTo ? 1 : 2);
  });

  it("forgets what superseded a fact when it is closed earlier by word", () => {
    const [fact] = drawn("Paris 0-5");
    expect(closeFact({ ...(fact as Fact), supersededBy: "b" }, 3, moment)).toMatchObject({
      validTo: 3,
      supersededBy: null,
    });
    expect(closeFact({ ...(fact as Fact), supersededBy: "b" }, 5, moment)).toMatchObject({
      validTo: 5,
      supersededBy: "b",
    });
  });

  it("refuses an end before the beginning", () => {
    const [fact] = drawn("Paris 3-");
    expect(() => closeFact(fact as Fact, 2, moment)).toThrow(
      expect.objectContaining({ code: "INVALID_REQUEST" }),
    );
  });
});

describe("settleCardinality", () => {
  it("keeps the first, and refuses another with what to do", () => {
    expect(settleCardinality(undefined, undefined)).toBe("one");
    expect(settleCardinality(undefined, "many")).toBe("many");
    expect(settleCardinality("many", undefined)).toBe("many");
    expect(() => settleCardinality("one", "many")).toThrow(/erase/);
  });
});
