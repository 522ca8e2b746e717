import { Type } from "typebox";
import { Value } from "typebox/value";
import type { Config } from "../config.ts";
import { ServiceError } from "../core/errors.ts";
import { baseUrl } from "../runtime-file.ts";

const PROBE_TIMEOUT_MS = 1_000;
const HealthAnswer = Type.Object({ status: Type.String(), version: Type.String() });

type Target = Pick<Config, "host" | "port" | "dataDir">;

/** One sentence on why the daemon did not start and what to do about it, whatever was thrown. */
export async function explainStartFailure(error: unknown, { host, port, dataDir }: Target): Promise<string> {
  if (error instanceof ServiceError) return error.message;

  const cause = systemErrorOf(error);
  if (cause?.syscall === "listen" || cause?.syscall === "bind" || cause?.syscall === "getaddrinfo") {
    return await explainListenFailure(cause, host, port);
  }
  switch (cause?.code) {
    case "EACCES":
    case "EPERM":
      return `The data directory ${dataDir} may not be read or written (${cause.message}); change its owner, or name another with --data-dir.`;
    case "EROFS":
      return `The data directory ${dataDir} is on a read-only disk; name another with --data-dir.`;
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

async function explainListenFailure(cause: SystemError, host: string, port: number): Promise<string> {
  switch (cause.code) {
    case "EADDRINUSE":
      return `Port ${port} is taken ${await whoAnswers(host, port)}; choose another with --port, such as --port ${port + 1}.`;
    case "EACCES":
    case "EPERM":
      return `Port ${port} needs more rights than this user has; choose one above 1023 with --port.`;
    case "EADDRNOTAVAIL":
      return `This machine has no address ${host} to listen on; choose another with --host, such as --host 127.0.0.1.`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `The host name ${host} is not known to this machine; choose another with --host, such as --host 127.0.0.1.`;
    default:
      return `Listening on ${host}, port ${port}, failed: ${cause.message}.`;
  }
}

async function whoAnswers(host: string, port: number): Promise<string> {
  try {
    const response = await fetch(`${baseUrl({ address: host, port })}/health`, {
      signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
    });
    const content: unknown = await response.json().catch(() => undefined);
    if (Value.Check(HealthAnswer, content)) return `by another memoryd (version ${content.version})`;
    const server = response.headers.get("server");
    return server === null ? "by another web server" : `by another web server (${server})`;
  } catch {
    return "by a program that does not answer web requests";
  }
}

interface SystemError extends Error {
  readonly code: string;
  readonly syscall?: string;
}

/** The error of Node behind an error of ours; undefined if there is none. */
function systemErrorOf(error: unknown): SystemError | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("code" in error && typeof error.code === "string" && "syscall" in error) return error as SystemError;
  return systemErrorOf(error.cause);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
