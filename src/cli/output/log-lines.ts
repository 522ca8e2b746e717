import { existsSync, readFileSync, statSync } from "node:fs";
import { logFileOf, logFilesOf } from "../../daemon/rotating-log.ts";

/** A place in the log of a data directory: in which file, and how many bytes of it were read. */
export interface LogPlace {
  readonly file: string;
  readonly bytes: number;
}

/** The present end of the log of a data directory; undefined where there is none. */
export function endOfLog(dataDir: string): LogPlace | undefined {
  const stat = statSync(logFileOf(dataDir), { bigint: true, throwIfNoEntry: false });
  return stat && { file: `${stat.dev}:${stat.ino}`, bytes: Number(stat.size) };
}

/** The last lines, also of logs that were set aside, and where they end. */
export function lastLines(
  dataDir: string,
  count: number,
): { readonly text: Buffer; readonly end: LogPlace | undefined } {
  const end = endOfLog(dataDir);
  const texts = logFilesOf(dataDir).map((file) => (existsSync(file) ? readFileSync(file) : Buffer.alloc(0)));
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
    const current = readFileSync(logFileOf(dataDir)).subarray(from, now.bytes);
    const older = `${logFileOf(dataDir)}.1`;
    const rest =
      isSame || last === undefined || !existsSync(older)
        ? undefined
        : readFileSync(older).subarray(last.bytes);
    last = now;
    return rest === undefined ? current : Buffer.concat([rest, current]);
  };
}
