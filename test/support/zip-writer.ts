import { crc32, deflateRawSync } from "node:zlib";

export interface ZipPart {
  readonly name: string;
  readonly content: Uint8Array | string;
  /** What the archive says instead of the truth. */
  readonly claimedBytes?: number;
}

const LOCAL_BYTES = 30;

/** A zip archive, deflated; with `claimedEntries` one that lies about how many files it has. */
export function zipOf(parts: readonly ZipPart[], claimedEntries = parts.length): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content, claimedBytes } of parts) {
    const bytes = Buffer.from(content as Uint8Array);
    const packed = deflateRawSync(bytes, { level: 9 });
    const encoded = Buffer.from(name);
    const local = Buffer.alloc(LOCAL_BYTES);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(20, 4);
    local.writeUInt16LE(0x0800, 6);
    local.writeUInt16LE(8, 8);
    local.writeUInt32LE(crc32(bytes), 14);
    local.writeUInt32LE(packed.length, 18);
    local.writeUInt32LE(claimedBytes ?? bytes.length, 22);
    local.writeUInt16LE(encoded.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    local.copy(entry, 6, 4, 30);
    entry.writeUInt32LE(offset, 42);
    locals.push(local, encoded, packed);
    directory.push(entry, encoded);
    offset += LOCAL_BYTES + encoded.length + packed.length;
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Math.min(claimedEntries, 0xffff), 8);
  end.writeUInt16LE(Math.min(claimedEntries, 0xffff), 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([
    ...locals,
    ...directory,
    ...(claimedEntries > 0xfffe ? zip64(claimedEntries, size, offset) : []),
    end,
  ]);
}

/** The records that take the place of counts of sixteen bits. */
function zip64(entries: number, size: number, offset: number): Buffer[] {
  const record = Buffer.alloc(56);
  record.writeUInt32LE(0x06064b50, 0);
  record.writeBigUInt64LE(44n, 4);
  record.writeBigUInt64LE(BigInt(entries), 24);
  record.writeBigUInt64LE(BigInt(entries), 32);
  record.writeBigUInt64LE(BigInt(size), 40);
  record.writeBigUInt64LE(BigInt(offset), 48);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07064b50, 0);
  locator.writeBigUInt64LE(BigInt(offset + size), 8);
  locator.writeUInt32LE(1, 16);
  return [record, locator];
}
