import { anything, either, mapOf, number, record, string } from "../../json-form.ts";
import { CliFailure } from "../cli-failure.ts";
import { fetchDaemon } from "../fetch-daemon.ts";
import type { DaemonClient } from "../daemon-client.ts";
import type { DaemonLink } from "./daemon-link.ts";

/** One call of the agent, to be answered by the daemon. */
export interface ForwardedCall {
  readonly method: "tools/call" | "resources/read" | "prompts/get";
  readonly params: object;
  /** Of the address: project, user, tools. */
  readonly query: URLSearchParams;
  /** The MCP client's name; undefined where it gave none. */
  readonly client: string | undefined;
  /** Sending it twice does no harm. */
  readonly mayRepeat: boolean;
  /** The agent has given up. */
  readonly signal: AbortSignal;
}

/** What JSON-RPC answers: a result, or an error with its number. */
export type ForwardedAnswer =
  | { readonly result: Record<string, unknown> }
  | { readonly error: { readonly code: number; readonly message: string } };

/** Agents give up after 60 s or more; a sentence that comes before is worth more than silence. */
const TOTAL_MS = 55_000;
/** Part of it that may be spent on reaching the daemon. */
const REACH_MS = 40_000;

const Answer = either(
  record({ result: mapOf(anything) }),
  record({ error: record({ code: number, message: string }) }),
);
const Refusal = record({ code: string, detail: string });

/**
 * Has the daemon answer a call; once more where the connection broke and that is harmless.
 *
 * @throws {CliFailure} in one sentence, within a minute.
 */
export async function forward(link: DaemonLink, call: ForwardedCall): Promise<ForwardedAnswer> {
  const startedAt = Date.now();
  for (let attempt = 1; ; attempt += 1) {
    const daemon = await link.reach(startedAt + REACH_MS);
    try {
      return await send(daemon, call, startedAt + TOTAL_MS - Date.now());
    } catch (error) {
      if (error instanceof CliFailure || call.signal.aborted) throw error;
      const isLate = error instanceof Error && error.name === "TimeoutError";
      if (isLate) {
        throw new CliFailure(
          "memoryd did not answer in time; what was asked may still be done. Look at `memoryd status` and its log.",
          { cause: error },
        );
      }
      const harmless = call.mayRepeat || wasNotSent(error);
      if (!harmless || attempt > 1) {
        throw new CliFailure(
          harmless
            ? "memoryd cannot be reached; look at `memoryd status` and its log."
            : "The connection to memoryd broke; what was asked may have been done. Look before you ask again.",
          { cause: error },
        );
      }
    }
  }
}

async function send(daemon: DaemonClient, call: ForwardedCall, timeoutMs: number): Promise<ForwardedAnswer> {
  const request = new Request(`${daemon.url}/mcp?${call.query.toString()}`, {
    method: "POST",
    redirect: "error",
    headers: {
      authorization: `Bearer ${daemon.runtime.token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(call.client === undefined ? {} : { "x-memoryd-client": headerText(call.client) }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: call.method, params: call.params }),
    signal: AbortSignal.any([call.signal, AbortSignal.timeout(Math.max(1, timeoutMs))]),
  });
  const response = await fetchDaemon(request, daemon.runtime.tlsFingerprint);
  const content: unknown = await response.json();
  if (response.ok && Answer(content)) return content;
  if (Refusal(content)) throw new CliFailure(`${content.code}: ${content.detail}`);
  throw new CliFailure(`memoryd answered with HTTP status ${response.status}; look at its log.`);
}

/** A header carries bytes; the daemon reads them as UTF-8. */
function headerText(name: string): string {
  const plain = Array.from(name.replace(/\p{Cc}+/gu, " ").trim())
    .slice(0, 256)
    .join("");
  return Buffer.from(plain).toString("latin1");
}

function wasNotSent(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause && cause.code === "ECONNREFUSED";
}
