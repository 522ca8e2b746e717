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
  /** What no other file has while this one is open. */
  readonly identity: string;
  offset: number;
}

/** @param whereIs the data directory, asked each time: it may be moved. */
export function openLogTail(whereIs: () => string): LogTail {
  const currentFile = () => logFilesOf(place).at(-1) ?? "";
  let place = whereIs();
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
      const [placeBefore] = [place, (place = whereIs())];
      if (current === undefined) current = open(currentFile());
      else yield* rest(current);
      const now = identityOf(currentFile());
      if (current === undefined || now === undefined) return;
      if (now === current.identity) return yield* rest(current);

      // Set aside, perhaps several times: the one that was read may have been written to until then.
      yield* rest(current);
      const files = logFilesOf(place);
      let known = files.findIndex((file) => identityOf(file) === current?.identity);
      if (known < 0 && place !== placeBefore) {
        // Moved to another disk: what was read has been copied, and is perhaps written to by now.
        known = files.findLastIndex((file) => current && beginsAs(file, current));
        const copy = known < 0 ? undefined : open(files[known] ?? "");
        if (copy !== undefined) {
          copy.offset = current.offset;
          closeSync(current.file);
          current = copy;
          yield* rest(current);
        }
      }
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
    return { file, identity: identityOf(file) ?? "", offset: 0 };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function identityOf(log: string | number): string | undefined {
  const stat =
    typeof log === "number"
      ? fstatSync(log, { bigint: true })
      : statSync(log, { bigint: true, throwIfNoEntry: false });
  return stat && `${stat.dev}:${stat.ino}`;
}

/** Whether a file has what was read of a log at its beginning. */
function beginsAs(path: string, log: OpenLog): boolean {
  const other = open(path);
  if (other === undefined) return false;
  const [ours, theirs] = [Buffer.alloc(CHUNK_BYTES), Buffer.alloc(CHUNK_BYTES)];
  try {
    for (let position = 0; position < log.offset;) {
      const length = Math.min(CHUNK_BYTES, log.offset - position);
      const count = readSync(log.file, ours, 0, length, position);
      const same = readSync(other.file, theirs, 0, length, position) === count;
      if (count === 0 || !same || !ours.subarray(0, count).equals(theirs.subarray(0, count))) return false;
      position += count;
    }
    return true;
  } finally {
    closeSync(other.file);
  }
}
