import { randomBytes, randomFillSync } from "node:crypto";
import { join } from "node:path";
import { type Disk, type DiskFile, replaceFile } from "../files/disk.ts";
import { decodeChecksummed, encodeChecksummed, isCount, objectOf } from "../files/shapes.ts";
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
  /** Offset of the next group: the end of the durable bytes. */
  length: number;
  /** Checksum of the last durable group. */
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

/** How far a journal went when it was last closed. */
export interface EndMark {
  readonly epoch: number;
  /** Sequence of the last record; a journal never ends before it again. */
  readonly sequence: number;
}

const END_NAME = "end";
const END_FORMAT = 1;
const isEndMark = objectOf({ epoch: isCount, sequence: isCount });

/** Notes how far the journal goes: lost records look like a write that was cut short. */
export const writeEndMark = (disk: Disk, directory: string, mark: EndMark): Promise<void> =>
  replaceFile(disk, join(directory, END_NAME), encodeChecksummed("end", END_FORMAT, mark));

/** Undefined if there is none, or none that can be read: the journal stands for itself then. */
export async function readEndMark(disk: Disk, directory: string): Promise<EndMark | undefined> {
  const path = join(directory, END_NAME);
  if ((await disk.size(path)) === undefined) return undefined;
  return decodeChecksummed("end", await disk.readFile(path))?.value(isEndMark) as EndMark | undefined;
}

export const RESERVE_BYTES = 1024 * 1024;

/** Room on the disk kept for the journal: given up on a full disk so that memories can still be deleted. */
export function createReserve(disk: Disk, directory: string) {
  const path = join(directory, "reserve");
  return {
    /** Makes the file unless it is there; true when it is. Needs as much free space. */
    async ensure(): Promise<boolean> {
      try {
        if ((await disk.size(path)) === RESERVE_BYTES) return true;
        // Random: a file system that compresses, or keeps zeros as holes, would set nothing aside.
        await replaceFile(disk, path, randomFillSync(new Uint8Array(RESERVE_BYTES)));
        return true;
      } catch {
        return false;
      }
    },
    /** Frees the room; false if it was given up before, or the disk refuses. */
    async giveUp(): Promise<boolean> {
      try {
        if ((await disk.size(path)) === undefined) return false;
        await disk.remove(path);
        await disk.syncDirectory(directory);
        return true;
      } catch {
        return false;
      }
    },
  };
}
