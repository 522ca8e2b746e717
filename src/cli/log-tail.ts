import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { logFilesOf } from "../rotating-log.ts";
import { isMissing } from "../system-error.ts";

/** The end of the log of a data directory, as it grows. */
export interface LogTail {
  /** Bytes of the current log that stood there when it was opened; 0 where there was none. */
  readonly begunAt: number;
  /** What was written since the last call, also to logs that were set aside meanwhile. */
  news(): Generator<Uint8Array>;
  close(): void;
}

const CHUNK_BYTES = 64 * 1024;

/** A log whose end is being read. Held open, so that it is read to its end whatever name it has by then. */
interface OpenLog {
  readonly file: number;
  /** What no other file of the disk has while this one is open. */
  readonly inode: bigint;
  offset: number;
}

/** @param whereIs the data directory, asked each time: it may be moved. */
export function openLogTail(whereIs: () => string): LogTail {
  const currentFile = () => logFilesOf(whereIs()).at(-1) ?? "";
  let current = open(currentFile());
  const begunAt = current === undefined ? 0 : fstatSync(current.file).size;
  if (current !== undefined) current.offset = begunAt;

  function* rest(log: OpenLog): Generator<Uint8Array> {
    // Emptied in place: what stands there now is new.
    if (fstatSync(log.file).size < log.offset) log.offset = 0;
    for (;;) {
      const chunk = Buffer.alloc(CHUNK_BYTES);
      const count = readSync(log.file, chunk, 0, chunk.length, log.offset);
      if (count === 0) return;
      log.offset += count;
      yield chunk.subarray(0, count);
    }
  }

  return {
    begunAt,
    *news() {
      if (current === undefined) current = open(currentFile());
      else yield* rest(current);
      const now = inodeOf(currentFile());
      if (current === undefined || now === undefined) return;
      if (now === current.inode) return yield* rest(current);

      // Set aside, perhaps several times: the one that was read may have been written to until then.
      yield* rest(current);
      const files = logFilesOf(whereIs());
      const known = files.findIndex((file) => inodeOf(file) === current?.inode);
      for (const file of files.slice(known + 1)) {
        const next = open(file);
        if (next === undefined) continue;
        closeSync(current.file);
        current = next;
        yield* rest(current);
      }
    },
    close() {
      if (current !== undefined) closeSync(current.file);
      current = undefined;
    },
  };
}

function open(path: string): OpenLog | undefined {
  try {
    const file = openSync(path, "r");
    return { file, inode: fstatSync(file, { bigint: true }).ino, offset: 0 };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function inodeOf(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
}
