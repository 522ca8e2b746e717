import { describe, expect, it } from "vitest";
import { endOf, type Fact, factRowId } from "../../../src/core/facts/fact.ts";
import { FactBook, visitFacts } from "../../../src/core/facts/fact-book.ts";

const FIRST: Fact = {
  id: "a",
  version: 1,
  subject: "Ann",
  predicate: "lives in",
  object: "Paris",
  validFrom: 10,
  validTo: null,
  confidence: 1,
  metadata: { from: "a letter" },
  userId: "u",
  project: null,
  cardinality: "one",
  sourceMemoryId: "m",
  supersededBy: null,
  derivedFrom: null,
  createdBy: null,
  recordedAt: 100,
  updatedAt: 100,
};
const SECOND: Fact = { ...FIRST, version: 2, validTo: 20, sourceMemoryId: null, updatedAt: 200 };

const put = (row: Fact) => ({ table: "facts" as const, id: factRowId(row), row });
const remove = (row: Fact) => ({ table: "facts" as const, id: factRowId(row), row: null });

function visited(book: FactBook, knownAt?: number) {
  const seen: string[] = [];
  visitFacts(book, { knownAt }, (fact) => seen.push(`${fact.version} ${fact.validFrom}-${endOf(fact)}`));
  return seen;
}

describe("FactBook", () => {
  it("knows the versions of a fact, whatever order they came in", () => {
    const book = new FactBook();
    book.apply([put(SECOND), put(FIRST), put(FIRST)]);
    expect(book.find("a")).toMatchObject({ latest: SECOND, versions: [FIRST, SECOND] });
    expect(visited(book)).toEqual(["2 10-20"]);
    expect(visited(book, 199)).toEqual(["1 10-Infinity"]);
    expect(visited(book, 99)).toEqual([]);
    expect(book.latestRecordedAt).toBe(200);
    expect([...book.fromMemory("m")]).toHaveLength(1);
  });

  it("goes back to the version before one that is removed", () => {
    const book = new FactBook();
    book.apply([put(FIRST), put(SECOND), remove(SECOND)]);
    expect(book.find("a")?.latest).toEqual(FIRST);
    expect(visited(book)).toEqual(["1 10-Infinity"]);
  });

  it("keeps nothing of what is gone", () => {
    const book = new FactBook();
    book.apply([put(FIRST), put(SECOND), remove(SECOND), remove(FIRST), remove(FIRST)]);
    expect(book.size).toBe(0);
    expect(visited(book)).toEqual([]);
    expect(book.timelines({})).toEqual([]);
    expect(book.timelines({ subject: "ann", predicate: "lives in", userId: "u" })).toEqual([]);
    expect([...book.fromMemory("m")]).toEqual([]);
  });

  it("holds equal texts and metadata once", () => {
    const book = new FactBook();
    book.apply([put(structuredClone(FIRST)), put(structuredClone(SECOND))]);
    const [first, second] = book.find("a")?.versions ?? [];
    expect(second?.metadata).toBe(first?.metadata);
  });

  it("refuses a row under another's id", () => {
    expect(() => new FactBook().apply([{ table: "facts", id: "a#2", row: FIRST }])).toThrow(TypeError);
  });
});
