/**
 * Random histories, told to the real operations and to a model that keeps every moment in a cell; both must
 * answer alike.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareFacts } from "../../../src/core/facts/compare-facts.ts";
import { currentFact, invalidateFact, updateFact } from "../../../src/core/facts/fact-operations.ts";
import { eraseFact } from "../../../src/core/facts/erase-fact.ts";
import { type Fact, isEmpty, isValidAt } from "../../../src/core/facts/fact.ts";
import { FactBook, type FactReads } from "../../../src/core/facts/fact-book.ts";
import { factTimeline, findFacts } from "../../../src/core/facts/find-facts.ts";
import { type RecordFactInput, recordFact, recordFacts } from "../../../src/core/facts/record-fact.ts";
import { FactModel, LAST, type ModelFact, type Moment } from "../../support/fact-model.ts";
import { createFakeFactPorts, type FakeFactPorts } from "../../support/in-memory-fact-store.ts";
import { times } from "../../support/stress.ts";

/** Histories for each property. */
const RUNS = { numRuns: times(150) };

const CELL_MS = 1_000;
const MOMENTS = Array.from({ length: LAST + 1 }, (_, moment) => moment);
const OBJECTS = ["Paris", "paris", "Rome"];
/** Ways to write the one subject. */
const SUBJECTS = ["Ann Straße", " ann STRASSE", "Ａnn strasse"];

const moment = fc.integer({ min: 0, max: LAST });
const confidence = fc.constantFrom(0.25, 0.5, 1);
const statement = fc
  .record({
    object: fc.constantFrom(...OBJECTS),
    subject: fc.constantFrom(...SUBJECTS),
    from: fc.integer({ min: 0, max: LAST }),
    length: fc.option(fc.integer({ min: 1, max: LAST }), { nil: null }),
    confidence: fc.option(confidence, { nil: undefined }),
  })
  .map(({ from, length, ...rest }) => ({ ...rest, from, to: length === null ? null : from + length }))
  .filter(({ to }) => to === null || to <= LAST);
type StatementStep = typeof statement extends fc.Arbitrary<infer T> ? T : never;

const step = fc.oneof(
  { weight: 6, arbitrary: statement.map((s) => ({ kind: "record" as const, statements: [s] })) },
  {
    weight: 1,
    arbitrary: fc
      .array(statement, { minLength: 2, maxLength: 4 })
      .map((statements) => ({ kind: "record" as const, statements })),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("close" as const), pick: fc.nat(20), at: moment }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("update" as const), pick: fc.nat(20), confidence }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("erase" as const), pick: fc.nat(20) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
/** What the clock does before each step: stands, goes on, is set back. */
const history = fc.array(fc.tuple(step, fc.constantFrom(0, 1, 5, -3)), { maxLength: 14 });

function inputOf(s: StatementStep): RecordFactInput {
  return {
    subject: s.subject,
    predicate: "lives in",
    object: s.object,
    validFrom: s.from * CELL_MS,
    ...(s.to === null ? {} : { validTo: s.to * CELL_MS }),
    ...(s.confidence === undefined ? {} : { confidence: s.confidence }),
  };
}

/** Runs a step on both; the models are one a timeline (`one`) or one an object (`many`). */
async function run(
  ports: FakeFactPorts,
  models: ReadonlyMap<string, FactModel>,
  todo: Step,
  cardinality: "one" | "many",
) {
  if (todo.kind === "record") {
    const inputs = todo.statements.map((s) => ({ ...inputOf(s), cardinality }));
    if (inputs.length === 1 && inputs[0] !== undefined) await recordFact(ports, inputs[0]);
    else await recordFacts(ports, { items: inputs });
    for (const s of todo.statements) modelOf(models, s.object).record(s.object, s.from, s.to, s.confidence);
    return;
  }
  const visible = [...new Set(models.values())].flatMap((model) =>
    model.visible.map((fact) => ({ model, fact })),
  );
  const picked = visible[todo.pick % visible.length];
  if (picked === undefined) return;
  const { model, fact } = picked;
  const { facts } = findFacts(ports, { object: fact.object, at: model.startOf(fact) * CELL_MS, limit: 10 });
  expect(facts).toHaveLength(1);
  const id = facts[0]?.id ?? "";
  if (todo.kind === "update") {
    await updateFact(ports, { id, confidence: todo.confidence });
    fact.confidence = todo.confidence;
  } else if (todo.kind === "erase") {
    await eraseFact(ports, { id });
    model.erase(fact);
  } else if (model.close(fact, todo.at)) {
    await invalidateFact(ports, { id, validTo: todo.at * CELL_MS });
  } else {
    await expect(invalidateFact(ports, { id, validTo: todo.at * CELL_MS })).rejects.toMatchObject({
      code: "INVALID_REQUEST",
    });
  }
}

