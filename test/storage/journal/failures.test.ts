import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Journal } from "../../../src/storage/journal/journal.ts";
import { createFaultyDisk, type Fault, type FaultyDisk } from "../../support/faulty-disk.ts";
import { deletion, numbered, numbersOf, openForTest, withFolder } from "./journal-fixture.ts";

async function withFaultyJournal(run: (journal: Journal, disk: FaultyDisk, folder: string) => Promise<void>) {
  await withFolder(async (folder) => {
    const disk = await createFaultyDisk(folder);
    const { journal } = await openForTest(folder, { disk });
    await journal.append(numbered(1)).durable;
    await run(journal, disk, folder);
  });
}

function outcomes(durables: readonly { readonly durable: Promise<void> }[]): Promise<string[]> {
  return Promise.all(
    durables.map(({ durable }) =>
      durable.then(
        () => "durable",
        (error: { code: string }) => error.code,
      ),
    ),
  );
}

describe("a failed write", () => {
  it.each<[Fault, string]>([
    ["short-write", "NOT_READY"],
    ["EIO", "NOT_READY"],
    ["ENOSPC", "STORE_FULL"],
  ])("(%s) is cut back, and everything not yet durable is refused at once", (fault, code) =>
    withFaultyJournal(async (journal, disk, folder) => {
      disk.failAt(disk.steps + 1, fault);
      const first = [2, 3].map((n) => journal.append(numbered(n)));
      // Lets the first group go to the disk, so that these wait for the second.
      await Promise.resolve();
      await Promise.resolve();
      const behind = [4, 5].map((n) => journal.append(numbered(n)));
      expect([...first, ...behind].map(({ sequence }) => sequence)).toEqual([2, 3, 4, 5]);
      expect(await outcomes([...first, ...behind])).toEqual([code, code, code, code]);

      expect(journal.readOnly).toBeUndefined();
      expect(journal.position.sequence).toBe(1);
      expect(journal.append(numbered(6)).sequence).toBe(2);
      await journal.close();
      const { records, tornBytes } = await openForTest(folder);
      expect(numbersOf(records)).toEqual([1, 6]);
      expect(tornBytes).toBe(0);
    }),
  );

  it("lets the owner take back what it did with the records before any of them is answered", () =>
    withFolder(async (folder) => {
      const disk = await createFaultyDisk(folder);
      const order: string[] = [];
      const { journal } = await openForTest(folder, { disk, onRefused: () => order.push("refused") });
      await journal.append(numbered(1)).durable;
      disk.failAt(disk.steps + 1, "EIO");
      const answered = [2, 3].map((n) =>
        journal.append(numbered(n)).durable.catch(() => order.push(`answered ${n}`)),
      );
      await Promise.all(answered);
      expect(order).toEqual(["refused", "answered 2", "answered 3"]);
    }));

  it("is answered when the cut is on the disk too, lest a power failure bring the record back", () =>
    withFaultyJournal(async (journal, disk) => {
      const before = disk.steps;
      disk.failAt(before + 1, "EIO");
      expect(await outcomes([journal.append(numbered(2))])).toEqual(["NOT_READY"]);
      const name = "0000000001-0000000000000001.journal";
      expect(disk.log.slice(before)).toEqual([`write ${name}`, `truncate ${name}`, `sync ${name}`]);
    }));

  it("in the middle of a large record takes back its groups that were written", () =>
    withFaultyJournal(async (journal, disk, folder) => {
      const large = Array.from({ length: 20 }, (_, i) => numbered(i, 1_000_000).changes).flat();
      disk.failAt(disk.steps + 3, "short-write");
      expect(await outcomes([journal.append({ time: 2, changes: large, frees: false })])).toEqual([
        "NOT_READY",
      ]);
      await journal.append(numbered(3)).durable;
      await journal.close();
      const { records, tornBytes } = await openForTest(folder);
      expect(numbersOf(records)).toEqual([1, 3]);
      expect(tornBytes).toBe(0);
    }));

  it("whose cut fails leaves the journal read-only, and never half a record", () =>
    withFaultyJournal(async (journal, disk, folder) => {
      disk.failAt(disk.steps + 1, "short-write", { lasting: true });
      expect(await outcomes([2, 3].map((n) => journal.append(numbered(n))))).toEqual([
        "NOT_READY",
        "NOT_READY",
      ]);
      disk.heal();
      expect(() => journal.append(numbered(4))).toThrow(expect.objectContaining({ code: "NOT_READY" }));
      expect(journal.readOnly?.message).toMatch(/restarted/);
      await journal.close();
      expect(numbersOf((await openForTest(folder)).records)).toEqual([1]);
    }));

  it("of a new segment refuses what waits, and the next append begins it again", () =>
    withFolder(async (folder) => {
      const disk = await createFaultyDisk(folder);
      const { journal } = await openForTest(folder, { disk, segmentBytes: 1_000 });
      for (const n of [1, 2]) await journal.append(numbered(n, 400)).durable;
      for (const fault of ["EIO", "ENOSPC"] as const) {
        for (const step of [1, 2, 3]) {
          disk.failAt(disk.steps + 1 + step, fault);
          expect(await outcomes([journal.append(numbered(3))])).not.toEqual(["durable"]);
          disk.heal();
          expect(journal.readOnly).toBeUndefined();
        }
      }
      await journal.append(numbered(3)).durable;
      await journal.close();
      expect(numbersOf((await openForTest(folder)).records)).toEqual([1, 2, 3]);
    }));
});

