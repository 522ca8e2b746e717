/** An MP4 of some kilobytes whose tracks claim samples that are not there, each with a place in a table of the decoder's. */
export function lyingMp4(tracks: number, samples: number): Uint8Array {
  const type = box("ftyp", Buffer.from("M4A \0\0\0\0M4A mp42isom", "latin1"));
  const header = fullBox(
    "mvhd",
    numbers(0, 0, 16_000, samples, 65_536),
    Buffer.alloc(72),
    numbers(tracks + 1),
  );
  const all = Array.from({ length: tracks }, (_, n) => trackOf(n + 1, samples, type.length + 8));
  return Buffer.concat([type, box("mdat", Buffer.alloc(4_096)), box("moov", header, ...all)]);
}

const ENABLED = 7;

function trackOf(id: number, samples: number, dataAt: number): Buffer {
  const sound = numbers(0, 1, 0, 0, 1 * 65_536 + 16, 0, 16_000 * 65_536);
  const table = box(
    "stbl",
    fullBox("stsd", numbers(1), box("sowt", sound)),
    fullBox("stts", numbers(2, 1, 2, samples - 1, 2)),
    fullBox("stsc", numbers(1, 1, samples, 1)),
    fullBox("stsz", numbers(1, samples)),
    fullBox("stco", numbers(1, dataAt)),
  );
  const place = box("dinf", fullBox("dref", numbers(1), box("url ", numbers(1))));
  const media = box("minf", fullBox("smhd", Buffer.alloc(4)), place, table);
  return box(
    "trak",
    box("tkhd", numbers(ENABLED, 0, 0, id, 0, samples), Buffer.alloc(60)),
    box(
      "mdia",
      fullBox("mdhd", numbers(0, 0, 16_000, samples, 0x55c4_0000)),
      fullBox("hdlr", Buffer.from(`\0\0\0\0soun${"\0".repeat(12)}s\0`, "latin1")),
      media,
    ),
  );
}

function box(name: string, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([numbers(8 + body.length), Buffer.from(name, "latin1"), body]);
}

const fullBox = (name: string, ...parts: readonly Uint8Array[]) => box(name, numbers(0), ...parts);

function numbers(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [n, value] of values.entries()) bytes.writeUInt32BE(value, 4 * n);
  return bytes;
}
