import { ConfigError } from "../../config/config.ts";
import { ServiceError } from "../../core/errors.ts";
import { messageOf } from "../../config/system-error.ts";

/** One sentence on why the daemon did not start and what to do about it, whatever was thrown. */
export function explainStartFailure(error: unknown, dataDir: string): string {
  if (error instanceof ServiceError || error instanceof ConfigError) return error.message;

  const cause = systemErrorOf(error);
  switch (cause?.code) {
    case "EACCES":
    case "EPERM":
      return `The data directory ${dataDir} may not be read or written (${cause.message}); change its owner, or name another with --data-dir.`;
    case "EROFS":
      return `The data directory ${dataDir} is on a read-only disk; name another with --data-dir.`;
    case "ENOENT":
      return `The data directory ${dataDir} cannot be made there (${cause.message}); name another with --data-dir.`;
    case "ENOTDIR":
    case "EEXIST":
      return `The data directory ${dataDir} cannot be made, because a file is in its way; name another with --data-dir.`;
    case "ENOSPC":
    case "EDQUOT":
      return `The disk that holds ${dataDir} is full; free some space and start again.`;
    case "EMFILE":
    case "ENFILE":
      return "Too many files are open; raise the limit (`ulimit -n 4096`) and start again.";
    default:
      return `The daemon could not start: ${messageOf(error)} (--log-level debug shows more).`;
  }
}

interface SystemError extends Error {
  readonly code: string;
}

/** The error of Node behind an error of ours; undefined if there is none. */
export function systemErrorOf(error: unknown): SystemError | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("code" in error && typeof error.code === "string" && "syscall" in error) return error as SystemError;
  return systemErrorOf(error.cause);
}
