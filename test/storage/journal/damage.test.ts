import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  encodeSegmentHeader,
  FRAME_HEADER_BYTES,
  GROUP_HEADER_BYTES,
  GROUP_MAGIC,
  SEGMENT_HEADER_BYTES,
} from "../../../src/storage/journal/format.ts";
import { deletion, numbered, numbersOf, openForTest, STORE_ID, withFolder } from "./journal-fixture.ts";

/** Ten records, one a group, two a segment where `segmentBytes` is small; the segments' paths. */
async function tenRecords(folder: string, segmentBytes = 1_000_000): Promise<string[]> {
  const { journal } = await openForTest(folder, { segmentBytes });
  for (let n = 1; n <= 10; n += 1) await journal.append(numbered(n, 400)).durable;
  await journal.close();
  return segmentsIn(folder);
}

function segmentsIn(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".journal"));
  return names.map((name) => join(folder, name));
}

function everythingIn(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "hex")]),
  );
}

/** Where each group of a segment begins. */
function groupsOf(path: string): number[] {
  const bytes = readFileSync(path);
  const offsets: number[] = [];
  for (
    let at = SEGMENT_HEADER_BYTES;
    at < bytes.length;
    at += GROUP_HEADER_BYTES + bytes.readUInt32LE(at + 4)
  ) {
    offsets.push(at);
  }
  return offsets;
}

function change(path: string, alter: (bytes: Buffer) => Buffer | void): void {
  const bytes = readFileSync(path);
  writeFileSync(path, alter(bytes) ?? bytes);
}

/** Nothing says how far the journal went. */
function asAfterACrash(folder: string): void {
  rmSync(join(folder, "end"));
}

/** Refused with a sentence that names the file and says that nothing was changed, and it is true. */
async function expectRefused(folder: string, sentence: RegExp, options = {}): Promise<void> {
  const before = everythingIn(folder);
  const error = await openForTest(folder, options).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ code: "STORE_UNUSABLE", message: expect.stringMatching(sentence) });
  expect(error).toMatchObject({ message: expect.stringContaining("Nothing was changed") });
  expect(everythingIn(folder)).toEqual(before);
}

