import { crc32 } from "node:zlib";

/**
 * The journal's bytes. Integers are little-endian.
 *
 * ```
 * segment  = segment header, group*
 * group    = group header, frame+                      one write, one sync; at most 8 MiB of frames
 * frame    = frame header, at most 1 MiB of a record's changes
 * record   = part frame*, commit frame                 one that needs part frames has its groups to itself
 *
 * segment header (128)                                 group header (40)
 *   0  magic "memjrnl\n"                                 0  magic "grp\n"
 *   8  u32 format                                        4  u32 bytes of the frames
 *  12  u32 epoch                                         8  u64 sequence of the first frame
 *  16  u64 sequence of the first record                 16  u64 sequence of the last frame
 *  24  u32 salt, random                                 24  u32 checksum of the group before
 *  28  u32 checksum of the group before, 0 if none      28  u32 CRC-32 of the frames
 *  32  u8 length and UTF-8 of the store id              32  u32 zero
 * 124  u32 CRC-32 of 0 … 124                            36  u32 CRC-32 of the salt and 0 … 36: the group's checksum
 *
 * frame header (24)
 *   0  u32 bytes of the payload   4  u32 kind: 0 part, 1 commit   8  u64 sequence   16  f64 time
 * ```
 *
 * A group's checksum covers its frames' and the one before, so each stands for everything up to it. The salt keeps
 * bytes of another segment, or a text that someone stored to look like a group, from passing for one.
 */
export const JOURNAL_FORMAT = 1;

export const SEGMENT_HEADER_BYTES = 128;
export const GROUP_HEADER_BYTES = 40;
export const FRAME_HEADER_BYTES = 24;
export const MAX_FRAME_BYTES = 1024 * 1024;
export const MAX_GROUP_BYTES = 8 * 1024 * 1024;
export const MAX_STORE_ID_BYTES = 91;

const SEGMENT_MAGIC = Buffer.from("memjrnl\n");
export const GROUP_MAGIC = Buffer.from("grp\n");
const SEGMENT_CHECKSUM_AT = 124;
const GROUP_CHECKSUM_AT = 36;

export interface SegmentHeader {
  readonly format: number;
  readonly epoch: number;
  readonly firstSequence: number;
  readonly salt: number;
  readonly previousChecksum: number;
  readonly storeId: string;
}

export function encodeSegmentHeader(header: SegmentHeader): Buffer {
  const storeId = Buffer.from(header.storeId);
  if (storeId.length > MAX_STORE_ID_BYTES)
    throw new RangeError(`store id longer than ${MAX_STORE_ID_BYTES} bytes`);
  const bytes = Buffer.alloc(SEGMENT_HEADER_BYTES);
  SEGMENT_MAGIC.copy(bytes);
  bytes.writeUInt32LE(header.format, 8);
  bytes.writeUInt32LE(header.epoch, 12);
  bytes.writeBigUInt64LE(BigInt(header.firstSequence), 16);
  bytes.writeUInt32LE(header.salt, 24);
  bytes.writeUInt32LE(header.previousChecksum, 28);
  bytes.writeUInt8(storeId.length, 32);
  storeId.copy(bytes, 33);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, SEGMENT_CHECKSUM_AT)), SEGMENT_CHECKSUM_AT);
  return bytes;
}

/**
 * The header at the start of a segment; undefined if it is damaged. Of a newer format only `format` is to be
 * trusted: magic, format and the place of the checksum are what every format has in common.
 */
export function decodeSegmentHeader(segment: Buffer): SegmentHeader | undefined {
  if (segment.length < SEGMENT_HEADER_BYTES || !segment.subarray(0, 8).equals(SEGMENT_MAGIC))
    return undefined;
  if (segment.readUInt32LE(SEGMENT_CHECKSUM_AT) !== crc32(segment.subarray(0, SEGMENT_CHECKSUM_AT)))
    return undefined;
  return {
    format: segment.readUInt32LE(8),
    epoch: segment.readUInt32LE(12),
    firstSequence: Number(segment.readBigUInt64LE(16)),
    salt: segment.readUInt32LE(24),
    previousChecksum: segment.readUInt32LE(28),
    storeId: segment.toString("utf8", 33, 33 + segment.readUInt8(32)),
  };
}

export interface GroupHeader {
  readonly bodyBytes: number;
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly previousChecksum: number;
  readonly bodyChecksum: number;
  /** The group's own. */
  readonly checksum: number;
}

