import { Readable } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { frameHeader, PcmReader } from "../../../src/models/whisper/pcm-frames.ts";
import { join } from "../../support/pcm.ts";
import { times } from "../../support/stress.ts";

function framed(recordings: readonly (readonly Int16Array[])[]): Buffer {
  const parts = recordings.flatMap((pieces) => [
    ...pieces.flatMap((piece) => [frameHeader(piece.byteLength), new Uint8Array(piece.buffer)]),
    frameHeader(0),
  ]);
  return Buffer.concat(parts);
}

function* chunksOf(bytes: Buffer, length: number) {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

async function readAll(reader: PcmReader): Promise<Int16Array> {
  const pieces: Int16Array[] = [];
  for await (const piece of reader.recording()) pieces.push(piece);
  return join(...pieces);
}

describe("PcmReader", () => {
  it("reads one recording after the other, however they come", async () => {
    const piece = fc.array(fc.integer({ min: -32_768, max: 32_767 }), { minLength: 1, maxLength: 50 });
    const recordings = fc.array(fc.array(piece, { maxLength: 4 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(recordings, fc.integer({ min: 1, max: 40 }), async (numbers, length) => {
        const sent = numbers.map((pieces) => pieces.map((samples) => Int16Array.from(samples)));
        const reader = new PcmReader(Readable.from(chunksOf(framed(sent), length)));
        for (const pieces of sent) expect(await readAll(reader)).toEqual(join(...pieces));
      }),
      { numRuns: times(25) },
    );
  });

  it("passes a long piece on in parts", async () => {
    const long = new Int16Array(100_000).fill(5);
    const reader = new PcmReader(Readable.from(chunksOf(framed([[long]]), 70_000)));
    let count = 0;
    for await (const piece of reader.recording()) {
      expect(piece.length).toBeLessThanOrEqual(32_768);
      count += piece.length;
    }
    expect(count).toBe(100_000);
  });

  it("refuses sound that ends before its end", async () => {
    const reader = new PcmReader(Readable.from([Buffer.from(frameHeader(8))]));
    await expect(readAll(reader)).rejects.toThrow("without an end");
  });
});
