import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";

/** A log of this size is renamed. */
const MAX_LOG_BYTES = 10 * 1024 ** 2;
/** Older logs that are kept, from `….1` (the newest) to `….3`. */
const KEPT_LOGS = 3;

/** The log file of a daemon in the background. */
export function logFileOf(dataDir: string): string {
  return join(dataDir, "memoryd.log");
}

/** All logs of a data directory there may be, the oldest first. */
export function logFilesOf(dataDir: string): string[] {
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
    // There is no place to report it.
  }
}
