import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "@lancedb/lancedb";
import { Schema } from "apache-arrow";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Fact, factRowId } from "../../../src/core/facts/fact.ts";
import type { Change, LanceTable, Rows } from "../../../src/core/rows.ts";
import { COMPACTION_THRESHOLDS, generationName } from "../../../src/storage/tables/table-spec.ts";
import { tableSchema } from "../../../src/storage/tables/arrow-columns.ts";
import { TABLE_NAMES } from "../../../src/storage/tables/specs.ts";
import { openTables, type Tables } from "../../../src/storage/tables/tables.ts";
import { factRow } from "../../support/fact-row.ts";
import { memoryRow } from "../../support/memory-row.ts";
import { anyId, anyRow, storedUnder } from "./sample-rows.ts";

let directory: string;
let tables: Tables;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "memoryd-tables-"));
  tables = await openTables(directory, []);
});
afterEach(async () => {
  await tables.close();
  await rm(directory, { recursive: true });
});

const signals = (id: string, salience: number): Change => ({
  table: "signals",
  id,
  row: { salience, lastSeenAt: 1 },
});
const vectors = (id: string, windows: number): Change => ({
  table: "vectors",
  id,
  row: {
    userId: "u",
    windows: Array.from({ length: windows }, (_, i) => new Float32Array(384).fill((i + 1) / 10)),
    stamp: "s",
  },
});

/** By the names that columns have; objects as JSON. */
function columnsOf(row: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([property, value]) => [
      property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      typeof value === "object" && value !== null ? JSON.stringify(value) : value,
    ]),
  );
}

async function all<T>(batches: AsyncIterable<readonly T[]>): Promise<T[]> {
  const rows: T[] = [];
  for await (const batch of batches) rows.push(...batch);
  return rows;
}

