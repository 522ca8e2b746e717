import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { SHUTDOWN_MS, VERSION } from "../config/limits.ts";
import { messageOf } from "../config/narrow.ts";
import { type ClientOptions, createClient, type MemorydClient } from "../client/client.ts";
import {
  baseUrl,
  hasStore,
  isAlive,
  proofOf,
  readRuntimeInfo,
  type RuntimeInfo,
} from "../daemon/runtime-file.ts";
import { CliFailure, oneLine, usageFailure } from "./output/output.ts";
import type { Settings } from "../config/config.ts";
import { type Flags, settingsOf } from "./output/options.ts";
import { checkVersions } from "./installed-program.ts";
import { UUID } from "../schemas/text-rules.ts";

/** A running daemon that has proved to be the one of the data directory; calls are made as the directory's owner. */
export type Daemon = { readonly runtime: RuntimeInfo; readonly url: string; readonly api: MemorydClient };

/** The daemon is on this machine: one that has not said who it is by then is stuck. */
const IDENTIFY_TIMEOUT_MS = 5_000;
const CHALLENGE_BYTES = 32;
/** A long memory waits for its embedding, behind others. */
const CALL_TIMEOUT_MS = 300_000;

/**
 * The daemon of a data directory; undefined when none runs. Nothing is sent before it has proved to be the instance that
 * the data directory names: a port can change hands.
 * @throws {CliFailure} if the process is there and does not answer, or the file about it may not be read.
 */
export async function findDaemon(dataDir: string, clientName = "memoryd-cli"): Promise<Daemon | undefined> {
  const runtime = readOwn(dataDir);
  if (runtime === undefined || !isAlive(runtime.pid)) return undefined;
  const url = baseUrl({ ...runtime, isSecure: runtime.tlsFingerprint !== undefined });
  if (!(await isTheOne(url, runtime))) return undefined;
  const options: ClientOptions = {
    url,
    apiKey: runtime.token,
    clientName,
    timeoutMs: CALL_TIMEOUT_MS,
    fetch: (input, init) => fetchFrom(runtime, new Request(input, init)),
  };
  return { runtime, url, api: createClient(options) };
}

/** Like `fetch`; HTTPS only with the daemon's certificate. */
const fetchFrom = async ({ tlsFingerprint }: RuntimeInfo, request: Request): Promise<Response> =>
  tlsFingerprint === undefined ? await fetch(request) : await fetchPinned(request, tlsFingerprint);

/**
 * Like `fetch`, for a server with exactly one certificate: its issuer, name and dates do not
 * count. Nothing is sent before it was shown.
 * @param fingerprint of the certificate, SHA-256 as Node writes it.
 */
export async function fetchPinned(request: Request, fingerprint: string): Promise<Response> {
  const { Agent, buildConnector, fetch: fetchWith } = await import("undici");
  // The certificate is compared whole below, which is stricter than any authority's word for it.
  const connect = buildConnector({ rejectUnauthorized: false });
  const dispatcher = new Agent({
    // One request a connection.
    pipelining: 0,
    connect: (options, callback) =>
      connect(options, (...[error, socket]) => {
        if (error !== null) return callback(error, null);
        const shown = "getPeerX509Certificate" in socket ? socket.getPeerX509Certificate() : undefined;
        if (shown?.fingerprint256 === fingerprint) return callback(null, socket);
        socket.destroy();
        callback(new Error("the server shows another certificate than the daemon's"), null);
      }),
  });
  const { url, method, headers, redirect, signal } = request;
  const body = request.body === null ? null : await request.arrayBuffer();
  return await fetchWith(url, { method, headers: [...headers], body, redirect, signal, dispatcher });
}

/** Like `findDaemon`. @throws {CliFailure} also when none runs, or its version does not understand this one's. */
export async function connect(
  flags: Pick<Flags, "dataDir" | "config">,
  clientName?: string,
): Promise<Daemon> {
  const settings = settingsOf(flags);
  const daemon = await findDaemon(settings.dataDir, clientName);
  if (daemon !== undefined) return checked(daemon);
  await requireKept(settings);
  throw notRunning(settings.dataDir);
}

/** For commands that read: a mistyped directory looks like lost memories. @throws {CliFailure} where no store was ever made. */
export async function requireKept({ dataDir, store }: Settings): Promise<void> {
  if (store !== "" || (await hasStore(dataDir))) return;
  throw new CliFailure(
    `memoryd is not running on ${dataDir}, where nothing has been kept yet. Begin with \`memoryd start\` or \`memoryd add TEXT\`, or name another directory with --data-dir.`,
  );
}

