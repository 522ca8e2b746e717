import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ServiceError } from "../../../src/core/errors.ts";
import { bindOperations, type Operations } from "../../../src/core/operations.ts";
import type { MemoryTransfer, TransferRecord } from "../../../src/core/transfer/export-records.ts";
import { createMemoryWorld } from "../../support/memory-world.ts";
import { times } from "../../support/stress.ts";

const DAY_MS = 86_400_000;

interface Service extends Operations {
  now: number;
}

/** A service over a world of its own; ids are UUIDs that count up, from a place of its own. */
function service(place = 0): Service {
  const world = createMemoryWorld();
  let ids = place * 1_000_000;
  const newId = () => `019aa5a0-6c1e-7c3a-9d0f-${(ids += 1).toString(16).padStart(12, "0")}`;
  const operations = bindOperations({ ...world.ports, ids: { newId } });
  return Object.defineProperty({ ...operations } as Service, "now", {
    get: () => world.now,
    set: (now: number) => {
      world.now = now;
    },
  });
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

async function everything(from: Operations): Promise<TransferRecord[]> {
  return all(await from.exportRecords({ waypoints: true }));
}

/** Through JSON, as a file would have it. */
const written = (records: readonly TransferRecord[]) =>
  JSON.parse(JSON.stringify(records)) as TransferRecord[];
const of = (kind: TransferRecord["kind"], records: readonly TransferRecord[]) =>
  records.filter((record) => record.kind === kind);
const outcomes = async (into: Operations, items: readonly TransferRecord[]) =>
  (await into.restoreRecords({ items })).results.map((result) =>
    result instanceof ServiceError ? result.code : result.outcome,
  );

/** What JSON can say and give back: -0 becomes 0. */
const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as never);
const name = fc.constantFrom("ada", "bob");
const step = fc.oneof(
  fc.record({
    do: fc.constant("add" as const),
    content: fc.string({ minLength: 1, unit: "grapheme" }),
    userId: fc.option(name, { nil: undefined }),
    sessionId: fc.option(fc.constantFrom("s1", "s2"), { nil: undefined }),
    project: fc.option(fc.constant("garden"), { nil: undefined }),
    tags: fc.uniqueArray(fc.constantFrom("a", "b", "c")),
    metadata: fc.dictionary(fc.string(), json, { noNullPrototype: true }),
    occurredAt: fc.option(fc.integer({ min: 0, max: 2 ** 40 }), { nil: undefined }),
  }),
  fc.record({ do: fc.constant("change" as const), which: fc.nat(), content: fc.string({ minLength: 1 }) }),
  fc.record({
    do: fc.constant("reinforce" as const),
    which: fc.nat(),
    boost: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
  fc.record({ do: fc.constant("delete" as const), which: fc.nat() }),
  fc.record({
    do: fc.constant("state" as const),
    subject: name,
    object: fc.constantFrom("Paris", "Rome", "Oslo"),
    from: fc.nat({ max: 100 }),
    length: fc.option(fc.integer({ min: 1, max: 50 }), { nil: undefined }),
    which: fc.nat(),
  }),
  fc.record({
    do: fc.constant("doubt" as const),
    which: fc.nat(),
    confidence: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
  fc.record({ do: fc.constant("close" as const), which: fc.nat() }),
);

async function live(
  service: Service,
  steps: readonly (typeof step extends fc.Arbitrary<infer T> ? T : never)[],
) {
  for (const next of steps) {
    service.now += 60_000;
    const { items } = await service.listMemories({ filter: {}, limit: 100, offset: 0 });
    const { facts } = await service.findFacts({ limit: 100 });
    const memory = "which" in next ? items[next.which % items.length] : undefined;
    const fact = "which" in next ? facts[next.which % facts.length] : undefined;
    switch (next.do) {
      case "add": {
        const { do: _do, ...fields } = next;
        await service.addMemory(
          Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never,
        );
        break;
      }
      case "change":
        if (memory) await service.updateMemory({ id: memory.id, content: next.content });
        break;
      case "reinforce":
        if (memory) await service.reinforceMemory({ id: memory.id, boost: next.boost });
        break;
      case "delete":
        if (memory) await service.deleteMemory({ id: memory.id });
        break;
      case "state":
        await service.recordFact({
          subject: next.subject,
          predicate: "lives in",
          object: next.object,
          validFrom: next.from * DAY_MS,
          ...(next.length !== undefined && { validTo: (next.from + next.length) * DAY_MS }),
          ...(memory?.userId === null && { sourceMemoryId: memory.id }),
        });
        break;
      case "doubt":
        if (fact) await service.updateFact({ id: fact.id, confidence: next.confidence });
        break;
      case "close":
        if (fact) await service.invalidateFact({ id: fact.id });
        break;
    }
  }
}

describe("restoreRecords", () => {
  it("brings back everything as it was, and the second time changes nothing", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 25 }),
        fc.integer({ min: 1, max: 400 }),
        async (steps, days) => {
          const first = service();
          await live(first, steps);
          const records = await everything(first);

          const second = service(1);
          second.now = first.now + days * DAY_MS;
          const items = written(records);
          expect(await outcomes(second, items)).not.toEqual(
            expect.arrayContaining([expect.stringMatching(/[A-Z]/)]),
          );
          const again = await everything(second);
          expect(of("memory", again)).toEqual(of("memory", records));
          expect(of("fact", again)).toEqual(of("fact", records));
          expect(of("waypoint", again)).toEqual(expect.arrayContaining(of("waypoint", records)));

          expect(new Set(await outcomes(second, items))).toEqual(
            new Set(items.length === 0 ? [] : ["known"]),
          );
          expect(await everything(second)).toEqual(again);
        },
      ),
      { numRuns: times(25) },
    );
  });

  it("brings back what was known at a moment", async () => {
    const first = service();
    const { fact } = await first.recordFact({
      subject: "Ada",
      predicate: "lives in",
      object: "Paris",
      validFrom: 0,
    });
    const knownAt = fact.recordedAt;
    first.now += DAY_MS;
    await first.recordFact({ subject: "Ada", predicate: "lives in", object: "Rome", validFrom: 0 });
    const second = service(1);
    second.now = first.now;
    await second.restoreRecords({ items: written(await everything(first)) });
    const known = async (at?: number) =>
      (await second.findFacts({ limit: 9, ...(at !== undefined && { knownAt: at }) })).facts;
    expect((await known(knownAt)).map(({ object }) => object)).toEqual(["Paris"]);
    expect((await known()).map(({ object }) => object)).toEqual(["Rome"]);
  });

  it("finds what was restored by a question", async () => {
    const first = service();
    await first.addMemory({ content: "garlic in bed three" });
    const second = service(1);
    await second.restoreRecords({ items: written(await everything(first)) });
    const { hits } = await second.queryMemory({ query: "garlic", limit: 1, filter: {} });
    expect(hits[0]?.memory.content).toBe("garlic in bed three");
  });

  it("never changes what is here: an id that stands for something else is refused", async () => {
    const first = service();
    const { memory } = await first.addMemory({ content: "as it was" });
    const [record] = await everything(first);
    await first.updateMemory({ id: memory.id, content: "as it is" });
    expect(await outcomes(first, [record as TransferRecord])).toEqual(["CONFLICT"]);
    expect((await first.getMemory({ id: memory.id })).content).toBe("as it is");
  });

  it("stores a memory once, though two requests bring it at the same time", async () => {
    const first = service();
    await first.addMemory({ content: "once" });
    const items = written(await everything(first));
    const second = service(1);
    expect((await Promise.all([outcomes(second, items), outcomes(second, items)])).flat().sort()).toEqual([
      "added",
      "known",
    ]);
  });

  it("makes no link from what is here to what is older", async () => {
    const first = service();
    await first.addMemory({ content: "old" });
    const second = service(1);
    second.now = first.now + DAY_MS;
    const { memory } = await second.addMemory({ content: "new" });
    await second.restoreRecords({ items: written(await everything(first)) });
    expect((await second.relatedMemories({ id: memory.id, depth: 1 })).edges).toEqual([]);
  });

  it("leaves out the source of a fact where that is no memory of the same user", async () => {
    const first = service();
    const { memory } = await first.addMemory({ content: "told me" });
    await first.recordFact({ subject: "a", predicate: "b", object: "c", sourceMemoryId: memory.id });
    const second = service(1);
    const facts = written(of("fact", await everything(first)));
    expect(await outcomes(second, facts)).toEqual(["added"]);
    expect((await second.findFacts({ limit: 1 })).facts[0]?.sourceMemoryId).toBeNull();
    expect(await outcomes(second, facts)).toEqual(["known"]);
  });

  it("refuses a fact where another one holds, and one of the other cardinality", async () => {
    const first = service();
    await first.recordFact({ subject: "Ada", predicate: "lives in", object: "Paris", validFrom: 0 });
    await first.recordFact({ subject: "Ada", predicate: "speaks", object: "French", cardinality: "many" });
    const second = service(1);
    await second.recordFact({ subject: "ada", predicate: "lives in", object: "Rome", validFrom: 5 });
    await second.recordFact({ subject: "Ada", predicate: "speaks", object: "Latin" });
    expect(await outcomes(second, written(await everything(first)))).toEqual(["CONFLICT", "CONFLICT"]);
  });

  describe("refuses a memory", () => {
    const bad: readonly (readonly [string, (record: MemoryTransfer) => MemoryTransfer])[] = [
      [
        "changed before it was made",
        (r) => ({ ...r, memory: { ...r.memory, updatedAt: r.memory.createdAt - 1 } }),
      ],
      [
        "from the future",
        (r) => ({ ...r, memory: { ...r.memory, updatedAt: r.memory.updatedAt + 400 * DAY_MS } }),
      ],
      ["seen in the future", (r) => ({ ...r, signals: { ...r.signals, lastSeenAt: 9e12 } })],
      [
        "whose sectors begin with another",
        (r) => ({ ...r, memory: { ...r.memory, sectors: ["reflective"] } }),
      ],
      ["with a sector twice", (r) => ({ ...r, memory: { ...r.memory, sectors: ["semantic", "semantic"] } })],
    ];
    it.each(bad)("%s", async (_name, spoil) => {
      const first = service();
      await first.addMemory({ content: "fine" });
      const [record] = (await everything(first)) as MemoryTransfer[];
      expect(await outcomes(service(1), [spoil(record as MemoryTransfer)])).toEqual(["INVALID_REQUEST"]);
    });
  });

  it("refuses a waypoint between users, to itself, and to nowhere", async () => {
    const here = service();
    const { memory: a } = await here.addMemory({ content: "a", userId: "ada" });
    const { memory: b } = await here.addMemory({ content: "b", userId: "bob" });
    const edge = { kind: "similar", weight: 1, createdAt: 0 } as const;
    const between = (source: string, target: string): TransferRecord => ({
      kind: "waypoint",
      edge: { ...edge, source, target },
    });
    expect(
      await outcomes(here, [between(a.id, b.id), between(a.id, a.id), between(a.id, "nowhere")]),
    ).toEqual(["NOT_FOUND", "NOT_FOUND", "NOT_FOUND"]);
  });
});

describe("exportRecords", () => {
  it("gives one user's own only, and of a project", async () => {
    const here = service();
    await here.addMemory({ content: "mine", userId: "ada", project: "garden" });
    await here.addMemory({ content: "also mine", userId: "ada" });
    await here.addMemory({ content: "yours", userId: "bob" });
    await here.recordFact({ subject: "x", predicate: "y", object: "z", userId: "bob" });
    const contents = async (input: Parameters<Operations["exportRecords"]>[0]) =>
      (await all(await here.exportRecords(input))).map(
        (record) => record.kind === "memory" && record.memory.content,
      );
    expect(await contents({ userId: "ada", waypoints: false })).toEqual(["mine", "also mine"]);
    expect(await contents({ projects: ["garden"], waypoints: false })).toEqual(["mine"]);
  });

  it("leaves out what comes after its beginning", async () => {
    const here = service();
    await here.addMemory({ content: "before" });
    const records = await here.exportRecords({ waypoints: true });
    const first = await records.next();
    await here.addMemory({ content: "after" });
    await here.recordFact({ subject: "x", predicate: "y", object: "z" });
    expect(first.value).toMatchObject({ memory: { content: "before" } });
    expect(await records.next()).toEqual({ done: true, value: undefined });
  });
});