/** Writes the header at the start of `group` for the frames behind it; returns the group's checksum. */
export function sealGroup(
  group: Buffer,
  header: Pick<GroupHeader, "firstSequence" | "lastSequence" | "previousChecksum">,
  salt: number,
): number {
  const body = group.subarray(GROUP_HEADER_BYTES);
  GROUP_MAGIC.copy(group);
  group.writeUInt32LE(body.length, 4);
  group.writeBigUInt64LE(BigInt(header.firstSequence), 8);
  group.writeBigUInt64LE(BigInt(header.lastSequence), 16);
  group.writeUInt32LE(header.previousChecksum, 24);
  group.writeUInt32LE(crc32(body), 28);
  group.writeUInt32LE(0, 32);
  const checksum = crc32(group.subarray(0, GROUP_CHECKSUM_AT), salt);
  group.writeUInt32LE(checksum, GROUP_CHECKSUM_AT);
  return checksum;
}

/**
 * The group header at `offset`; undefined if none is there. Says nothing of the frames behind it.
 *
 * @param salt undefined where the segment's header is damaged: then the header's own checksum proves nothing.
 */
export function decodeGroupHeader(
  segment: Buffer,
  offset: number,
  salt: number | undefined,
): GroupHeader | undefined {
  if (offset + GROUP_HEADER_BYTES > segment.length) return undefined;
  const bytes = segment.subarray(offset, offset + GROUP_HEADER_BYTES);
  if (!bytes.subarray(0, 4).equals(GROUP_MAGIC)) return undefined;
  const checksum = bytes.readUInt32LE(GROUP_CHECKSUM_AT);
  if (salt !== undefined && checksum !== crc32(bytes.subarray(0, GROUP_CHECKSUM_AT), salt)) return undefined;
  return {
    bodyBytes: bytes.readUInt32LE(4),
    firstSequence: Number(bytes.readBigUInt64LE(8)),
    lastSequence: Number(bytes.readBigUInt64LE(16)),
    previousChecksum: bytes.readUInt32LE(24),
    bodyChecksum: bytes.readUInt32LE(28),
    checksum,
  };
}

export interface Frame {
  readonly kind: "part" | "commit";
  readonly sequence: number;
  readonly time: number;
  readonly payload: Uint8Array;
}

/** Writes a frame at `offset`; returns where the next one goes. */
export function writeFrame(into: Buffer, offset: number, frame: Frame): number {
  into.writeUInt32LE(frame.payload.length, offset);
  into.writeUInt32LE(frame.kind === "commit" ? 1 : 0, offset + 4);
  into.writeBigUInt64LE(BigInt(frame.sequence), offset + 8);
  into.writeDoubleLE(frame.time, offset + 16);
  into.set(frame.payload, offset + FRAME_HEADER_BYTES);
  return offset + FRAME_HEADER_BYTES + frame.payload.length;
}

/** The frames of a sound group; payloads share its bytes. @throws {RangeError} if they do not fill it exactly. */
export function* readFrames(body: Buffer): Generator<Frame, void> {
  for (let offset = 0; offset < body.length;) {
    const start = offset + FRAME_HEADER_BYTES;
    const end = start + body.readUInt32LE(offset);
    const kind = body.readUInt32LE(offset + 4);
    if (end > body.length || kind > 1) throw new RangeError(`no frame at ${offset} of a group`);
    yield {
      kind: kind === 1 ? "commit" : "part",
      sequence: Number(body.readBigUInt64LE(offset + 8)),
      time: body.readDoubleLE(offset + 16),
      payload: body.subarray(start, end),
    };
    offset = end;
  }
}

const SEGMENT_NAME = /^(\d{10})-(\d{16})\.journal$/;

/** A segment's file name: sorted as text, segments stand in the order of their positions. */
export function segmentName(epoch: number, firstSequence: number): string {
  return `${String(epoch).padStart(10, "0")}-${String(firstSequence).padStart(16, "0")}.journal`;
}

/** The position in a segment's file name; undefined if it is another file. */
export function parseSegmentName(name: string): { epoch: number; firstSequence: number } | undefined {
  const [, epoch, firstSequence] = SEGMENT_NAME.exec(name) ?? [];
  if (epoch === undefined || firstSequence === undefined) return undefined;
  return { epoch: Number(epoch), firstSequence: Number(firstSequence) };
}
