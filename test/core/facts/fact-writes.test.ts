import { beforeEach, describe, expect, it } from "vitest";
import { currentFact, getFact, invalidateFact, updateFact } from "../../../src/core/facts/fact-operations.ts";
import { eraseFact, sourceRemoval } from "../../../src/core/facts/erase-fact.ts";
import { ServiceError } from "../../../src/core/errors.ts";
import { findFacts } from "../../../src/core/facts/find-facts.ts";
import {
  type RecordedFact,
  type RecordFactInput,
  recordFact,
  recordFacts,
} from "../../../src/core/facts/record-fact.ts";
import { createFakeFactPorts, type FakeFactPorts } from "../../support/in-memory-fact-store.ts";

const NOW = Date.UTC(2026, 0, 1);
const YEAR = (year: number) => Date.UTC(year, 0, 1);

let ports: FakeFactPorts;
beforeEach(() => {
  ports = createFakeFactPorts(NOW);
});

const home = (object: string, rest: Partial<RecordFactInput> = {}) =>
  recordFact(ports, { subject: "Ann", predicate: "lives in", object, ...rest });
const all = (rest: object = {}) => findFacts(ports, { limit: 100, ...rest });
const code = (expected: string) => expect.objectContaining({ code: expected });

describe("recordFact", () => {
  it("records what is true from now on, with the defaults of the contract", async () => {
    const { fact, superseded, deduplicated } = await home("Paris");
    expect(fact).toEqual({
      id: "fact-0001",
      version: 1,
      subject: "Ann",
      predicate: "lives in",
      object: "Paris",
      validFrom: NOW,
      validTo: null,
      confidence: 1,
      metadata: {},
      userId: null,
      project: null,
      cardinality: "one",
      sourceMemoryId: null,
      supersededBy: null,
      derivedFrom: null,
      createdBy: null,
      recordedAt: NOW,
      updatedAt: NOW,
    });
    expect({ superseded, deduplicated }).toEqual({ superseded: [], deduplicated: false });
  });

  it("keeps what was written and finds it by other case and Unicode form", async () => {
    await home(" Paris ", { subject: " Anne-José  " });
    expect(all({ subject: "ANNE-JOSE\u0301" }).facts).toMatchObject([
      { subject: " Anne-José  ", object: " Paris " },
    ]);
  });

  it("keeps two facts of one millisecond apart, the later one current", async () => {
    const [paris, rome] = [await home("Paris"), await home("Rome")];
    expect(rome.superseded).toEqual([paris.fact.id]);
    expect(all().total).toBe(2);
    expect(currentFact(ports, { subject: "ann", predicate: "Lives In" }).object).toBe("Rome");
    expect(all({ at: NOW, knownAt: paris.fact.recordedAt }).facts).toMatchObject([
      { object: "Paris", validTo: null },
    ]);
  });

  it("records in order while the clock is set back, and believes a clock that was far ahead no longer", async () => {
    await home("Paris");
    ports.clock.time -= 5_000;
    const { fact } = await home("Rome");
    expect(fact.recordedAt).toBe(NOW + 1);
    expect(currentFact(ports, { subject: "Ann", predicate: "lives in" }).object).toBe("Rome");

    ports.clock.time = YEAR(2036);
    await home("Oslo", { subject: "Bob" });
    ports.clock.time = NOW + 60_000;
    const later = await home("Bern", { subject: "Cid" });
    expect(later.fact).toMatchObject({ validFrom: NOW + 60_000, recordedAt: NOW + 60_000 });
    // What was recorded by the wrong clock was known before.
    expect(all({ knownAt: NOW + 60_000 }).facts.map(({ object }) => object)).toContain("Oslo");
    expect(all({ knownAt: NOW + 2 }).facts.map(({ object }) => object)).not.toContain("Oslo");
    expect(() => currentFact(ports, { subject: "Bob", predicate: "lives in" })).toThrow(code("NOT_FOUND"));
  });

  it("keeps users and projects apart", async () => {
    await home("Paris", { userId: "u" });
    await home("Rome", { userId: "v" });
    await home("Oslo", { userId: "u", project: "p" });
    expect(all().total).toBe(3);
    expect(
      all({ userId: "u", at: NOW + 9 })
        .facts.map((f) => f.object)
        .sort(),
    ).toEqual(["Oslo", "Paris"]);
    expect(all({ projects: ["p"] }).total).toBe(1);
    expect(all({ projects: [null] }).total).toBe(2);
  });

  it("holds the first cardinality, until all facts of the pair are erased", async () => {
    const { fact } = await home("French", { cardinality: "many" });
    const second = await home("Dutch");
    expect(second.superseded).toEqual([]);
    await expect(home("Welsh", { cardinality: "one" })).rejects.toThrow(code("CONFLICT"));
    await eraseFact(ports, { id: fact.id });
    await expect(home("Welsh", { cardinality: "one" })).rejects.toThrow(code("CONFLICT"));
    await eraseFact(ports, { id: second.fact.id });
    expect((await home("Welsh", { cardinality: "one" })).fact.cardinality).toBe("one");
  });

  it("takes a source memory of the same user only", async () => {
    ports.memories.set("hers", "u").set("nobodys", null);
    await expect(home("Paris", { sourceMemoryId: "hers" })).rejects.toThrow(code("NOT_FOUND"));
    await expect(home("Paris", { userId: "u", sourceMemoryId: "nobodys" })).rejects.toThrow(
      code("NOT_FOUND"),
    );
    await expect(home("Paris", { userId: "u", sourceMemoryId: "unknown" })).rejects.toThrow(
      code("NOT_FOUND"),
    );
    expect(ports.store.records).toEqual([]);
    expect((await home("Paris", { userId: "u", sourceMemoryId: "hers" })).fact.sourceMemoryId).toBe("hers");
  });

  it.each([{ subject: " " }, { predicate: "\t" }, { object: "" }])("refuses %j", async (empty) => {
    await expect(home("Paris", empty)).rejects.toThrow(code("INVALID_REQUEST"));
  });

  it("answers a repeated request with what the first one made", async () => {
    const idempotency = { key: "k", bodyHash: "h" };
    const before = await home("Paris", { validFrom: YEAR(2020) });
    const first = await home("Rome", { idempotency });
    expect(await home("Rome", { idempotency })).toEqual(first);
    expect(first.superseded).toEqual([before.fact.id]);
    await expect(home("Oslo", { idempotency: { key: "k", bodyHash: "other" } })).rejects.toThrow(
      code("UNPROCESSABLE"),
    );
    await eraseFact(ports, { id: first.fact.id });
    await expect(home("Rome", { idempotency })).rejects.toThrow(code("GONE"));
  });
});

