import { setTimeout as sleep } from "node:timers/promises";
import { hasStore, lockStart, readRuntimeInfo, startLockOf } from "../../daemon/runtime-file.ts";
import { type Settings, startLike } from "../../config/config.ts";
import { VERSION } from "../../config/limits.ts";
import { CliFailure, complain } from "../output/output.ts";
import {
  explainStartFailure,
  spawnDaemon,
  START_TIMEOUT_MS,
  type StartReport,
} from "../commands/start-detached.ts";
import { checked, type Daemon, findDaemon, requireKept } from "../connect.ts";
import { type Flags, settingsOf } from "../output/options.ts";
import { MemorydError } from "../../client/client.ts";

/**
 * Finds the daemon of a data directory, which has shown who it is; starts it if there is none.
 * @throws {CliFailure} that says what to do, at the deadline at the latest.
 */
export type ReachDaemon = (deadline: number) => Promise<Daemon>;

const POLL_MS = 100;
/** A daemon that holds the directory and is not found is stopping, or has lost the file that names it. */
const HELD_MS = 20_000;

/** @param config the configuration file that was named, for a daemon that is started. */
export function reachOrStart(settings: Settings, config: string | undefined): ReachDaemon {
  const { dataDir } = settings;
  return async (deadline) => {
    const giveUpAt = Date.now() + HELD_MS;
    for (;;) {
      const daemon = await findDaemon(dataDir);
      if (daemon !== undefined) return checked(daemon);
      const left = deadline - Date.now();
      if (left < 0)
        throw new CliFailure(
          "memoryd is still starting; reading back a large store takes a while. Try again in a moment. " +
            `If it never starts and you are certain that nothing is starting it, remove ${startLockOf(dataDir)}.`,
        );
      // A start that takes longer than the call goes on without it.
      const held = await Promise.race([
        startOnce(settings, config),
        sleep(left + 1, undefined, { ref: false }),
      ]);
      if (held !== undefined && Date.now() > giveUpAt) throw new CliFailure(held);
      await sleep(POLL_MS);
    }
  };
}

/**
 * Starts the daemon, unless another process is starting it.
 * @returns why it did not start, where trying again may help.
 * @throws {CliFailure} if it does not.
 */
async function startOnce(settings: Settings, config: string | undefined): Promise<string | undefined> {
  const { dataDir } = settings;
  try {
    const lock = await lockStart(dataDir);
    if (lock === undefined) return undefined;
    try {
      // The process that held the lock before may have started it.
      if ((await findDaemon(dataDir)) !== undefined) return undefined;
      const outcome = await startForClient(settings, config);
      if (outcome.kind === "ready") return undefined;
      if (outcome.mayPass !== true) throw new CliFailure(outcome.message);
      return outcome.message;
    } finally {
      await lock.release();
    }
  } catch (error) {
    if (error instanceof CliFailure) throw error;
    throw new CliFailure(explainStartFailure(error, dataDir), { cause: error });
  }
}

/** A daemon that a command or an agent started ends by itself after so long without use. */
const EXIT_WHEN_IDLE_MS = 30 * 60 * 1_000;

/** How long a daemon that is started for a client stays without use. */
export const idleMsOf = ({ exitWhenIdleMs }: Settings): number =>
  exitWhenIdleMs === 0 ? EXIT_WHEN_IDLE_MS : exitWhenIdleMs;

/**
 * How a daemon of this version was started that did not stop cleanly; undefined without one, where a secret of it is not set here, and
 * where it could not be started so any more.
 */
function crashedOf(dataDir: string) {
  const { startedWith, version } = readRuntimeInfo(dataDir) ?? {};
  if (startedWith === undefined || version !== VERSION) return undefined;
  try {
    // The directory may have been moved.
    return startLike({ ...startedWith, flags: { ...startedWith.flags, dataDir } });
  } catch {
    return undefined;
  }
}

/**
 * Starts a daemon that clients find by its data directory: any free port will do where the set one is taken. One that crashed is started as
 * it was.
 */
async function startForClient(settings: Settings, config: string | undefined): Promise<StartReport> {
  const crashed = crashedOf(settings.dataDir);
  const words = crashed?.words ?? [
    "start",
    `--data-dir=${settings.dataDir}`,
    ...(settings.apiKeyFile === "" ? [] : [`--api-key-file=${settings.apiKeyFile}`]),
    ...(config === undefined ? [] : [`--config=${config}`]),
    `--exit-when-idle-ms=${idleMsOf(settings)}`,
  ];
  const outcome = await spawnDaemon(settings, words, crashed?.env);
  const isPortTaken = outcome.kind === "failed" && outcome.isPortTaken === true;
  return isPortTaken ? await spawnDaemon(settings, [...words, "--port=0"], crashed?.env) : outcome;
}

/**
 * Like `connect`, but starts a daemon if none runs, and says so.
 * @param use for `reading` no data directory is made: there must be a store.
 */
export async function connectOrStart(
  flags: Pick<Flags, "dataDir" | "config">,
  use: "reading" | "writing",
): Promise<Daemon> {
  const settings = settingsOf(flags);
  const daemon = await findDaemon(settings.dataDir);
  if (daemon !== undefined) return checked(daemon);
  if (use === "reading") await requireKept(settings);
  const isNew = settings.store === "" && !(await hasStore(settings.dataDir));
  const place = isNew ? ` with a new data directory, ${settings.dataDir}` : "";
  complain(
    crashedOf(settings.dataDir) === undefined
      ? `Starting memoryd${place}; it stops after ${idleMsOf(settings) / 60_000} minutes without use.`
      : "Starting memoryd again, as it was started before it ended without being stopped.",
  );
  return await reachOrStart(settings, flags.config)(Date.now() + START_TIMEOUT_MS);
}

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
export async function forward(reach: ReachDaemon, call: ForwardedCall): Promise<ForwardedAnswer> {
  const { method, params, query, signal, client } = call;
  const begun = Date.now();
  const headers = {
    accept: "application/json, text/event-stream",
    ...(client !== undefined && { "x-memoryd-client": headerText(client) }),
  };
  const body = { jsonrpc: "2.0", id: 1, method, params };
  for (let attempt = 1; ; attempt += 1) {
    const { api } = await reach(begun + REACH_MS);
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

const MAX_CLIENT_CHARS = 256;

/** A header carries bytes; the daemon reads them as UTF-8. */
const headerText = (name: string): string =>
  Buffer.from(
    name
      .replace(/\p{Cc}+/gu, " ")
      .trim()
      .slice(0, MAX_CLIENT_CHARS),
  ).toString("latin1");

/** True if no process listened at the address. */
function wasNotSent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ("code" in error && error.code === "ECONNREFUSED") || wasNotSent(error.cause);
}
