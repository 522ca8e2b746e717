import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  decodeSegmentHeader,
  encodeSegmentHeader,
  GROUP_HEADER_BYTES,
  parseSegmentName,
  segmentName,
  writeFrame,
} from "../../../src/storage/journal/format.ts";
import { GroupBuffer, cutRecord } from "../../../src/storage/journal/group-buffer.ts";
import { readSegment } from "../../../src/storage/journal/read-segment.ts";
import type { JournalRecord } from "../../../src/storage/journal/journal.ts";

/** A segment as format 1 has it. These bytes are in people's data directories: they never change, a new format gets its own. */
const GOLDEN = join(import.meta.dirname, "segment-format-1.hex");

const header = {
  format: 1,
  epoch: 3,
  firstSequence: 7,
  salt: 0xdeadbeef,
  previousChecksum: 0x01020304,
  storeId: "store",
};

const records: readonly JournalRecord[] = [
  {
    sequence: 7,
    time: 1_700_000_000_123,
    changes: [
      { table: "signals", id: "a", row: { salience: 0.5, lastSeenAt: 1_700_000_000_000 } },
      { table: "vectors", id: "a", row: { userId: null, windows: [Float32Array.of(1, -0.5)], stamp: "s" } },
      { table: "tokens", id: "ä漢", row: { vectors: Int8Array.of(-128, 0, 127), stamp: "s" } },
    ],
  },
  {
    sequence: 8,
    time: 1_700_000_000_124,
    changes: [
      { table: "memories", id: "a", row: null },
      { table: "requests", id: "k", row: JSON.parse('{"ids":[null],"__proto__":1}') },
    ],
  },
];

function segment(): Buffer {
  const group = new GroupBuffer();
  for (const { sequence, time, changes } of records) {
    const [piece] = cutRecord({ changes });
    group.add({ kind: "commit", sequence, time, payload: piece?.bytes ?? new Uint8Array() });
  }
  return Buffer.concat([encodeSegmentHeader(header), group.seal(header.previousChecksum, header.salt).bytes]);
}

describe("the journal's format", () => {
  const golden = Buffer.from(readFileSync(GOLDEN, "utf8").replaceAll(/\s/g, ""), "hex");

  it("is written as it always was", () => {
    expect(
      segment()
        .toString("hex")
        .match(/.{1,64}/g),
    ).toEqual(golden.toString("hex").match(/.{1,64}/g));
  });

  it("is read as it always was", () => {
    const read: JournalRecord[] = [];
    expect(decodeSegmentHeader(golden)).toEqual(header);
    const content = readSegment("golden", golden, header, {
      after: 6,
      onRecord: (record) => read.push(record),
    });
    expect(JSON.stringify(read)).toBe(JSON.stringify(records));
    expect(content).toMatchObject({ goodBytes: golden.length, lastSequence: 8 });
  });

  it("names segments so that they sort by position", () => {
    const positions = [
      [1, 1],
      [1, 10],
      [1, Number.MAX_SAFE_INTEGER],
      [2, 9],
      [10, 1],
    ] as const;
    const names = positions.map(([epoch, sequence]) => segmentName(epoch, sequence));
    expect(names.toSorted()).toEqual(names);
    expect(names.map(parseSegmentName)).toEqual(
      positions.map(([epoch, firstSequence]) => ({ epoch, firstSequence })),
    );
    for (const name of ["reserve", `${names[0]}.tmp`]) expect(parseSegmentName(name)).toBeUndefined();
  });

  it("refuses a header with any byte changed", () => {
    const bytes = encodeSegmentHeader(header);
    for (let i = 0; i < bytes.length; i += 1) {
      const harmed = Buffer.from(bytes);
      harmed.writeUInt8(harmed.readUInt8(i) ^ 1, i);
      expect(decodeSegmentHeader(harmed)).toBeUndefined();
    }
  });

  it("refuses a store id that does not fit", () => {
    expect(() => encodeSegmentHeader({ ...header, storeId: "é".repeat(46) })).toThrow(RangeError);
    expect(
      decodeSegmentHeader(encodeSegmentHeader({ ...header, storeId: "x".repeat(91) }))?.storeId,
    ).toHaveLength(91);
  });

  it("says where the next frame goes", () => {
    const buffer = Buffer.alloc(100);
    const frame = { kind: "part", sequence: 1, time: 2, payload: Buffer.from("abc") } as const;
    expect(writeFrame(buffer, GROUP_HEADER_BYTES, frame)).toBe(GROUP_HEADER_BYTES + 24 + 3);
  });
});