describe("a torn tail", () => {
  it.each([
    ["cut short", (bytes: Buffer) => bytes.subarray(0, -3)],
    ["cut within its header", (bytes: Buffer, last: number) => bytes.subarray(0, last + 5)],
    ["zero-filled", (bytes: Buffer, last: number) => bytes.fill(0, last)],
    ["zero-filled in part", (bytes: Buffer) => bytes.fill(0, bytes.length - 200)],
    ["garbled", (bytes: Buffer, last: number) => bytes.fill(0x5a, last + 100, last + 110)],
  ])("%s is cut off and reported, and the journal goes on", (_, tear) =>
    withFolder(async (folder) => {
      const [path = ""] = await tenRecords(folder);
      const last = groupsOf(path).at(-1) ?? 0;
      change(path, (bytes) => tear(bytes, last));
      await expectRefused(folder, /ends at record 9, but went to 10 when memoryd was last stopped/);
      asAfterACrash(folder);
      const tornBytes = readFileSync(path).length - last;

      const opened = await openForTest(folder);
      expect(numbersOf(opened.records)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
      expect(opened.tornBytes).toBe(tornBytes);
      expect(readFileSync(path)).toHaveLength(last);
      expect(opened.journal.append(numbered(10)).sequence).toBe(10);
      await opened.journal.close();

      const again = await openForTest(folder);
      expect(again.tornBytes).toBe(0);
      expect(numbersOf(again.records)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    }),
  );

  it("of a record that was not committed goes as a whole, and does not replace an earlier one", () =>
    withFolder(async (folder) => {
      const { journal } = await openForTest(folder);
      await journal.append(numbered(1)).durable;
      const large = Array.from({ length: 20 }, (_, i) => numbered(i, 1_000_000).changes).flat();
      await journal.append({ time: 2, changes: large, frees: false }).durable;
      await journal.close();
      asAfterACrash(folder);
      const [path = ""] = segmentsIn(folder);
      const [, begin = 0, ...rest] = groupsOf(path);
      expect(rest.length).toBeGreaterThan(1);

      truncateSync(path, rest.at(-1));
      const opened = await openForTest(folder);
      expect(numbersOf(opened.records)).toEqual([1]);
      expect(opened.tornBytes).toBe((rest.at(-1) ?? 0) - begin);
      expect(opened.journal.append(numbered(2)).sequence).toBe(2);
    }));

  it("goes with its record where that ends in a commit frame without changes, and only there", () =>
    withFolder(async (folder) => {
      const { journal } = await openForTest(folder);
      await journal.append(numbered(1)).durable;
      const changes = Array.from({ length: 1_999 }, (_, i) => deletion(i).changes).flat();
      await journal.append({ time: 2, changes, frees: true }).durable;
      await journal.close();
      const [path = ""] = segmentsIn(folder);
      const whole = readFileSync(path);
      expect(whole.readUInt32LE(whole.length - FRAME_HEADER_BYTES)).toBe(0);
      for (let cut = 0; cut <= FRAME_HEADER_BYTES + 1; cut += 1) {
        asAfterACrash(folder);
        writeFileSync(path, whole.subarray(0, whole.length - cut));
        const opened = await openForTest(folder);
        expect(numbersOf(opened.records)).toEqual(cut === 0 ? [1, 2] : [1]);
        await opened.journal.close();
      }
    }));

  it("may hold a text that looks like a group", () =>
    withFolder(async (folder) => {
      const { journal } = await openForTest(folder);
      await journal.append(numbered(1)).durable;
      const text = `${GROUP_MAGIC.toString()}${"\0".repeat(36)}`.repeat(20);
      await journal.append({ time: 2, changes: [{ table: "requests", id: text, row: null }], frees: true })
        .durable;
      await journal.close();
      asAfterACrash(folder);
      const [path = ""] = segmentsIn(folder);
      change(path, (bytes) => bytes.subarray(0, -1));
      expect(numbersOf((await openForTest(folder)).records)).toEqual([1]);
    }));

  it("is refused after an orderly stop, also when it is cut between two writes", () =>
    withFolder(async (folder) => {
      const [path = ""] = await tenRecords(folder);
      change(path, (bytes) => bytes.subarray(0, groupsOf(path)[4]));
      await expectRefused(folder, /ends at record 4, but went to 10 when memoryd was last stopped/);
      change(join(folder, "end"), (bytes) => bytes.subarray(0, -2));
      expect((await openForTest(folder)).records).toHaveLength(4);
    }));

  it("is refused where the checkpoint is further than what remains", () =>
    withFolder(async (folder) => {
      const [path = ""] = await tenRecords(folder);
      change(path, (bytes) => bytes.subarray(0, -3));
      await expectRefused(folder, /ends at record 9, but the checkpoint is at 10/, { after: 10 });
    }));
});

describe("damage that something follows is refused", () => {
  it.each([0, 10, 36, GROUP_HEADER_BYTES, GROUP_HEADER_BYTES + 300])(
    "a bit flipped at byte %i of a group",
    (at) =>
      withFolder(async (folder) => {
        const [path = ""] = await tenRecords(folder);
        const begin = groupsOf(path)[4] ?? 0;
        change(path, (bytes) => void bytes.writeUInt8(bytes.readUInt8(begin + at) ^ 4, begin + at));
        await expectRefused(
          folder,
          new RegExp(`${path} is damaged at byte ${begin}, and later writes follow`),
        );
      }),
  );

  it("zeros in the middle", () =>
    withFolder(async (folder) => {
      const [path = ""] = await tenRecords(folder);
      const [, , from = 0, , to = 0] = groupsOf(path);
      change(path, (bytes) => bytes.fill(0, from, to));
      await expectRefused(folder, /is damaged at byte/);
    }));

  it("a write taken out of the middle", () =>
    withFolder(async (folder) => {
      const [path = ""] = await tenRecords(folder);
      const [, , from = 0, to = 0] = groupsOf(path);
      change(path, (bytes) => Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]));
      await expectRefused(folder, /has a gap before byte/);
    }));

  it("a last write whose header is whole and whose end is followed by more", () =>
    withFolder(async (folder) => {
      const [path = ""] = await tenRecords(folder);
      const last = groupsOf(path).at(-1) ?? 0;
      change(path, (bytes) => Buffer.concat([bytes.fill(1, last + 100, last + 120), Buffer.alloc(50, 7)]));
      await expectRefused(folder, /is damaged at byte/);
    }));

  it("the end of a segment that is not the last", () =>
    withFolder(async (folder) => {
      const [, second = ""] = await tenRecords(folder, 1_000);
      change(second, (bytes) => bytes.subarray(0, -3));
      await expectRefused(folder, new RegExp(`${second} ends in damage .* other segments follow`));
    }));

  it("any byte of any write but the last", () =>
    withFolder(async (folder) => {
      const [path = ""] = await tenRecords(folder);
      const whole = readFileSync(path);
      const last = groupsOf(path).at(-1) ?? 0;
      for (let at = 0; at < last; at += 37) {
        change(path, (bytes) => void bytes.writeUInt8(bytes.readUInt8(at) ^ 0x80, at));
        await expect(openForTest(folder)).rejects.toMatchObject({ code: "STORE_UNUSABLE" });
        writeFileSync(path, whole);
      }
    }));
});

