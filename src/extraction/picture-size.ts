/** Width and height of a PNG, JPEG or WebP picture by its head, before anything is decoded; undefined where it has none. */
export function pictureSize(
  bytes: Uint8Array,
): { readonly width: number; readonly height: number } | undefined {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  try {
    if (view.readUInt32BE(0) === 0x89504e47)
      return { width: view.readUInt32BE(16), height: view.readUInt32BE(20) };
    if (view.readUInt16BE(0) === 0xffd8) return jpegSize(view);
    return webpSize(view);
  } catch (error) {
    // Cut off within its head.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** From the first frame header; segments before it are skipped. */
function jpegSize(view: Buffer) {
  for (let at = 2; ;) {
    if (view.readUInt8(at) !== 0xff) return undefined;
    const marker = view.readUInt8(at + 1);
    if (marker === 0xff) at += 1;
    // C4, C8 and CC are tables.
    else if ((marker >= 0xc0 && marker <= 0xcf && marker % 4 !== 0) || marker === 0xc0)
      return { height: view.readUInt16BE(at + 5), width: view.readUInt16BE(at + 7) };
    else at += 2 + view.readUInt16BE(at + 2);
  }
}

function webpSize(view: Buffer) {
  const kind = view.toString("latin1", 12, 16);
  if (kind === "VP8X") return { width: view.readUIntLE(24, 3) + 1, height: view.readUIntLE(27, 3) + 1 };
  if (kind === "VP8 ")
    return { width: view.readUInt16LE(26) & 0x3fff, height: view.readUInt16LE(28) & 0x3fff };
  if (kind !== "VP8L") return undefined;
  const bits = view.readUInt32LE(21);
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
}
