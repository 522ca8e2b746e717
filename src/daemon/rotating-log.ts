import * as fs from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { LOG_LEVELS_SHOWN, type LogEnd, type LogLine, type ShownLogLevel } from "../core/inspection.ts";
import { jsonOf } from "../files/own-files.ts";

/** A log of this size is renamed. */
const MAX_LOG_BYTES = 10 * 1024 ** 2;
/** Older logs that are kept, from `….1` (the newest) to `….3`. */
const KEPT_LOGS = 3;

/** The log file of a daemon in the background. */
export const logFileOf = (dataDir: string): string => join(dataDir, "memoryd.log");

/** All logs of a data directory there may be, the oldest first. */
function logFilesOf(dataDir: string): string[] {
  const older = Array.from({ length: KEPT_LOGS }, (_, index) => `${logFileOf(dataDir)}.${KEPT_LOGS - index}`);
  return [...older, logFileOf(dataDir)];
}

/** Takes whole lines; each has left the process when the call returns. */
export interface LineSink {
  readonly write: (line: string) => void;
}

/** A log that is renamed at its maximum size. Errors are ignored: logging must not stop the daemon. */
export function openRotatingLog(
  path: string,
  { maxBytes = MAX_LOG_BYTES, kept = KEPT_LOGS }: { readonly maxBytes?: number; readonly kept?: number } = {},
): LineSink & { readonly close: () => void } {
  fs.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  let file = fs.openSync(path, "a", 0o600);
  let size = fs.fstatSync(file).size;

  const rotate = (): void => {
    for (let number = kept; number > 0; number -= 1) {
      tolerate(() => fs.renameSync(number === 1 ? path : `${path}.${number - 1}`, `${path}.${number}`));
    }
    const next = fs.openSync(path, "a", 0o600);
    fs.closeSync(file);
    file = next;
    size = fs.fstatSync(file).size;
  };

  return {
    write: (line) => {
      const bytes = Buffer.from(line);
      tolerate(() => {
        if (size > 0 && size + bytes.length > maxBytes) rotate();
      });
      tolerate(() => {
        size += fs.writeSync(file, bytes);
      });
    },
    close: () => fs.closeSync(file),
  };
}

/** A full disk, or a log that another program has open on Windows. */
function tolerate(action: () => void): void {
  try {
    action();
  } catch {
    // There is no place to report it.
  }
}

/** So much of the end of the log is read at most, of all its files together. */
const MAX_READ_BYTES = 2 * 1024 ** 2;

/** The last lines of at least that level, of the log in a file and of the older ones beside it; none where there is no file. */
export async function readLogEnd(
  path: string | undefined,
  { limit, level, maxBytes = MAX_READ_BYTES }: { limit: number; level: ShownLogLevel; maxBytes?: number },
): Promise<LogEnd> {
  if (path === undefined) return { file: null, items: [], hasMore: false };
  const least = LOG_LEVELS_SHOWN.indexOf(level);
  const items: LogLine[] = [];
  let left = maxBytes;
  for (let number = 0; number <= KEPT_LOGS && left > 0; number += 1) {
    const { text, isWhole } = await endOf(number === 0 ? path : `${path}.${number}`, left);
    left -= Buffer.byteLength(text);
    // The first line of a part has lost its beginning.
    const lines = text.split("\n").slice(isWhole ? 0 : 1);
    for (const line of lines.reverse()) {
      if (line === "") continue;
      const read = readLogLine(line);
      if (read.level !== null && LOG_LEVELS_SHOWN.indexOf(read.level) < least) continue;
      if (items.length === limit) return { file: path, items: items.reverse(), hasMore: true };
      items.push(read);
    }
    if (!isWhole) return { file: path, items: items.reverse(), hasMore: true };
  }
  return { file: path, items: items.reverse(), hasMore: left <= 0 };
}

async function endOf(path: string, maxBytes: number): Promise<{ text: string; isWhole: boolean }> {
  let file;
  try {
    file = await open(path, "r");
  } catch {
    return { text: "", isWhole: true };
  }
  try {
    const { size } = await file.stat();
    const length = Math.min(size, maxBytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return { text: buffer.toString("utf8", 0, bytesRead), isWhole: length === size };
  } finally {
    await file.close();
  }
}

const PINO_LEVELS: Readonly<Record<number, ShownLogLevel>> = {
  10: "debug",
  20: "debug",
  30: "info",
  40: "warn",
  50: "error",
  60: "error",
};

/** A line of `createLogger`; of anything else, a crash of native code for example, its text. */
function readLogLine(line: string): LogLine {
  const { level, time, msg, ...details } = Object(jsonOf(line)) as Record<string, unknown>;
  const at = Date.parse(String(time));
  const known = PINO_LEVELS[Number(level)];
  if (known !== undefined && !Number.isNaN(at))
    return { at, level: known, message: typeof msg === "string" ? msg : "", details };
  return { at: null, level: null, message: line, details: {} };
}

/** A place in the log of a data directory: in which file, and how many bytes of it were read. */
type LogPlace = { readonly file: string; readonly bytes: number };

/** The present end of the log of a data directory; undefined where there is none. */
export function endOfLog(dataDir: string): LogPlace | undefined {
  const stat = fs.statSync(logFileOf(dataDir), { bigint: true, throwIfNoEntry: false });
  return stat && { file: `${stat.dev}:${stat.ino}`, bytes: Number(stat.size) };
}

/** The last lines, also of logs that were set aside, and where they end. */
export function lastLines(
  dataDir: string,
  count: number,
): { readonly text: Buffer; readonly end: LogPlace | undefined } {
  const end = endOfLog(dataDir);
  const texts = logFilesOf(dataDir).map((file) =>
    fs.existsSync(file) ? fs.readFileSync(file) : Buffer.alloc(0),
  );
  const current = texts.pop()?.subarray(0, end?.bytes ?? 0) ?? Buffer.alloc(0);
  const lines = Buffer.concat([...texts, current])
    .toString("utf8")
    .split(/(?<=\n)/);
  return { text: Buffer.from(count === 0 ? "" : lines.slice(-count).join("")), end };
}

/** Each call returns what was logged since the one before, or since `place`. Of a log that is set aside twice between two calls some is missed. */
export function newLines(dataDir: string, place: LogPlace | undefined): () => Buffer {
  let last = place;
  return () => {
    const now = endOfLog(dataDir);
    if (now === undefined) return Buffer.alloc(0);
    const isSame = last?.file === now.file;
    const from = isSame && last !== undefined && last.bytes <= now.bytes ? last.bytes : 0;
    const current = fs.readFileSync(logFileOf(dataDir)).subarray(from, now.bytes);
    const older = `${logFileOf(dataDir)}.1`;
    const rest =
      isSame || last === undefined || !fs.existsSync(older)
        ? undefined
        : fs.readFileSync(older).subarray(last.bytes);
    last = now;
    return rest === undefined ? current : Buffer.concat([rest, current]);
  };
}
