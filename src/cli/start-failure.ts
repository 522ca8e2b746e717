import { CliFailure } from "./cli-failure.ts";

/** Of the log, when a start failed. */
const SHOWN_LINES = 10;

/** Says what did not start and why, with the end of what it logged. */
export function didNotStart(what: string, reason: string, log: string): CliFailure {
  const end = log.trimEnd().split("\n").slice(-SHOWN_LINES).join("\n");
  return new CliFailure(`${what} ${reason}${end === "" ? "" : `\n\nThe end of its log:\n${end}`}`);
}

/** Why a start failed, if its log says so. */
export function failureIn(log: string): string | undefined {
  const line = log.split("\n").find((each) => each.includes('"msg":"start failed"'));
  if (line === undefined) return undefined;
  try {
    const { err } = JSON.parse(line) as { readonly err?: { readonly message?: unknown } };
    return typeof err?.message === "string" ? err.message : "It failed while it started.";
  } catch {
    return "It failed while it started.";
  }
}

export function textOf(chunks: Iterable<Uint8Array>): string {
  return Buffer.concat([...chunks]).toString("utf8");
}
