import { readdirSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Change } from "../../../src/core/rows.ts";
import { nodeDisk } from "../../../src/storage/files/disk.ts";
import { createFaultyDisk } from "../../support/faulty-disk.ts";
import { cutRecord } from "../../../src/storage/journal/group-buffer.ts";
import { memoryRow } from "../../support/memory-row.ts";
import { numbered, numbersOf, openForTest, withFolder } from "./journal-fixture.ts";

const segments = (folder: string) => readdirSync(folder).filter((name) => name.endsWith(".journal"));

describe("a journal", () => {
  it("gives sequences at once and back what was appended, in order", () =>
    withFolder(async (folder) => {
      const { journal } = await openForTest(folder);
      const appended = [1, 2, 3].map((n) => journal.append(numbered(n)));
      expect(appended.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
      expect(journal.position).toEqual({ epoch: 1, sequence: 0 });
      await Promise.all(appended.map(({ durable }) => durable));
      expect(journal.position).toEqual({ epoch: 1, sequence: 3 });
      await journal.close();

      const again = await openForTest(folder);
      expect(again.tornBytes).toBe(0);
      expect(again.records).toEqual(
        [1, 2, 3].map((n) => ({ sequence: n, time: n, changes: numbered(n).changes })),
      );
      expect(again.journal.append(numbered(4)).sequence).toBe(4);
      await again.journal.close();
      expect(numbersOf((await openForTest(folder, { after: 2 })).records)).toEqual([3, 4]);
    }));

  it("resolves in order", () =>
    withFolder(async (folder) => {
      const { journal } = await openForTest(folder);
      const order: number[] = [];
      const durables: Promise<unknown>[] = [];
      for (let n = 1; n <= 50; n += 1) {
        durables.push(journal.append(numbered(n, n * 1_000)).durable.then(() => order.push(n)));
        if (n % 7 === 0) await nextTurn();
      }
      await Promise.all(durables);
      expect(order).toEqual(Array.from({ length: 50 }, (_, i) => i + 1));
      await journal.close();
    }));

  it("writes and syncs once for all who wait", () =>
    withFolder(async (folder) => {
      const disk = await createFaultyDisk(folder);
      const { journal } = await openForTest(folder, { disk });
      await journal.append(numbered(1)).durable;
      const before = disk.steps;
      await Promise.all(Array.from({ length: 100 }, (_, i) => journal.append(numbered(i + 2)).durable));
      expect(disk.log.slice(before).map((step) => step.split(" ")[0])).toEqual(["write", "sync"]);
      await journal.close();
    }));

  it("writes what waits when it is closed, and refuses what comes after", () =>
    withFolder(async (folder) => {
      const { journal } = await openForTest(folder);
      const { durable } = journal.append(numbered(1));
      await Promise.all([journal.close(), journal.close(), durable]);
      expect(() => journal.append(numbered(2))).toThrow(expect.objectContaining({ code: "NOT_READY" }));
      await expect(journal.dropThrough(1)).rejects.toMatchObject({ code: "NOT_READY" });
      expect(numbersOf((await openForTest(folder)).records)).toEqual([1]);
    }));

  it("refuses what cannot be encoded without using up a sequence", () =>
    withFolder(async (folder) => {
      const { journal } = await openForTest(folder);
      const bad = {
        time: 1,
        frees: false,
        changes: [{ table: "signals", id: "a", row: { salience: 1n } }] as unknown as Change[],
      };
      expect(() => journal.append(bad)).toThrow();
      expect(journal.append(numbered(1)).sequence).toBe(1);
      await journal.close();
    }));

  it("keeps a record of many megabytes whole, in groups of its own", () =>
    withFolder(async (folder) => {
      const { journal } = await openForTest(folder);
      const changes = Array.from({ length: 40 }, (_, i): Change => {
        const id = `m${i}`;
        return { table: "memories", id, row: memoryRow({ id, content: String(i).repeat(300_000) }) };
      });
      const one = journal.append(numbered(1)).durable;
      const large = journal.append({ time: 2, changes, frees: false }).durable;
      const three = journal.append(numbered(3)).durable;
      await Promise.all([one, large, three]);
      expect(journal.bytes).toBeGreaterThan(16 * 1024 * 1024);
      await journal.close();

      const { records, journal: again } = await openForTest(folder);
      expect(numbersOf(records)).toEqual([1, 2, 3]);
      expect(records[1]?.changes.length).toBe(40);
      expect(records[1]?.changes[39]).toEqual(changes[39]);
      await again.close();
    }));

  it.each([1_998, 1_999, 2_000, 9_000])("keeps %i small changes whole, a few in each frame", (count) =>
    withFolder(async (folder) => {
      const changes = Array.from({ length: count }, (_, i): Change => ({
        table: "edges",
        id: `e${i}`,
        row: null,
      }));
      const pieces = [...cutRecord({ changes, erases: "ann" })];
      expect(pieces.length).toBe(1 + Math.floor((count + 1) / 2_000));
      expect(pieces.map(({ last }) => last)).toEqual(pieces.map((_, i) => i === pieces.length - 1));

      const { journal } = await openForTest(folder);
      const many = journal.append({ time: 1, changes, erases: "ann", frees: true }).durable;
      await Promise.all([many, journal.append(numbered(2)).durable]);
      await journal.close();
      const { records } = await openForTest(folder);
      expect(numbersOf(records)).toEqual([1, 2]);
      expect(records[0]).toMatchObject({ erases: "ann", changes });
    }),
  );

  it("begins a new segment after the record that fills one, and reads over all of them", () =>
    withFolder(async (folder) => {
      const { journal } = await openForTest(folder, { segmentBytes: 1_000 });
      for (let n = 1; n <= 10; n += 1) await journal.append(numbered(n, 400)).durable;
      expect(segments(folder)).toEqual([1, 3, 5, 7, 9].map((n) => `0000000001-000000000000000${n}.journal`));
      const sizes = await Promise.all(segments(folder).map((name) => nodeDisk.size(`${folder}/${name}`)));
      expect(journal.bytes).toBe(sizes.reduce((sum: number, size) => sum + (size ?? 0), 0));
      await journal.close();
      expect(numbersOf((await openForTest(folder)).records)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
      expect(numbersOf((await openForTest(folder, { after: 4 })).records)).toEqual([5, 6, 7, 8, 9, 10]);
    }));

  it("takes a sealed group of records of almost a frame each, more than one group holds", () =>
    withFolder(async (folder) => {
      const { journal } = await openForTest(folder);
      await Promise.all(
        Array.from({ length: 20 }, (_, i) => journal.append(numbered(i + 1, 1_000_000)).durable),
      );
      await journal.close();
      expect((await openForTest(folder)).records).toHaveLength(20);
    }));
});

describe("dropThrough", () => {
  async function withFiveSegments(folder: string) {
    const { journal } = await openForTest(folder, { segmentBytes: 1_000 });
    for (let n = 1; n <= 10; n += 1) await journal.append(numbered(n, 400)).durable;
    return journal;
  }

  it("removes the segments that hold nothing after it, and no other", () =>
    withFolder(async (folder) => {
      const journal = await withFiveSegments(folder);
      await journal.dropThrough(5);
      expect(segments(folder)).toEqual([5, 7, 9].map((n) => `0000000001-000000000000000${n}.journal`));
      await journal.dropThrough(6);
      expect(segments(folder)).toHaveLength(2);
      await journal.append(numbered(11)).durable;
      await journal.close();
      expect(numbersOf((await openForTest(folder, { after: 6 })).records)).toEqual([7, 8, 9, 10, 11]);
    }));

  it("makes each removal durable before the next, so that a power failure leaves no gap", () =>
    withFolder(async (folder) => {
      await (await withFiveSegments(folder)).close();
      const disk = await createFaultyDisk(folder);
      const { journal } = await openForTest(folder, { disk });
      await journal.append(numbered(11)).durable;
      const before = disk.steps;
      await journal.dropThrough(4);
      expect(disk.log.slice(before)).toEqual([
        "remove 0000000001-0000000000000001.journal",
        "sync-folder journal",
        "remove 0000000001-0000000000000003.journal",
        "sync-folder journal",
      ]);
    }));

  it("empties the journal when all is covered, and goes on with the sequence", () =>
    withFolder(async (folder) => {
      const journal = await withFiveSegments(folder);
      await journal.dropThrough(10);
      expect(segments(folder)).toEqual(["0000000001-0000000000000011.journal"]);
      await journal.dropThrough(10);
      expect(segments(folder)).toEqual(["0000000001-0000000000000011.journal"]);
      expect(journal.append(numbered(11)).sequence).toBe(11);
      await journal.close();
      expect(numbersOf((await openForTest(folder, { after: 10 })).records)).toEqual([11]);
    }));

  it("removes the segments of earlier epochs", () =>
    withFolder(async (folder) => {
      await (await withFiveSegments(folder)).close();
      const { journal } = await openForTest(folder, { epoch: 2, after: 10, begin: true });
      expect(segments(folder)).toHaveLength(6);
      expect(journal.append(numbered(11)).sequence).toBe(11);
      await journal.dropThrough(10);
      expect(segments(folder)).toEqual(["0000000002-0000000000000011.journal"]);
      await journal.close();
      expect(numbersOf((await openForTest(folder, { epoch: 2, after: 10 })).records)).toEqual([11]);
    }));
});
