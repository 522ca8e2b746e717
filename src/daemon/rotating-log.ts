import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";

/** Past this size a log is set aside. */
const MAX_LOG_BYTES = 10 * 1024 ** 2;
/** So many that were set aside stay, as `….1` (the last one) to `….3`. */
const KEPT_LOGS = 3;

/** Where the daemon of a data directory logs when nobody watches it. */
export function logFileOf(dataDir: string): string {
  return join(dataDir, "memoryd.log");
}

/** All logs of a data directory there may be, the oldest first. */
export function logFilesOf(dataDir: string): string[] {
  const older = Array.from({ length: KEPT_LOGS }, (_, index) => `${logFileOf(dataDir)}.${KEPT_LOGS - index}`);
  return [...older, logFileOf(dataDir)];
}

/** Takes whole lines, each on the disk's side when the call returns. */
export interface LineSink {
  readonly write: (line: string) => void;
}

/** A log that is set aside when it has grown to its size. A log that cannot be set aside or written to stops nobody. */
export function openRotatingLog(
  path: string,
  { maxBytes = MAX_LOG_BYTES, kept = KEPT_LOGS }: { readonly maxBytes?: number; readonly kept?: number } = {},
): LineSink & { readonly close: () => void } {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  let file = openSync(path, "a", 0o600);
  let size = fstatSync(file).size;

  const rotate = (): void => {
    for (let number = kept; number > 0; number -= 1) {
      tolerate(() => renameSync(number === 1 ? path : `${path}.${number - 1}`, `${path}.${number}`));
    }
    const next = openSync(path, "a", 0o600);
    closeSync(file);
    file = next;
    size = fstatSync(file).size;
  };

  return {
    write: (line) => {
      const bytes = Buffer.from(line);
      tolerate(() => {
        if (size > 0 && size + bytes.length > maxBytes) rotate();
      });
      tolerate(() => {
        size += writeSync(file, bytes);
      });
    },
    close: () => closeSync(file),
  };
}

/** A full disk, or a log that another program has open on Windows. */
function tolerate(action: () => void): void {
  try {
    action();
  } catch {
    // There is nowhere to say so.
  }
}