describe("recordFacts", () => {
  const item = (object: string, rest: Partial<RecordFactInput> = {}) => ({
    subject: "Ann",
    predicate: "lives in",
    object,
    ...rest,
  });

  it("judges items one by one, later ones seeing earlier ones, in one record", async () => {
    const { results } = await recordFacts(ports, {
      items: [
        item("Paris", { validFrom: YEAR(2020) }),
        item("Rome", { validFrom: YEAR(2022) }),
        item("Oslo", { cardinality: "many" }),
        new ServiceError("INVALID_REQUEST", "refused before"),
        item("Rome", { validFrom: YEAR(2023), confidence: 0.5 }),
      ],
    });
    const [paris, rome, oslo, malformed, again] = results;
    expect(rome).toMatchObject({ superseded: [(paris as RecordedFact).fact.id] });
    expect(oslo).toMatchObject({ code: "CONFLICT" });
    expect(malformed).toMatchObject({ message: "refused before" });
    expect(again).toMatchObject({
      deduplicated: true,
      fact: { id: (rome as RecordedFact).fact.id, version: 1, confidence: 0.5 },
    });
    expect(ports.store.records).toHaveLength(1);
    // Nobody could ask for what stood between two items, so each fact has one version.
    expect(ports.store.rows.size).toBe(2);
    expect(all({ at: YEAR(2021) }).facts).toMatchObject([
      { object: "Paris", validTo: YEAR(2022), confidence: 1 },
    ]);
  });

  it("answers a repeat, refused items too", async () => {
    const input = { items: [item("Paris"), item("")], idempotency: { key: "k", bodyHash: "h" } };
    const [first] = (await recordFacts(ports, input)).results;
    const again = await recordFacts(ports, input);
    expect(again.results).toMatchObject([first as object, { code: "CONFLICT" }]);
    expect(ports.store.records).toHaveLength(1);
  });

  it("writes nothing when nothing was accepted", async () => {
    await recordFacts(ports, { items: [item(" ")] });
    expect(ports.store.records).toEqual([]);
  });
});

describe("updateFact", () => {
  it("makes a version of another confidence or metadata, and none of the same", async () => {
    const { fact } = await home("Paris", { metadata: { a: 1, b: 2 } });
    ports.clock.time += 10;
    const updated = await updateFact(ports, { id: fact.id, confidence: 0.4 });
    expect(updated).toMatchObject({
      version: 2,
      confidence: 0.4,
      metadata: { a: 1, b: 2 },
      recordedAt: NOW,
      updatedAt: NOW + 10,
    });
    expect(await updateFact(ports, { id: fact.id, metadata: { b: 2, a: 1 } })).toEqual(updated);
    expect(await updateFact(ports, { id: fact.id })).toEqual(updated);
    expect(getFact(ports, { id: fact.id, knownAt: NOW + 9 }).confidence).toBe(1);
    expect(() => getFact(ports, { id: fact.id, knownAt: NOW - 1 })).toThrow(code("NOT_FOUND"));
  });
});