describe("segments that do not belong together are refused", () => {
  it("one missing in the middle", () =>
    withFolder(async (folder) => {
      const [, , third = ""] = await tenRecords(folder, 1_000);
      rmSync(third);
      await expectRefused(folder, /follows a gap: the records 5 to 6 are missing/);
    }));

  it("the first ones missing since the checkpoint", () =>
    withFolder(async (folder) => {
      const [first = "", second = ""] = await tenRecords(folder, 1_000);
      rmSync(first);
      await expectRefused(folder, /follows a gap: the records 1 to 2 are missing/);
      expect(numbersOf((await openForTest(folder, { after: 2 })).records)).toEqual([3, 4, 5, 6, 7, 8, 9, 10]);
      rmSync(second);
      await expectRefused(folder, /follows a gap: the records 4 to 4 are missing/, { after: 3 });
    }));

  it("all of them missing", () =>
    withFolder(async (folder) => {
      for (const path of await tenRecords(folder)) rmSync(path);
      await expectRefused(folder, /the store is at 1\.10 and no segment of epoch 1 is there/, { after: 10 });
    }));

  it("of another store", () =>
    withFolder(async (folder) => {
      await tenRecords(folder);
      await expectRefused(folder, /belongs to another store/, { storeId: "another" });
    }));

  it("of a later epoch than the checkpoint's", () =>
    withFolder(async (folder) => {
      await (await openForTest(folder, { epoch: 2 })).journal.close();
      await expectRefused(folder, /is of epoch 2, but the store's checkpoint is of epoch 1/);
    }));

  it("under another's name", () =>
    withFolder(async (folder) => {
      const [first = "", second = ""] = await tenRecords(folder, 1_000);
      writeFileSync(second, readFileSync(first));
      await expectRefused(folder, /is really the segment of 1\.1/);
    }));

  it("from another journal of the same store", () =>
    withFolder(async (folder) => {
      const [, second = ""] = await tenRecords(folder, 1_000);
      const stranger = {
        storeId: STORE_ID,
        epoch: 1,
        firstSequence: 3,
        salt: 1,
        previousChecksum: 5,
        format: 1,
      };
      change(second, () => encodeSegmentHeader(stranger));
      await expectRefused(folder, /does not continue/);
    }));

  it("of a newer format", () =>
    withFolder(async (folder) => {
      const [path = ""] = await tenRecords(folder);
      const newer = {
        storeId: STORE_ID,
        epoch: 1,
        firstSequence: 1,
        salt: 1,
        previousChecksum: 0,
        format: 2,
      };
      change(path, (bytes) =>
        Buffer.concat([encodeSegmentHeader(newer), bytes.subarray(SEGMENT_HEADER_BYTES)]),
      );
      await expectRefused(folder, /newer memoryd \(journal format 2/);
    }));

  it.each([
    ["zero-filled", (bytes: Buffer) => bytes.fill(0)],
    ["empty", () => Buffer.alloc(0)],
    ["cut within its header", (bytes: Buffer) => bytes.subarray(0, 60)],
  ])("wholly %s, also as the last one", (_, harm) =>
    withFolder(async (folder) => {
      const paths = await tenRecords(folder, 1_000);
      change(paths.at(-1) ?? "", harm);
      await expectRefused(folder, /has no sound header/);
    }),
  );
});

describe("other files beside the segments", () => {
  it("do not matter, nor does a new segment that did not get its name", () =>
    withFolder(async (folder) => {
      await tenRecords(folder);
      writeFileSync(join(folder, "0000000001-0000000000000011.journal.tmp"), "half");
      expect((await openForTest(folder, { segmentBytes: 1 })).records).toHaveLength(10);
    }));
});
