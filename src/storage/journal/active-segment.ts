import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { type Disk, type DiskFile, replaceFile } from "../disk.ts";
import {
  encodeSegmentHeader,
  JOURNAL_FORMAT,
  SEGMENT_HEADER_BYTES,
  type SegmentHeader,
  segmentName,
} from "./format.ts";

/** The segment that records are appended to. */
export interface ActiveSegment {
  readonly path: string;
  readonly firstSequence: number;
  readonly salt: number;
  readonly file: DiskFile;
  /** Where the next group goes: the end of what is durable. */
  length: number;
  /** Of the last durable group. */
  checksum: number;
}

/**
 * Begins a segment. Its header is on the disk before it has its name, so a segment without a sound header is
 * damage and never the trace of a crash.
 */
export async function createSegment(
  disk: Disk,
  directory: string,
  start: Pick<SegmentHeader, "storeId" | "epoch" | "firstSequence" | "previousChecksum">,
): Promise<ActiveSegment> {
  const path = join(directory, segmentName(start.epoch, start.firstSequence));
  const salt = randomBytes(4).readUInt32LE();
  await replaceFile(disk, path, encodeSegmentHeader({ ...start, format: JOURNAL_FORMAT, salt }));
  return {
    path,
    firstSequence: start.firstSequence,
    salt,
    file: await disk.open(path, "write"),
    length: SEGMENT_HEADER_BYTES,
    checksum: start.previousChecksum,
  };
}
