import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runAtOnce } from "../../../src/core/at-once.ts";
import { factRowId } from "../../../src/core/facts/fact.ts";
import type { MemoryFilter } from "../../../src/core/ports.ts";
import { type Change, edgeId, type EdgeRow } from "../../../src/core/rows.ts";
import { type Stage, StoreCatalogue } from "../../../src/storage/catalogue/catalogue.ts";
import { factRow } from "../../support/fact-row.ts";
import { memoryRow, type RowFields } from "../../support/memory-row.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
const SOURCE = { filename: null, mediaType: "text/plain", chunkIndex: 0, chunkCount: 1 };

function catalogueOf(...rows: readonly RowFields[]): StoreCatalogue {
  const catalogue = new StoreCatalogue(() => 0);
  stage(
    catalogue,
    rows.map((fields, i) => put({ order: i + 1, ...fields })),
  );
  return catalogue;
}

function stage(catalogue: StoreCatalogue, changes: readonly Change[]): Stage {
  return runAtOnce(catalogue.stage(changes));
}

function put(fields: RowFields): Change {
  const row = memoryRow(fields);
  return { table: "memories", id: row.id, row };
}

const remove = (id: string): Change => ({ table: "memories", id, row: null });
const link = (source: string, target: string): EdgeRow => ({
  source,
  target,
  kind: "link",
  weight: 1,
  createdAt: 0,
});

function ids(catalogue: StoreCatalogue, filter: MemoryFilter): string[] {
  return [...catalogue.page(filter, { limit: 100, offset: 0 }).ids];
}

function duplicates(catalogue: StoreCatalogue, hash: string): (string | undefined)[] {
  return catalogue.duplicatesOf(hash).map((ordinal) => catalogue.idAt(ordinal));
}

