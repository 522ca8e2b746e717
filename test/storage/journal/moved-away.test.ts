import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Journal } from "../../../src/storage/journal/journal.ts";
import { createFaultyDisk, type FaultyDisk } from "../../support/faulty-disk.ts";
import { numbered, numbersOf, openForTest, withFolder } from "./journal-fixture.ts";

const REFUSAL = { code: "NOT_READY", message: expect.stringMatching(/moved or removed.*process \d+/) };

interface Scene {
  readonly journal: Journal;
  readonly disk: FaultyDisk;
  readonly folder: string;
  /** Reasons for which the journal has become read-only. */
  readonly stops: readonly Error[];
}

async function withJournal(run: (scene: Scene) => Promise<void>, segmentBytes = 1_000_000) {
  await withFolder(async (folder) => {
    const disk = await createFaultyDisk(folder);
    const stops: Error[] = [];
    const onStopped = (reason: Error) => stops.push(reason);
    const { journal } = await openForTest(folder, { disk, segmentBytes, onStopped });
    await journal.append(numbered(1)).durable;
    await run({ journal, disk, folder, stops });
  });
}

const away = (folder: string) => `${folder}.away`;
const filesIn = (folder: string) =>
  new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name)).toString("hex")]));

describe.skipIf(process.platform === "win32")("a journal whose folder has gone", () => {
  it.each<[string, (folder: string) => void]>([
    ["was moved", (folder) => renameSync(folder, away(folder))],
    ["was removed", (folder) => rmSync(folder, { recursive: true })],
    [
      "was replaced by a copy",
      (folder) => {
        renameSync(folder, away(folder));
        cpSync(away(folder), folder, { recursive: true });
      },
    ],
  ])("because it %s answers no append with yes, and takes nothing more", (_how, goes) =>
    withJournal(async ({ journal, folder, stops }) => {
      goes(folder);
      const refused = [2, 3].map((n) => journal.append(numbered(n)).durable);
      for (const durable of refused) await expect(durable).rejects.toMatchObject(REFUSAL);
      expect(() => journal.append(numbered(4))).toThrow(expect.objectContaining(REFUSAL));
      expect(journal.readOnly).toMatchObject(REFUSAL);
      expect(journal.position.sequence).toBe(1);
      expect(stops).toEqual([journal.readOnly]);
    }),
  );

  it("has what it answered, and nothing it refused, once it is put back and opened again", () =>
    withJournal(async ({ journal, folder }) => {
      renameSync(folder, away(folder));
      await expect(journal.append(numbered(2)).durable).rejects.toMatchObject(REFUSAL);
      renameSync(away(folder), folder);
      expect(() => journal.append(numbered(3))).toThrow(expect.objectContaining(REFUSAL));
      await journal.close();
      const { journal: again, records } = await openForTest(folder);
      expect(numbersOf(records)).toEqual([1]);
      await again.append(numbered(4)).durable;
    }));

  it("begins no segment and drops none in the folder that stands there instead", () =>
    withJournal(async ({ journal, folder }) => {
      await journal.append(numbered(2, 400)).durable;
      renameSync(folder, away(folder));
      cpSync(away(folder), folder, { recursive: true });
      const before = filesIn(folder);
      await expect(journal.append(numbered(3)).durable).rejects.toMatchObject(REFUSAL);
      await expect(journal.dropThrough(2)).rejects.toMatchObject(REFUSAL);
      await expect(journal.beginSegment()).rejects.toMatchObject(REFUSAL);
      await expect(journal.assertInPlace()).rejects.toMatchObject(REFUSAL);
      expect(filesIn(folder)).toEqual(before);
    }, 300));

  it("leaves no mark of its end in the folder that stands there instead", () =>
    withJournal(async ({ journal, folder }) => {
      renameSync(folder, away(folder));
      cpSync(away(folder), folder, { recursive: true });
      const before = filesIn(folder);
      await journal.close();
      expect(filesIn(folder)).toEqual(before);
      expect(existsSync(away(folder))).toBe(true);
    }));

  it("is not looked for by a step of its own: a write is one write and one sync", () =>
    withJournal(async ({ journal, disk }) => {
      const before = disk.steps;
      await journal.append(numbered(2)).durable;
      expect(disk.steps).toBe(before + 2);
    }));
});

it("says once why it became read-only after a failed sync too", () =>
  withJournal(async ({ journal, disk, stops }) => {
    disk.failAt(/^sync/, "EIO");
    await expect(journal.append(numbered(2)).durable).rejects.toMatchObject({ code: "NOT_READY" });
    expect(() => journal.append(numbered(3))).toThrow();
    expect(stops).toEqual([journal.readOnly]);
    expect(journal.readOnly?.message).toMatch(/failed to keep a write \(EIO\)/);
  }));