describe("invalidateFact", () => {
  it("closes now; one that has not begun is withdrawn and counts nowhere", async () => {
    const { fact } = await home("Paris", { validFrom: YEAR(2020) });
    expect(await invalidateFact(ports, { id: fact.id })).toMatchObject({ validTo: NOW + 1, version: 2 });
    const planned = await home("Rome", { validFrom: YEAR(2030) });
    expect(await invalidateFact(ports, { id: planned.fact.id })).toMatchObject({ validTo: YEAR(2030) });
    expect(all().total).toBe(1);
    expect(all({ knownAt: planned.fact.recordedAt }).total).toBe(2);
    expect(getFact(ports, { id: planned.fact.id }).object).toBe("Rome");
  });
});

describe("ownership", () => {
  it("refuses changes by another user, hides from reads, and knows no unknown id", async () => {
    const { fact } = await home("Paris", { userId: "u" });
    const nobodys = await home("Rome");
    for (const id of [fact.id, nobodys.fact.id]) {
      await expect(updateFact(ports, { id, confidence: 0, userId: "v" })).rejects.toThrow(code("FORBIDDEN"));
      await expect(invalidateFact(ports, { id, userId: "v" })).rejects.toThrow(code("FORBIDDEN"));
      await expect(eraseFact(ports, { id, userId: "v" })).rejects.toThrow(code("FORBIDDEN"));
      expect(() => getFact(ports, { id, userId: "v" })).toThrow(code("NOT_FOUND"));
    }
    await expect(updateFact(ports, { id: "none" })).rejects.toThrow(code("NOT_FOUND"));
    await expect(invalidateFact(ports, { id: "none" })).rejects.toThrow(code("NOT_FOUND"));
    await expect(eraseFact(ports, { id: "none" })).rejects.toThrow(code("NOT_FOUND"));
    expect(ports.store.records).toHaveLength(2);
    expect(await updateFact(ports, { id: fact.id, confidence: 0.5, userId: "u" })).toMatchObject({
      confidence: 0.5,
    });
  });
});

describe("erasing", () => {
  it("removes every version, and every link to what is gone", async () => {
    const paris = await home("Paris", { validFrom: YEAR(2020) });
    const rome = await home("Rome", { validFrom: YEAR(2022) });
    await updateFact(ports, { id: rome.fact.id, confidence: 0.5 });
    expect(await eraseFact(ports, { id: rome.fact.id })).toMatchObject({ object: "Rome", confidence: 0.5 });
    expect(all({ knownAt: NOW + 1_000 }).facts).toMatchObject([
      { id: paris.fact.id, validTo: YEAR(2022), supersededBy: null },
    ]);
    expect(() => getFact(ports, { id: rome.fact.id })).toThrow(code("NOT_FOUND"));
    expect(JSON.stringify([...ports.store.rows])).not.toContain("Rome");
  });

  it("takes the replaced parts along that were seen as the fact's past only", async () => {
    await home("Paris", { validFrom: YEAR(2020), validTo: YEAR(2021) });
    await home("Paris", { validFrom: YEAR(2022) });
    const joined = await home("Paris", { validFrom: YEAR(2020), validTo: YEAR(2023) });
    expect(ports.store.catalogue.facts.size).toBe(2);
    await eraseFact(ports, { id: joined.fact.id });
    expect(ports.store.catalogue.facts.size).toBe(0);
    expect(ports.store.rows.size).toBe(0);
  });

  it("clears the link to a deleted memory in every version, and makes none", async () => {
    ports.memories.set("m", null);
    const { fact } = await home("Paris", { sourceMemoryId: "m" });
    await updateFact(ports, { id: fact.id, confidence: 0.5 });
    await ports.store.commit(() => ({
      changes: sourceRemoval(ports.store.catalogue.facts, "m"),
      result: undefined,
    }));
    expect(getFact(ports, { id: fact.id })).toMatchObject({ version: 2, sourceMemoryId: null });
    expect(getFact(ports, { id: fact.id, knownAt: NOW })).toMatchObject({ version: 1, sourceMemoryId: null });
    expect(sourceRemoval(ports.store.catalogue.facts, "m")).toEqual([]);
  });
});