describe("a failed sync", () => {
  it("is never tried again: read-only for good, and after a restart the record is there whole or not at all", () =>
    withFaultyJournal(async (journal, disk, folder) => {
      disk.failAt(disk.steps + 2, "EIO");
      expect(await outcomes([2, 3].map((n) => journal.append(numbered(n))))).toEqual([
        "NOT_READY",
        "NOT_READY",
      ]);
      const after = disk.steps;
      expect(() => journal.append(numbered(4))).toThrow(expect.objectContaining({ code: "NOT_READY" }));
      await expect(journal.dropThrough(1)).rejects.toMatchObject({ code: "NOT_READY" });
      await journal.close();
      expect(disk.steps).toBe(after);
      await disk.powerFailure("mixed");
      const numbers = numbersOf((await openForTest(folder)).records);
      expect([[1], [1, 2, 3]]).toContainEqual(numbers);
    }));
});

describe("on a full disk", () => {
  const reserveOf = (folder: string) => join(folder, "reserve");

  it("deletions go through on the reserve, nothing else does, and both recover with the space", () =>
    withFaultyJournal(async (journal, disk, folder) => {
      expect(statSync(reserveOf(folder)).size).toBe(1024 * 1024);
      disk.limit(0);
      expect(await outcomes([journal.append(numbered(2))])).toEqual(["STORE_FULL"]);
      expect(() => journal.append(numbered(2))).toThrow(expect.objectContaining({ code: "STORE_FULL" }));
      disk.limit(statSync(reserveOf(folder)).size + journal.bytes);

      for (let n = 2; n <= 50; n += 1) await journal.append(deletion(n)).durable;
      expect(existsSync(reserveOf(folder))).toBe(false);
      expect(() => journal.append(numbered(51))).toThrow(expect.objectContaining({ code: "STORE_FULL" }));

      disk.limit(undefined);
      expect(journal.isFull).toBe(true);
      await journal.findRoom();
      expect(journal.isFull).toBe(false);
      expect(existsSync(reserveOf(folder))).toBe(true);
      expect(journal.append(numbered(51)).sequence).toBe(51);
      await journal.close();
      expect((await openForTest(folder)).records).toHaveLength(51);
    }));

  it("what frees goes through though it writes rows as well", () =>
    withFaultyJournal(async (journal, disk, folder) => {
      disk.limit(0);
      expect(await outcomes([journal.append(numbered(2))])).toEqual(["STORE_FULL"]);
      disk.limit(statSync(reserveOf(folder)).size + journal.bytes);
      await journal.append({ ...numbered(2), frees: true }).durable;
    }));

  it("a large record does not take the room that is kept for deletions", () =>
    withFaultyJournal(async (journal, disk, folder) => {
      disk.limit(2 * 1024 * 1024);
      const large = Array.from({ length: 8 }, (_, i) => numbered(i, 1_000_000).changes).flat();
      const refused = journal.append({ time: 2, changes: large, frees: false });
      expect(await outcomes([refused])).toEqual(["STORE_FULL"]);
      expect(disk.log).not.toContain("remove reserve");
      expect(existsSync(reserveOf(folder))).toBe(true);
    }));

  it("a record too large for what is left does not keep smaller ones out", () =>
    withFaultyJournal(async (journal, disk) => {
      disk.limit(4 * 1024 * 1024);
      const large = Array.from({ length: 8 }, (_, i) => numbered(i, 1_000_000).changes).flat();
      expect(await outcomes([journal.append({ time: 2, changes: large, frees: false })])).toEqual([
        "STORE_FULL",
      ]);
      expect(await outcomes([journal.append(numbered(3))])).toEqual(["durable"]);
    }));

  it("a journal opens all the same", () =>
    withFolder(async (folder) => {
      const disk = await createFaultyDisk(folder);
      disk.limit(10_000);
      const { journal } = await openForTest(folder, { disk });
      await journal.append(deletion(1)).durable;
      expect(() => journal.append(numbered(2))).toThrow(expect.objectContaining({ code: "STORE_FULL" }));
      expect(existsSync(reserveOf(folder))).toBe(false);
    }));
});