function modelOf(models: ReadonlyMap<string, FactModel>, object: string): FactModel {
  const model = models.get(object);
  if (model === undefined) throw new Error("every object has a model");
  return model;
}

/** Runs a history; the times of its records, one a snapshot of the model. */
async function tell(steps: readonly (readonly [Step, number])[], cardinality: "one" | "many") {
  const ports = createFakeFactPorts();
  const one = new FactModel();
  const models = new Map(OBJECTS.map((object) => [object, cardinality === "one" ? one : new FactModel()]));
  const times: number[] = [];
  for (const [todo, elapsed] of steps) {
    ports.clock.time += elapsed;
    await run(ports, models, todo, cardinality);
    times.push(ports.store.catalogue.facts.latestRecordedAt);
    for (const model of new Set(models.values())) model.snapshots.push(model.now());
  }
  return { ports, models: [...new Set(models.values())], times };
}

const sayOfModel = (held: Moment | null = null) =>
  held === null ? [] : [`${held.fact.object} ${held.confidence}`];
const sayOfFact = (fact: Fact) => `${fact.object} ${fact.confidence}`;

describe.each(["one", "many"] as const)("facts of cardinality %s", (cardinality) => {
  const property = (check: (told: Awaited<ReturnType<typeof tell>>) => void | Promise<void>) =>
    fc.assert(
      fc.asyncProperty(history, async (steps) => check(await tell(steps, cardinality))),
      RUNS,
    );

  it("answer `at`, `known_at` and both as the model does", () =>
    property(({ ports, models, times }) => {
      for (const [index, knownAt] of times.entries()) {
        // Where a step changed nothing the next one has the same time, and the same snapshot.
        if (knownAt === -Infinity || times[index + 1] === knownAt) continue;
        for (const at of MOMENTS) {
          const expected = models.flatMap((model) => sayOfModel(model.snapshots[index]?.[at])).sort();
          const asOf = { at: at * CELL_MS, knownAt };
          expect(
            findFacts(ports, { ...asOf, limit: 10 })
              .facts.map(sayOfFact)
              .sort(),
          ).toEqual(expected);
          // A period is half-open: it holds until just before the next moment.
          const before = { ...asOf, at: asOf.at + CELL_MS - 1 };
          expect(
            findFacts(ports, { ...before, limit: 10 })
              .facts.map(sayOfFact)
              .sort(),
          ).toEqual(expected);
        }
      }
      for (const at of MOMENTS) {
        const expected = models.flatMap((model) => sayOfModel(model.now()[at])).sort();
        expect(
          findFacts(ports, { at: at * CELL_MS, limit: 10 })
            .facts.map(sayOfFact)
            .sort(),
        ).toEqual(expected);
        const subject = { subject: "ann strasse", predicate: "LIVES IN", at: at * CELL_MS };
        if (expected.length === 0) expect(() => currentFact(ports, subject)).toThrow(/valid/);
        else expect(expected).toContain(sayOfFact(currentFact(ports, subject)));
      }
    }));

  it("hold at most one fact at a moment, of each object or of all", () =>
    property(({ ports, times }) => {
      for (const knownAt of [undefined, ...times]) {
        for (const at of MOMENTS) {
          const { facts } = findFacts(ports, { at: at * CELL_MS, knownAt, limit: 10 });
          const objects = facts.map((fact) => (cardinality === "one" ? "any" : fact.object));
          expect(new Set(objects).size).toBe(objects.length);
        }
      }
    }));

  it("tell the timeline as the model does", () =>
    property(({ ports, models }) => {
      const expected = models.flatMap((model) =>
        model.visible.flatMap((fact: ModelFact) => {
          const end = model.endOf(fact);
          const ending = fact.endedBy === null ? "invalidated" : "superseded";
          return [
            `${model.startOf(fact)} created ${fact.object}`,
            ...(end === null ? [] : [`${end} ${ending} ${fact.object}`]),
          ];
        }),
      );
      const { events, total } = factTimeline(ports, { subject: SUBJECTS[0] ?? "", limit: 1_000 });
      const told = events.filter(({ changeType }) => changeType !== "updated");
      expect(told.map((e) => `${e.timestamp / CELL_MS} ${e.changeType} ${e.fact.object}`).sort()).toEqual(
        expected.sort(),
      );
      expect(total).toBe(events.length);
      expect(events.map(({ timestamp }) => timestamp)).toEqual(
        events.map(({ timestamp }) => timestamp).sort((a, b) => a - b),
      );
    }));

  it("compare as the model does", () =>
    fc.assert(
      fc.asyncProperty(history, moment, moment, async (steps, first, second) => {
        const { ports, models } = await tell(steps, cardinality);
        const expected = { added: 0, removed: 0, changed: 0, unchanged: 0 };
        for (const model of models) {
          const [before, after] = [model.now()[first]?.fact.object, model.now()[second]?.fact.object];
          if (before === undefined && after === undefined) continue;
          if (before === undefined) expected.added += 1;
          else if (after === undefined) expected.removed += 1;
          else if (before === after) expected.unchanged += 1;
          else expected.changed += 1;
        }
        const times = { time1: first * CELL_MS, time2: second * CELL_MS };
        expect(compareFacts(ports, { ...times, limit: 10 }).summary).toEqual(expected);
      }),
      RUNS,
    ));

  it("keep every version: transaction times ascend and only what can change does", () =>
    property(({ ports }) => {
      let last = -Infinity;
      for (const record of ports.store.records) {
        const updated = new Set(
          record.flatMap(({ table, row }) => (table === "facts" && row !== null ? [row.updatedAt] : [])),
        );
        const isErasure = record.some(({ row }) => row === null);
        if (isErasure) continue;
        expect(updated.size).toBe(1);
        expect(Math.min(...updated)).toBeGreaterThan(last);
        last = Math.max(...updated);
      }
      const byFact = new Map<string, Fact[]>();
      for (const row of ports.store.rows.values()) byFact.set(row.id, [...(byFact.get(row.id) ?? []), row]);
      for (const versions of byFact.values()) {
        versions.sort((a, b) => a.version - b.version);
        for (const [index, version] of versions.entries()) {
          const { id, subject, predicate, object, cardinality: held, recordedAt } = version;
          expect(versions[0]).toMatchObject({
            id,
            subject,
            predicate,
            object,
            cardinality: held,
            recordedAt,
          });
          expect(version.version).toBe(index + 1);
          expect(version.updatedAt).toBeGreaterThan(versions[index - 1]?.updatedAt ?? -Infinity);
          expect(isEmpty(version) && MOMENTS.some((at) => isValidAt(version, at * CELL_MS))).toBe(false);
          for (const link of [version.supersededBy, version.derivedFrom])
            if (link !== null) expect(byFact.has(link)).toBe(true);
        }
      }
    }));

  it("come out the same however often and in whatever order the rows are applied", () =>
    fc.assert(
      fc.asyncProperty(
        history,
        fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
        async (steps, random) => {
          const { ports } = await tell(steps, cardinality);
          const replayed = new FactBook();
          for (const _ of [1, 2]) {
            for (const record of ports.store.records)
              replayed.apply(record.filter((change) => change.table === "facts"));
          }
          const loaded = new FactBook();
          const shuffled = [...ports.store.rows].map(([id, row]) => ({
            id,
            row,
            place: random.next().value ?? 0,
          }));
          for (const { id, row } of shuffled.sort((a, b) => a.place - b.place))
            loaded.apply([{ table: "facts", id, row }]);
          expect(contentsOf(replayed)).toEqual(contentsOf(ports.store.catalogue.facts));
          expect(contentsOf(loaded)).toEqual(contentsOf(ports.store.catalogue.facts));
          for (const book of [replayed, loaded]) {
            const catalogue = { ...ports.store.catalogue, facts: book };
            const other = { ...ports, store: { ...ports.store, catalogue } };
            for (const at of [undefined, ...MOMENTS.map((cell) => cell * CELL_MS)]) {
              const asOf = { at, knownAt: at === undefined ? undefined : ports.clock.time, limit: 10 };
              expect(findFacts(other, asOf)).toEqual(findFacts(ports, asOf));
            }
          }
          expect(contentsOf(loaded)).toHaveLength(loaded.size);
        },
      ),
      RUNS,
    ));
});

function contentsOf(book: FactReads) {
  return book
    .timelines({})
    .flatMap(({ facts }) => facts.map(({ latest, versions }) => ({ latest, versions })))
    .sort((a, b) => (a.latest.id < b.latest.id ? -1 : 1));
}
