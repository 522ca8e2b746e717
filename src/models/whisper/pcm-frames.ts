/** Recordings on a stream of bytes: pieces, each after its length in bytes as 32 bits, and a length of 0 at the end. */
import type { Readable } from "node:stream";

const HEADER_BYTES = 4;
/** Of a piece that is passed on, so that a long one is not gathered first. */
const MOST_BYTES = 64 * 1024;

/** The bytes that stand before a piece, or for the end of a recording. */
export function frameHeader(byteLength: number): Uint8Array {
  const header = new Uint8Array(HEADER_BYTES);
  new DataView(header.buffer).setUint32(0, byteLength, true);
  return header;
}

/** Reads one recording after the other. Takes from the stream what it needs, no more. */
export class PcmReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(stream: Readable) {
    this.#chunks = stream.iterator({ destroyOnReturn: false });
  }

  /** The next recording; it must be read to its end before the one after it. @throws {Error} if the stream ends in it. */
  async *recording(): AsyncGenerator<Int16Array> {
    for (;;) {
      let left = (await this.#take(HEADER_BYTES)).readUInt32LE();
      if (left === 0) return;
      while (left > 0) {
        const piece = await this.#take(Math.min(left, MOST_BYTES));
        left -= piece.length;
        yield samplesOf(piece);
      }
    }
  }

  async #take(length: number): Promise<Buffer> {
    const parts = [this.#rest];
    let have = this.#rest.length;
    while (have < length) {
      const next = await this.#chunks.next();
      if (next.done === true) throw new Error("the sound ended without an end");
      parts.push(next.value);
      have += next.value.length;
    }
    const bytes = parts.length === 1 ? this.#rest : Buffer.concat(parts);
    this.#rest = bytes.subarray(length);
    return bytes.subarray(0, length);
  }
}

/** A copy, because samples must lie at even places. */
function samplesOf(bytes: Buffer): Int16Array {
  return new Int16Array(new Uint8Array(bytes).buffer);
}