describe("StoreCatalogue", () => {
  it("finds what was put, with everything but the text", () => {
    const catalogue = catalogueOf({
      id: "a",
      userId: "ann",
      project: "p",
      sessionId: "s",
      tags: ["x", "y"],
      occurredAt: 5,
      createdAt: 9,
      primarySector: "emotional",
      sectors: ["emotional", "semantic"],
    });
    expect(catalogue.find("a")).toMatchObject({
      id: "a",
      userId: "ann",
      project: "p",
      sessionId: "s",
      tags: ["x", "y"],
      occurredAt: 5,
      createdAt: 9,
      salience: 0.5,
      lastSeenAt: 9,
      version: 1,
    });
    expect(catalogue.find("b")).toBeUndefined();
  });

  it("lets the time of adding stand for one that was not said", () => {
    expect(catalogueOf({ id: "a", createdAt: 9 }).find("a")?.occurredAt).toBe(9);
  });

  const filters: [string, MemoryFilter, string[]][] = [
    ["user", { userId: "ann" }, ["b", "a"]],
    ["unknown user", { userId: "nobody" }, []],
    ["project", { projects: ["p"] }, ["a"]],
    ["project or none", { projects: ["p", null] }, ["c", "a"]],
    ["session", { sessionId: "s" }, ["b"]],
    ["client", { createdBy: "cli" }, ["c"]],
    ["time of adding", { createdFrom: 2 }, ["c"]],
    ["time of adding, without its end", { createdTo: 2 }, ["b", "a"]],
    ["any of the sectors", { sectors: ["emotional", "procedural"] }, ["c", "b"]],
    ["all of the tags", { tags: ["x", "y"] }, ["a"]],
    ["time, half-open", { from: DAY_MS, to: 2 * DAY_MS }, ["b"]],
    ["metadata", { metadata: { n: 1, ok: true } }, ["a"]],
    ["metadata that is null", { metadata: { n: null } }, ["b"]],
    ["metadata of another type", { metadata: { n: "1" } }, ["c"]],
    ["several at once", { userId: "ann", tags: ["x"] }, ["b", "a"]],
    ["nothing", {}, ["c", "b", "a"]],
  ];
  it.each(filters)("filters by %s", (_name, filter, expected) => {
    const catalogue = catalogueOf(
      { id: "a", userId: "ann", project: "p", tags: ["x", "y"], metadata: { n: 1, ok: true }, occurredAt: 0 },
      {
        id: "b",
        userId: "ann",
        project: "q",
        sessionId: "s",
        tags: ["x"],
        metadata: { n: null },
        occurredAt: DAY_MS,
        sectors: ["semantic", "emotional"],
      },
      {
        id: "c",
        createdBy: "cli",
        createdAt: 2,
        metadata: { n: "1" },
        occurredAt: 2 * DAY_MS,
        primarySector: "procedural",
        sectors: ["procedural"],
      },
    );
    expect(ids(catalogue, filter)).toEqual(expected);
    const selection = catalogue.select(filter);
    expect(selection.size).toBe(expected.length);
    expect(selection.list().map((ordinal) => catalogue.at(ordinal)?.id)).toEqual(expected.toReversed());
    for (const id of ["a", "b", "c"]) {
      expect(selection.has(catalogue.find(id)?.ordinal ?? -1)).toBe(expected.includes(id));
    }
  });

  it("pages newest first, from an offset or before an order", () => {
    const catalogue = catalogueOf({ id: "a" }, { id: "b" }, { id: "c" }, { id: "d" });
    expect(catalogue.page({}, { limit: 2, offset: 1 })).toEqual({
      ids: ["c", "b"],
      orders: [3, 2],
      total: 4,
    });
    expect(catalogue.page({}, { limit: 2, offset: 0, before: 3 })).toEqual({
      ids: ["b", "a"],
      orders: [2, 1],
      total: 4,
    });
    expect(catalogue.page({}, { limit: 2, offset: 9 })).toEqual({ ids: [], orders: [], total: 4 });
  });

  it("knows the neighbours within a session, of the same user only", () => {
    const catalogue = catalogueOf(
      { id: "a", userId: "ann", sessionId: "s" },
      { id: "x", userId: "bob", sessionId: "s" },
      { id: "b", userId: "ann", sessionId: "s" },
      { id: "lone" },
    );
    const around = (id: string) =>
      catalogue
        .around(catalogue.find(id)?.ordinal ?? -1)
        .map((ordinal) => (ordinal === undefined ? undefined : catalogue.idAt(ordinal)));
    expect(around("a")).toEqual([undefined, undefined, "b", undefined]);
    expect(around("b")).toEqual([undefined, "a", undefined, undefined]);
    expect(around("lone")).toEqual([]);
    const five = catalogueOf(..."vwxyz".split("").map((id) => ({ id, sessionId: "s" })));
    expect(five.around(2).map((ordinal) => five.idAt(ordinal ?? -1))).toEqual(["v", "w", "y", "z"]);
    stage(catalogue, [remove("a")]);
    expect(around("b")).toEqual([undefined, undefined, undefined, undefined]);
  });

  it("tells who is beside whom in a session, among those of a user without one, and in a document", () => {
    const source = (documentId: string) => ({ ...SOURCE, documentId });
    const catalogue = catalogueOf(
      { id: "a", sessionId: "s" },
      { id: "b" },
      { id: "c", userId: "ann" },
      { id: "d", sessionId: "s" },
      { id: "e", source: source("one") },
      { id: "f", source: source("one") },
      { id: "g", source: source("two") },
    );
    const ordinal = (id: string) => catalogue.find(id)?.ordinal ?? -1;
    const beside = (id: string) =>
      [-1, 1].map((distance) => catalogue.idAt(catalogue.seriesNeighbour(ordinal(id), distance) ?? -1));
    expect([beside("d"), beside("b"), beside("c")]).toEqual([
      ["a", undefined],
      [undefined, "e"],
      [undefined, undefined],
    ]);
    const ofDocument = (id: string) =>
      catalogue.documentNeighbours(ordinal(id)).map((each) => catalogue.idAt(each));
    expect([ofDocument("e"), ofDocument("f"), ofDocument("g"), ofDocument("b")]).toEqual([
      ["f"],
      ["e"],
      [],
      [],
    ]);
    stage(catalogue, [remove("e")]);
    expect([beside("b"), ofDocument("f")]).toEqual([[undefined, "f"], []]);
  });

  it("passes over rows of waypoints that earlier versions stored", () => {
    const catalogue = catalogueOf({ id: "a" }, { id: "b" });
    const edge = { ...link("a", "b"), kind: "next" } as unknown as EdgeRow;
    catalogue.loadRows([{ table: "edges", id: edgeId(edge), row: edge }]);
    stage(catalogue, [{ table: "edges", id: edgeId(edge), row: edge }]);
    expect(catalogue.edgesOf("a")).toEqual([]);
  });

  it("finds duplicates by hash until they are gone or changed", () => {
    const catalogue = catalogueOf({ id: "a", duplicateHash: "h" });
    expect(duplicates(catalogue, "h")[0]).toBe("a");
    stage(catalogue, [put({ id: "a", order: 1, duplicateHash: "other" })]);
    expect(duplicates(catalogue, "h")).toEqual([]);
    stage(catalogue, [remove("a")]);
    expect(duplicates(catalogue, "other")).toEqual([]);
  });

  it("finds the other of two that were changed to be the same, when one goes", () => {
    const catalogue = catalogueOf({ id: "a", duplicateHash: "h" }, { id: "b", duplicateHash: "other" });
    stage(catalogue, [put({ id: "b", order: 2, duplicateHash: "h" })]);
    expect(duplicates(catalogue, "h")[0]).toBe("a");
    stage(catalogue, [remove("a")]);
    expect(duplicates(catalogue, "h")[0]).toBe("b");
    stage(catalogue, [remove("b")]);
    expect(duplicates(catalogue, "h")).toEqual([]);
  });

  it("keeps edges with their memories", () => {
    const catalogue = catalogueOf({ id: "a" }, { id: "b" });
    const edge = link("a", "b");
    stage(catalogue, [{ table: "edges", id: edgeId(edge), row: edge }]);
    expect(catalogue.edgesOf("b")).toEqual([edge]);
    const [source, target] = [catalogue.ordinalOf(edge.source), catalogue.ordinalOf(edge.target)];
    expect(catalogue.edgesAt(target ?? -1)).toEqual([{ ...edge, source, target }]);
    stage(catalogue, [{ table: "edges", id: edgeId(edge), row: null }, remove("a")]);
    expect(catalogue.edgesOf("b")).toEqual([]);
  });

  it("honours requests for a day", () => {
    let now = 0;
    const catalogue = new StoreCatalogue(() => now);
    stage(catalogue, [{ table: "requests", id: "k", row: { bodyHash: "h", ids: ["a"], createdAt: 0 } }]);
    now = DAY_MS - 1;
    expect(catalogue.findRequest("k")).toMatchObject({ ids: ["a"] });
    expect(catalogue.expiredRequests()).toEqual([]);
    now = DAY_MS + 1;
    expect(catalogue.expiredRequests()).toEqual([]);
    now = 2 * DAY_MS;
    expect(catalogue.findRequest("k")).toBeUndefined();
    expect(catalogue.expiredRequests()).toEqual([{ table: "requests", id: "k", row: null }]);
  });

  it("is as before after any records are taken back, newest first", () => {
    const id = fc.constantFrom("a", "b", "c", "d");
    const change = fc.oneof(
      fc
        .record({
          id,
          version: fc.nat(9),
          tags: fc.subarray(["x", "y"]),
          hash: fc.constantFrom("1", "2", "3"),
          sessionId: fc.constant("s"),
        })
        .map(({ hash, ...fields }) => put({ ...fields, order: 1, duplicateHash: hash })),
      id.map(remove),
      fc.record({ id, salience: fc.constantFrom(0.1, 0.9) }).map(({ id: of, salience }): Change => ({
        table: "signals",
        id: of,
        row: { salience, lastSeenAt: 3 },
      })),
      fc
        .tuple(id, id, fc.boolean())
        .filter(([source, target]) => source !== target)
        .map(([source, target, put_]): Change => {
          const edge = link(source, target);
          return { table: "edges", id: edgeId(edge), row: put_ ? edge : null };
        }),
      fc
        .record({
          id,
          version: fc.integer({ min: 1, max: 3 }),
          validTo: fc.constantFrom(null, 7),
          gone: fc.boolean(),
        })
        .map(({ gone, ...fields }): Change => {
          const row = factRow(fields);
          return { table: "facts", id: factRowId(row), row: gone ? null : row };
        }),
      id.map((key): Change => ({
        table: "requests",
        id: key,
        row: { bodyHash: "h", ids: [], createdAt: 0 },
      })),
    );
    const records = fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 8 });
    fc.assert(
      fc.property(records, records, (kept, takenBack) => {
        const catalogue = new StoreCatalogue(() => 0);
        for (const changes of kept) stage(catalogue, changes);
        const before = picture(catalogue);
        const stages = takenBack.map((changes) => stage(catalogue, changes));
        for (const stage of stages.reverse()) stage.undo();
        expect(picture(catalogue)).toEqual(before);
      }),
    );
  });
});

/** Everything that can be asked, but for ordinals, which are never reused. */
function picture(catalogue: StoreCatalogue): unknown {
  const all = ["a", "b", "c", "d"];
  return {
    size: catalogue.size,
    page: catalogue.page({}, { limit: 9, offset: 0 }).total,
    entries: all.map((id) => ({ ...catalogue.find(id), ordinal: 0 })),
    edges: all.map((id) => catalogue.edgesOf(id).map(edgeId).sort()),
    requests: all.map((key) => catalogue.findRequest(key)),
    facts: all.map((id) => catalogue.facts.find(id)?.versions.slice()),
    timelines: catalogue.facts.timelines({ subject: "ada" }).map(({ facts }) => facts.length),
    duplicates: ["1", "2", "3"].map((hash) => duplicates(catalogue, hash)),
    tagged: ids(catalogue, { tags: ["x"] }).sort(),
  };
}
