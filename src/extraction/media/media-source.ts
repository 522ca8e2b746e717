import { fstatSync, readSync, writeSync } from "node:fs";

/** What FFmpeg as WebAssembly calls the file that it reads, and the one that it writes. */
export const INPUT = "input";
export const OUTPUT = "output";
/** The first that a decoder of ours prints. */
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
/** The other end is asked again after as long where the system's pipe does not wait. */
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

/** Gives bytes to the reader, and waits until it takes them: it decides the pace. */
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