/** @throws {CliFailure} for a daemon whose version does not understand this one's. */
export function checked(daemon: Daemon): Daemon {
  checkVersions(VERSION, daemon.runtime.version);
  return daemon;
}

export function notRunning(dataDir: string): CliFailure {
  return new CliFailure(
    `memoryd is not running on ${dataDir}; start it with \`memoryd start\` or \`memoryd start --detach\`.`,
  );
}

function readOwn(dataDir: string): RuntimeInfo | undefined {
  try {
    return readRuntimeInfo(dataDir);
  } catch (cause) {
    throw new CliFailure(
      `The data directory ${dataDir} cannot be read (${messageOf(cause)}); run this as its owner, or name another with --data-dir.`,
      { cause },
    );
  }
}

/** Asks for a proof that only the daemon of the file can give. Another program learns nothing from the question. */
async function isTheOne(url: string, runtime: RuntimeInfo): Promise<boolean> {
  const challenge = randomBytes(CHALLENGE_BYTES).toString("base64url");
  try {
    const question = new Request(`${url}/health`, {
      redirect: "error",
      headers: { "x-memoryd-challenge": challenge },
      signal: AbortSignal.timeout(IDENTIFY_TIMEOUT_MS),
    });
    const response = await fetchFrom(runtime, question);
    await response.body?.cancel();
    return response.headers.get("x-memoryd-proof") === proofOf(runtime, challenge);
  } catch (cause) {
    if (!(cause instanceof Error && cause.name === "TimeoutError")) return false;
    throw new CliFailure(
      `memoryd (process ${runtime.pid}) does not answer at ${url}; look at its log, or end the process.`,
      { cause },
    );
  }
}

const END_OF_ID = /^[0-9a-f-]{6,35}$/;
const MAX_CANDIDATES = 5;

/** The id of a memory, of which the last characters are enough. @throws {CliFailure} that names what is no id, or several. */
export async function memoryId(api: MemorydClient, text: string): Promise<string> {
  return await fullId(text, "memory", async (id_end) => {
    const { items } = await api.memories.page({ id_end, l: MAX_CANDIDATES });
    return items.map(({ id }) => id);
  });
}

export async function factId(api: MemorydClient, text: string): Promise<string> {
  return await fullId(text, "fact", async (end) => {
    const found: string[] = [];
    for await (const { id } of api.facts.list()) if (id.endsWith(end)) found.push(id);
    return found;
  });
}

/** The id that a text is the end of. @throws as `memoryId`. */
export async function fullId(
  text: string,
  what: string,
  endingIn: (end: string) => Promise<string[]>,
): Promise<string> {
  const end = text.toLowerCase();
  if (UUID.test(end)) return end;
  if (!END_OF_ID.test(end))
    throw usageFailure(
      `"${oneLine(text)}" is no id of a ${what}; give the id, or its last 6 or more characters.`,
    );
  const [found, ...others] = await endingIn(end);
  if (found === undefined) throw new CliFailure(`There is no ${what} with an id that ends in ${end}.`);
  if (others.length === 0) return found;
  const ids = [found, ...others].slice(0, MAX_CANDIDATES).join(", ");
  throw new CliFailure(`Several ids end in ${end}: ${ids}; give more characters.`);
}

const STOP_POLL_MS = 50;
/** On top of the time that the daemon gives its requests: to write a checkpoint and release the store. */
const STOP_GRACE_MS = 10_000;

/** Asks a daemon to stop and waits until its process has gone. */
export async function stopDaemon(daemon: Daemon): Promise<void> {
  const { pid } = daemon.runtime;
  await askToStop(daemon);
  const deadline = Date.now() + SHUTDOWN_MS + STOP_GRACE_MS;
  while (isAlive(pid)) {
    if (Date.now() > deadline)
      throw new CliFailure(
        `memoryd (process ${pid}) was asked to stop and still runs; look at its log, or end the process.`,
      );
    await wait(STOP_POLL_MS);
  }
}

/** Windows has no signal that a program can answer: there a SIGTERM would cut off a write. */
async function askToStop({ runtime: { pid }, api }: Daemon): Promise<void> {
  if (process.platform === "win32") return void (await api.shutDown());
  try {
    process.kill(pid, "SIGTERM");
  } catch (cause) {
    if (!isAlive(pid)) return;
    throw new CliFailure(`Process ${pid} belongs to another user; stop memoryd as that user.`, { cause });
  }
}
