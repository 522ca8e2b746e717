import * as fs from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { jsonOf, makeFolder } from "../files/own-files.ts";

/** A log of this size is renamed. */
const MAX_LOG_BYTES = 10 * 1024 ** 2;
/** Older logs that are kept, from `….1` (the newest) to `….3`. */
const KEPT_LOGS = 3;

/** The log file of a daemon in the background. */
export const logFileOf = (dataDir: string): string => join(dataDir, "memoryd.log");

/** The logs that were set aside, the newest first. */
const olderLogs = (path: string): string[] =>
  Array.from({ length: KEPT_LOGS }, (_, index) => `${path}.${index + 1}`);

/** A log that is renamed at its maximum size. Errors are ignored: logging must not stop the daemon. */
export function openRotatingLog(
  path: string,
  { maxBytes = MAX_LOG_BYTES, kept = KEPT_LOGS }: { readonly maxBytes?: number; readonly kept?: number } = {},
) {
  makeFolder(dirname(path));
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
    /** Takes whole lines; each has left the process when the call returns. */
    write: (line: string) => {
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
const LEVELS = ["debug", "info", "warn", "error"] as const;

/** The last `l` lines of at least that level, of the log in a file and of the older ones beside it; none where there is no file. */
export async function readLogEnd(
  path: string | undefined,
  { l, level, maxBytes = MAX_READ_BYTES }: { l: number; level: (typeof LEVELS)[number]; maxBytes?: number },
) {
  if (path === undefined) return { file: null, items: [], hasMore: false };
  let end = Buffer.alloc(0);
  let isWhole = true;
  for (const file of [path, ...olderLogs(path)]) {
    const bytes = await readFile(file).catch(() => Buffer.alloc(0));
    const part = bytes.subarray(Math.max(0, bytes.length - (maxBytes - end.length)));
    end = Buffer.concat([part, end]);
    isWhole = part.length === bytes.length;
    if (!isWhole) break;
  }
  const lines = end.toString("utf8").split("\n");
  const items = lines
    // The first line of a part has lost its beginning.
    .slice(isWhole ? 0 : 1)
    .filter((line) => line !== "")
    .map(readLogLine)
    .filter((line) => line.level === null || LEVELS.indexOf(line.level) >= LEVELS.indexOf(level));
  return { file: path, items: items.slice(-l), hasMore: !isWhole || items.length > l };
}

/** A line of `createLogger`; of anything else, a crash of native code for example, its text. */
function readLogLine(line: string) {
  const { level, time, msg, ...details } = Object(jsonOf(line)) as Record<string, unknown>;
  const at = Date.parse(String(time));
  // Pino's `trace` is 10, and counts as `debug`; `fatal` is 60, and counts as `error`.
  const known = LEVELS[Math.min(Math.max(Number(level) / 10 - 2, 0), LEVELS.length - 1)];
  if (known !== undefined && !Number.isNaN(at))
    return { at, level: known, message: typeof msg === "string" ? msg : "", details };
  return { at: null, level: null, message: line, details: {} };
}

/**
 * Each call returns what was logged in a data directory since the one before, the first all that there is or, without `isAll`, what was
 * logged since now. Of a log that is set aside twice between two calls some is missed.
 */
export function newLines(dataDir: string, isAll = false): () => Buffer {
  const path = logFileOf(dataDir);
  const begun = readLog(path);
  let last = isAll ? { file: "", bytes: 0 } : { file: begun.file, bytes: begun.bytes.length };
  return () => {
    const { file, bytes } = readLog(path);
    if (file === "") return bytes;
    const isSame = file === last.file;
    const older = isSame ? [] : last.file === "" ? olderLogs(path).reverse() : [`${path}.1`];
    const from = isSame && last.bytes <= bytes.length ? last.bytes : 0;
    const news = [...older.map((log) => readLog(log).bytes.subarray(last.bytes)), bytes.subarray(from)];
    last = { file, bytes: bytes.length };
    return Buffer.concat(news);
  };
}

/** A log, and by what it is known once it has another name; empty where there is none. */
function readLog(path: string): { readonly file: string; readonly bytes: Buffer } {
  if (!fs.existsSync(path)) return { file: "", bytes: Buffer.alloc(0) };
  const opened = fs.openSync(path, "r");
  try {
    const { dev, ino } = fs.fstatSync(opened, { bigint: true });
    return { file: `${dev}:${ino}`, bytes: fs.readFileSync(opened) };
  } finally {
    fs.closeSync(opened);
  }
}
