import { crc32 } from "node:zlib";
import { ServiceError } from "../../core/errors.ts";
import { decodeChanges } from "../codec.ts";
import { journalUnusable, type JournalRecord } from "./journal.ts";
import {
  decodeGroupHeader,
  decodeSegmentHeader,
  GROUP_HEADER_BYTES,
  GROUP_MAGIC,
  type GroupHeader,
  MAX_GROUP_BYTES,
  readFrames,
  SEGMENT_HEADER_BYTES,
  type SegmentHeader,
} from "./format.ts";

/** How far a segment holds. What lies behind `goodBytes` is a torn tail: the end of a write that a crash cut short. */
export interface SegmentContent {
  readonly goodBytes: number;
  /** Offset of its last whole group; `goodBytes` if it has none. */
  readonly lastGroupAt: number;
  /** Sequence of its last whole record; if it has none, the one before its first. */
  readonly lastSequence: number;
  /** Checksum of the last group in the good bytes. */
  readonly checksum: number;
}

/**
 * Reads a segment's records, in order. Those up to `after`, and all where nobody wants them, are checked but not decoded.
 *
 * A write is synced before the next one begins, so only the last can be torn, and what follows damage proves that
 * it was not torn but harmed later, after it had been acknowledged.
 *
 * @throws {ServiceError} STORE_UNUSABLE for damage that is no torn tail, or for records of a newer format.
 */
export function readSegment(
  file: string,
  bytes: Buffer,
  header: SegmentHeader,
  {
    after,
    onRecord,
  }: { readonly after: number; readonly onRecord?: ((record: JournalRecord) => void) | undefined },
): SegmentContent {
  let good: SegmentContent = {
    goodBytes: SEGMENT_HEADER_BYTES,
    lastGroupAt: SEGMENT_HEADER_BYTES,
    lastSequence: header.firstSequence - 1,
    checksum: header.previousChecksum,
  };
  let checksum = header.previousChecksum;
  let sequence = header.firstSequence;
  let offset = SEGMENT_HEADER_BYTES;
  let parts: Uint8Array[] = [];

  while (offset < bytes.length) {
    const group = decodeGroupHeader(bytes, offset, header.salt);
    if (group !== undefined && (group.previousChecksum !== checksum || group.firstSequence !== sequence))
      throw journalUnusable(
        file,
        `has a gap before byte ${offset}: what stands there follows something that is gone`,
      );
    const body = group === undefined ? undefined : bodyOf(bytes, offset, group);
    if (group === undefined || body === undefined) {
      refuseUnlessTorn(file, bytes, offset, header.salt, group);
      break;
    }

    for (const frame of framesOf(file, body, offset)) {
      if (frame.sequence !== sequence)
        throw journalUnusable(file, `has records out of order at byte ${offset}`);
      parts.push(frame.payload);
      if (frame.kind === "part") continue;
      if (onRecord !== undefined && sequence > after)
        onRecord({ sequence, time: frame.time, ...changesOf(file, sequence, parts) });
      parts = [];
      sequence += 1;
    }
    const lastGroupAt = offset;
    offset += GROUP_HEADER_BYTES + group.bodyBytes;
    checksum = group.checksum;
    if (parts.length === 0) good = { goodBytes: offset, lastGroupAt, lastSequence: sequence - 1, checksum };
  }
  return good;
}

function bodyOf(bytes: Buffer, offset: number, group: GroupHeader): Buffer | undefined {
  const start = offset + GROUP_HEADER_BYTES;
  const end = start + group.bodyBytes;
  if (end > bytes.length) return undefined;
  const body = bytes.subarray(start, end);
  return crc32(body) === group.bodyChecksum ? body : undefined;
}

/** A torn write reaches to the end of the file, is no longer than one, and nothing whole begins inside it. */
function refuseUnlessTorn(
  file: string,
  bytes: Buffer,
  offset: number,
  salt: number,
  group: GroupHeader | undefined,
): void {
  const writeBytes = GROUP_HEADER_BYTES + (group?.bodyBytes ?? MAX_GROUP_BYTES);
  const next =
    nextGroup(bytes, offset, salt) ?? (offset + writeBytes < bytes.length ? offset + writeBytes : undefined);
  if (next !== undefined)
    throw journalUnusable(file, `is damaged at byte ${offset}, and later writes follow at byte ${next}`);
}

/** Offset of the next whole header of a group; undefined without one. */
function nextGroup(bytes: Buffer, offset: number, salt: number): number | undefined {
  for (let at = bytes.indexOf(GROUP_MAGIC, offset + 1); at !== -1; at = bytes.indexOf(GROUP_MAGIC, at + 1))
    if (decodeGroupHeader(bytes, at, salt) !== undefined) return at;
  return undefined;
}

/**
 * The records of a segment that are whole, in order, whatever is damaged between them.
 *
 * @param faults gets a sentence for each damaged place.
 * @throws {ServiceError} STORE_UNUSABLE for records of a newer format.
 */
export function* salvageSegment(
  file: string,
  bytes: Buffer,
  faults: string[],
): Generator<JournalRecord, void> {
  const salt = decodeSegmentHeader(bytes)?.salt;
  if (salt === undefined) faults.push(`${file} has no sound header`);
  let parts: Uint8Array[] = [];
  let sequence = 0;
  for (let offset = SEGMENT_HEADER_BYTES; offset < bytes.length;) {
    const group = decodeGroupHeader(bytes, offset, salt);
    const body = group && bodyOf(bytes, offset, group);
    if (group === undefined || body === undefined) {
      faults.push(`${file} is damaged at byte ${offset}`);
      // Without the salt, a text that somebody stored could pass for a group.
      const next = salt === undefined ? undefined : nextGroup(bytes, offset, salt);
      if (next === undefined) return;
      offset = next;
      parts = [];
      continue;
    }
    for (const frame of framesOf(file, body, offset)) {
      if (frame.sequence !== sequence) parts = [];
      ({ sequence } = frame);
      parts.push(frame.payload);
      if (frame.kind === "part") continue;
      try {
        yield { sequence, time: frame.time, ...changesOf(file, sequence, parts) };
      } catch (error) {
        if (error instanceof ServiceError && !error.message.includes(file)) throw error;
        faults.push(`${file} lacks a part of record ${sequence}`);
      }
      parts = [];
    }
    offset += GROUP_HEADER_BYTES + group.bodyBytes;
  }
}

function* framesOf(file: string, body: Buffer, offset: number) {
  try {
    yield* readFrames(body);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw journalUnusable(file, `holds something else than records at byte ${offset}`, error);
  }
}

function changesOf(file: string, sequence: number, parts: readonly Uint8Array[]) {
  try {
    return decodeChanges(parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts));
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw journalUnusable(file, `has a record (${sequence}) that cannot be read`, error);
  }
}
