import { MemorydError } from "../../client/client.ts";
import { CliFailure } from "../output/output.ts";
import type { DaemonLink } from "./daemon-link.ts";

export interface ForwardedCall {
  readonly method: "tools/call" | "resources/read" | "prompts/get";
  readonly params: object;
  readonly query: Readonly<Record<string, string>>;
  /** The MCP client's name; undefined where it gave none. */
  readonly client: string | undefined;
  readonly mayRepeat: boolean;
  readonly signal: AbortSignal;
}

/** A JSON-RPC reply: a result, or an error with its code. */
export type ForwardedAnswer =
  | { readonly result: Record<string, unknown> }
  | { readonly error: { readonly code: number; readonly message: string } };

/** Agents give up after 60 s or more; a sentence that comes before is worth more than silence. */
const TOTAL_MS = 55_000;
/** Part of it that may be spent on reaching the daemon. */
const REACH_MS = 40_000;

/** Has the daemon answer a call; repeats it once where that is harmless. @throws {CliFailure} within a minute. */
export async function forward(link: DaemonLink, call: ForwardedCall): Promise<ForwardedAnswer> {
  const { method, params, query, signal, client } = call;
  const begun = Date.now();
  const headers = {
    accept: "application/json, text/event-stream",
    ...(client !== undefined && { "x-memoryd-client": headerText(client) }),
  };
  const body = { jsonrpc: "2.0", id: 1, method, params };
  for (let attempt = 1; ; attempt += 1) {
    const { api } = await link.reach(begun + REACH_MS);
    const options = { signal, timeoutMs: Math.max(1, begun + TOTAL_MS - Date.now()) };
    try {
      const request = { method: "POST", path: "/mcp", query, headers, body, options } as const;
      const answer = await api.call<ForwardedAnswer>(request);
      if ("result" in answer || "error" in answer) return answer;
      throw new CliFailure("memoryd gave no answer of MCP; look at its log.");
    } catch (cause) {
      if (!(cause instanceof MemorydError)) throw cause;
      const isHarmless = call.mayRepeat || wasNotSent(cause);
      if (cause.code === "UNREACHABLE" && isHarmless && attempt === 1) continue;
      throw new CliFailure(sentenceOf(cause, isHarmless), { cause });
    }
  }
}

function sentenceOf({ code, detail }: MemorydError, isHarmless: boolean): string {
  if (code === "TIMEOUT")
    return "memoryd did not answer in time; the call may still be done. Look at `memoryd status` and its log.";
  if (code !== "UNREACHABLE") return `${code}: ${detail}`;
  return isHarmless
    ? "memoryd cannot be reached; look at `memoryd status` and its log."
    : "The connection to memoryd broke; the call may have been done. Look before you repeat it.";
}

/** A header carries bytes; the daemon reads them as UTF-8. */
function headerText(name: string): string {
  const plain = Array.from(name.replace(/\p{Cc}+/gu, " ").trim())
    .slice(0, 256)
    .join("");
  return Buffer.from(plain).toString("latin1");
}

/** True where nobody listened. */
function wasNotSent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ("code" in error && error.code === "ECONNREFUSED") || wasNotSent(error.cause);
}
