/** The samples of a WAV file of one channel and 16 bits. */
export function readWav(bytes: Buffer): { readonly samples: Int16Array; readonly rate: number } {
  for (let at = 12; at + 8 <= bytes.length;) {
    const length = Math.min(bytes.readUInt32LE(at + 4), bytes.length - at - 8);
    if (bytes.toString("latin1", at, at + 4) === "data") {
      const data = bytes.subarray(at + 8, at + 8 + (length & ~1));
      return { samples: new Int16Array(new Uint8Array(data).buffer), rate: bytes.readUInt32LE(24) };
    }
    at += 8 + length + (length & 1);
  }
  throw new Error("not a WAV file");
}
