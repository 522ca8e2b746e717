import { fstatSync, readSync, writeSync } from "node:fs";

/** Names for FFmpeg as WebAssembly: of the file that it reads, and of the one that it writes. */
export const INPUT = "input";
export const OUTPUT = "output";
/** The first output of our decoders. */
export const STARTED = "started\n";

/** Reads as `fs.readSync` at a place; fewer bytes than asked for only at the end. */
export type ReadAt = (buffer: Uint8Array, at: number) => number;

export interface MediaSource {
  readonly read: ReadAt;
  /** In bytes. */
  readonly size: number;
}

const STDIN = 0;
const STDOUT = 1;
/** Before a full pipe is tried again, where writing to it does not block. */
const FULL_PIPE_MS = 5;

/** The file that this process was given as its standard input: it may open none itself. */
export function givenSource(): MediaSource {
  const { size } = fstatSync(STDIN);
  return { size, read: (buffer, at) => readFully(buffer, at) };
}

function readFully(buffer: Uint8Array, at: number): number {
  let filled = 0;
  while (filled < buffer.length) {
    const got = readSync(STDIN, buffer, filled, buffer.length - filled, at + filled);
    if (got === 0) break;
    filled += got;
  }
  return filled;
}

/** Writes to standard output, and waits until the reader has room. */
export function writeSound(bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;) {
    try {
      written += writeSync(STDOUT, bytes, written);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FULL_PIPE_MS);
    }
  }
}
