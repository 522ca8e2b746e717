import { fstatSync, readSync, writeSync } from "node:fs";
import type { Container } from "./container.ts";
import type { MediaReport } from "./media-report.ts";
import type { ReadAt } from "./wav.ts";

/** A decoder with a file open. */
export interface MediaEngine {
  readonly report: MediaReport;
  /** Writes the sound of a track, 16 kHz mono signed 16-bit, with `writeSound`. */
  decode(index: number, maxSeconds: number): Promise<void>;
  /** A track as WebVTT. */
  subtitles(index: number): Promise<Uint8Array>;
}

export interface MediaSource {
  readonly container: Container;
  readonly read: ReadAt;
  /** In bytes. */
  readonly size: number;
}

/** Undefined for a file that it cannot read. */
export type OpenEngine = (source: MediaSource) => Promise<MediaEngine | undefined>;

const STDIN = 0;
const STDOUT = 1;
/** The other end is asked again after as long where the system's pipe does not wait. */
const FULL_PIPE_MS = 5;

/** The file that this process was given as its standard input: it may open none itself. */
export function givenSource(container: Container): MediaSource {
  const { size } = fstatSync(STDIN);
  return { container, size, read: (buffer, at) => readFully(buffer, at) };
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