describe("openTables", () => {
  it("applies more than LanceDB should hold at once, each row once", async () => {
    const memory = (i: number): Change => {
      const id = `m${i}`;
      return { table: "memories", id, row: memoryRow({ id, content: `${i} `.repeat(64 * 1_024) }) };
    };
    const changes = Array.from({ length: 220 }, (_, i) => memory(i));
    for (let time = 0; time < 2; time += 1) {
      await tables.apply([...changes, signals("m0", 0.5)]);
      const rows = await tables.read(
        "memories",
        changes.map(({ id }) => id),
      );
      expect(rows.size).toBe(220);
      expect(rows.get("m219")?.content).toBe("219 ".repeat(64 * 1_024));
    }
    expect(await tables.states()).toContainEqual(expect.objectContaining({ rows: 220 }));
  });

  it("gives a table of an earlier version the columns that came since", async () => {
    const row = factRow({ id: "f", createdBy: null });
    const { createdBy: _, ...earlier } = row;
    const connection = await connect(directory);
    const schema = tableSchema("facts");
    const name = generationName("facts", 1);
    const old = await connection.createEmptyTable(
      name,
      new Schema(schema.fields.filter((field) => field.name !== "created_by")),
    );
    await old.add([{ ...columnsOf(earlier), id: factRowId(row) }]);
    const state = { name, version: await old.version(), rows: 1 };
    connection.close();
    await tables.close();

    // Twice: nothing says that it was done until a checkpoint names the new version.
    for (let time = 0; time < 2; time += 1) {
      tables = await openTables(directory, [time === 0 ? state : { ...state, version: state.version + 1 }]);
      expect(await tables.read("facts", [factRowId(row)])).toEqual(new Map([[factRowId(row), row]]));
      if (time === 0) await tables.close();
    }
    const later = { ...row, version: 2, createdBy: "cursor" };
    // A record that an earlier version wrote.
    const other = { ...earlier, id: "g" } as Fact;
    await tables.apply([
      { table: "facts", id: factRowId(later), row: later },
      { table: "facts", id: factRowId(other), row: other },
    ]);
    const rows = await all(tables.scan("facts"));
    expect(rows.map(({ row: { id, version, createdBy } }) => [id, version, createdBy])).toEqual([
      ["f", 1, null],
      ["f", 2, "cursor"],
      ["g", 1, null],
    ]);
  });

  it("reads what it wrote, and leaves out what is not there", async () => {
    await tables.apply([signals("a", 0.5), signals("b", 0.25)]);
    expect(await tables.read("signals", ["a", "missing"])).toEqual(
      new Map([["a", { salience: 0.5, lastSeenAt: 1 }]]),
    );
    expect(await tables.read("edges", ["a"])).toEqual(new Map());
  });

  it("replaces, deletes, and gives the same when a batch comes again", async () => {
    await tables.apply([signals("a", 0.1), signals("b", 0.2), signals("c", 0.3)]);
    const batch: Change[] = [signals("a", 0.9), { table: "signals", id: "b", row: null }, signals("d", 0.4)];
    for (let time = 0; time < 2; time += 1) {
      await tables.apply(batch);
      const rows = await all(tables.scan("signals"));
      expect(new Map(rows.map(({ id, row }) => [id, row.salience]))).toEqual(
        new Map([
          ["a", 0.9],
          ["c", 0.3],
          ["d", 0.4],
        ]),
      );
      expect(rows).toHaveLength(3);
    }
  });

  it("replaces all windows of a memory, also by fewer", async () => {
    await tables.apply([vectors("a", 3), vectors("b", 2)]);
    await tables.apply([vectors("a", 1)]);
    const rows = await tables.read("vectors", ["a", "b"]);
    expect(rows.get("a")?.windows).toHaveLength(1);
    expect(rows.get("b")?.windows).toHaveLength(2);
    const ids: string[] = [];
    for await (const batch of tables.scanVectors()) ids.push(...batch.memoryIds);
    expect(ids.sort()).toEqual(["a", "b", "b"]);
  });

  it("keeps rows of every table exactly, under ids of any characters", async () => {
    const change = fc.constantFrom(...TABLE_NAMES).chain((table: LanceTable) =>
      fc.tuple(anyId, anyRow[table] as fc.Arbitrary<Rows[LanceTable]>).map(([id, row]) => {
        return { table, id, row: storedUnder(table, id, row) } as Change;
      }),
    );
    const changes = fc.uniqueArray(change, {
      selector: ({ table, id }) => `${table} ${id}`,
      minLength: 1,
      maxLength: 30,
    });
    await fc.assert(
      fc.asyncProperty(changes, async (batch) => {
        await tables.apply(batch);
        for (const { table, id, row } of batch) {
          expect((await tables.read(table as LanceTable, [id])).get(id)).toEqual(row);
        }
      }),
      { numRuns: 8 },
    );
  });

  it("copies the rows of every table exactly to another generation, and from that to the next", async () => {
    const expected = new Map<LanceTable, Map<string, Rows[LanceTable]>>();
    const change = async (at: number) => {
      const changes = TABLE_NAMES.flatMap((table) => {
        const rows = expected.get(table) ?? new Map<string, Rows[LanceTable]>();
        expected.set(table, rows);
        const some = fc.sample<Rows[LanceTable]>(anyRow[table], { numRuns: 12, seed: at });
        return some.map((sample, i): Change => {
          const id = `${at % 2 === 0 ? "even" : "odd"} ${i}`;
          const row = i % 3 === at % 3 ? null : storedUnder(table, id, sample);
          if (row === null) rows.delete(id);
          else rows.set(id, row);
          return { table, id, row } as Change;
        });
      });
      await tables.apply(changes);
      return changes;
    };
    for (const at of [0, 1, 2, 3]) await change(at);
    await tables.apply([signals("alone", 0.5)]);
    expected.get("signals")?.set("alone", { salience: 0.5, lastSeenAt: 1 });
    for (const number of [2, 3]) {
      const copied = await tables.generation("startGeneration");
      while ((await tables.generation("copyTable")) !== undefined);
      for (const { table, copy } of copied) expect(copy).toBe(generationName(table, number));
      await tables.generation("switchGeneration");
      await change(number * 10);
      await tables.generation("endGeneration");
      for (const name of ["memories", "vectors"])
        await rm(join(directory, `${name}-g${number - 1}.lance`), { recursive: true });
      await change(number * 10 + 1);
      const states = await tables.states();
      await tables.close();
      tables = await openTables(directory, states);
      for (const [table, rows] of expected) {
        const ids = [...rows.keys(), "even 0", "even 1", "even 2"];
        expect(await tables.read(table, ids)).toEqual(rows);
        const { rows: count } = states.find(({ name }) => name === generationName(table, number)) ?? {};
        if (table !== "vectors") expect(count).toBe(rows.size);
      }
    }
  });

  it("scans memories without their text", async () => {
    const [row] = fc.sample(anyRow.memories, { numRuns: 1, seed: 7 });
    if (row === undefined) throw new Error("no sample");
    const { content, ...slim } = { ...row, id: "a", terms: "grün tee" };
    await tables.apply([{ table: "memories", id: "a", row: { ...slim, content } }]);
    const [scanned] = await all(tables.scanMemories());
    expect({ ...scanned, terms: Buffer.from(scanned?.terms ?? []).toString() }).toEqual(slim);
  });

  it("reads ids by the thousand", async () => {
    const ids = Array.from({ length: 5_000 }, (_, i) => `it's ${i}`);
    await tables.apply(ids.map((id) => signals(id, 0.5)));
    expect((await tables.read("signals", ids)).size).toBe(5_000);
  });

  it("refuses two changes of one id, and takes the next batch", async () => {
    await expect(tables.apply([signals("a", 0.1), signals("a", 0.2)])).rejects.toThrow(TypeError);
    await tables.apply([signals("a", 0.3)]);
    expect((await tables.read("signals", ["a"])).get("a")?.salience).toBe(0.3);
  });

  it("answers a scan that is left early, and others beside it", async () => {
    await tables.apply([signals("a", 0.1)]);
    for await (const _ of tables.scan("signals")) break;
    expect(await all(tables.scan("signals"))).toHaveLength(1);
  });

  it("opens at the state it is told, and refuses another", async () => {
    await tables.apply([signals("a", 0.1)]);
    const states = await tables.states();
    await tables.close();
    tables = await openTables(directory, states);
    expect((await tables.read("signals", ["a"])).size).toBe(1);
    await expect(openTables(directory, [{ name: "signals-g1", version: 1, rows: 7 }])).rejects.toMatchObject({
      code: "INTERNAL",
    });
  });

  it("keeps every row and version while it compacts", async () => {
    for (let i = 0; i < 5; i += 1) await tables.apply([signals(`${i}`, i / 10), signals("same", i / 10)]);
    const before = await tables.states();
    expect(await tables.compact({ ...COMPACTION_THRESHOLDS, fragments: 2 })).toBe(true);
    expect(await tables.compact({ ...COMPACTION_THRESHOLDS, fragments: 2 })).toBe(false);
    expect((await tables.states())[0]?.rows).toBe(before[0]?.rows);
    expect(await all(tables.scan("signals"))).toHaveLength(6);
  });

  it("compacts few fragments only once much is in the small ones", async () => {
    const some = (from: number, count: number) =>
      Array.from({ length: count }, (_, i) => signals(`${from + i}`, 0.5));
    await tables.apply(some(0, 200));
    for (let i = 0; i < 5; i += 1) await tables.apply(some(1_000 + 8 * i, 8));
    expect(await tables.compact()).toBe(false);
    await tables.apply(some(2_000, 60));
    expect(await tables.compact()).toBe(true);
    expect(await all(tables.scan("signals"))).toHaveLength(300);
  });

  it("shows a row to whoever asked before it is replaced", async () => {
    await tables.apply([signals("a", 0)]);
    for (let i = 1; i < 20; i += 1) {
      const read = tables.read("signals", ["a"]);
      const applied = tables.apply([signals("a", i)]);
      expect((await read).get("a")?.salience).toBe(i - 1);
      await applied;
    }
  });

  it("answers what was asked before it closes", async () => {
    await tables.apply([signals("a", 0.1)]);
    const read = tables.read("signals", ["a"]);
    const applied = tables.apply([signals("b", 0.2)]);
    await tables.close();
    expect((await read).size).toBe(1);
    await applied;
  });

  it("refuses every call after close", async () => {
    await tables.close();
    await expect(tables.read("signals", ["a"])).rejects.toMatchObject({ code: "NOT_READY" });
  });
});
