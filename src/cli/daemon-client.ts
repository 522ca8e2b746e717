import { randomBytes } from "node:crypto";
import { arrayOf, type JsonForm, optional, record, string } from "../json-form.ts";
import { currentPlace } from "../move-data.ts";
import { baseUrl, proofOf, readRuntimeInfo, type RuntimeInfo } from "../runtime-file.ts";
import { LINES_MEDIA_TYPE } from "../schemas/export-format.ts";
import { CliFailure } from "./cli-failure.ts";
import { fetchDaemon } from "./fetch-daemon.ts";

/** A running daemon that has shown to be the one of the data directory. */
export interface DaemonClient {
  readonly runtime: RuntimeInfo;
  readonly url: string;
  /**
   * Asks the daemon as the owner of its data directory; a form and bytes go as they are, a string as lines of JSON,
   * anything else as JSON.
   *
   * @throws {CliFailure} with the daemon's own words when it refuses.
   */
  call<T>(
    answer: JsonForm<T>,
    method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
    path: string,
    body?: object | string,
    headers?: Readonly<Record<string, string>>,
  ): Promise<T>;
  /**
   * The bytes of an answer as they come, however long it takes.
   *
   * @throws {CliFailure} as `call`; also when the answer is cut off.
   */
  read(path: string): AsyncIterable<Uint8Array>;
}

/** The daemon is on this machine: one that has not said who it is by then is stuck. */
const IDENTIFY_TIMEOUT_MS = 5_000;
const CHALLENGE_BYTES = 32;
/** A long memory waits for its embedding, behind others. */
const CALL_TIMEOUT_MS = 300_000;

const Problem = record({
  detail: string,
  errors: optional(arrayOf(record({ path: string, message: string }))),
});

/**
 * The daemon of a data directory; undefined when none runs. Nothing is sent before it has proved to be the instance
 * that the data directory names: a port can change hands.
 *
 * @throws {CliFailure} if the process is there and does not answer, or the file about it may not be read.
 */
export async function findDaemon(named: string): Promise<DaemonClient | undefined> {
  // Asked each time: whoever runs for long may have been told the place before a move.
  const dataDir = currentPlace(named);
  const runtime = readOwn(dataDir);
  if (runtime === undefined || !isAlive(runtime.pid)) return undefined;

  const url = baseUrl({ ...runtime, isSecure: runtime.tlsFingerprint !== undefined });
  if (!(await isTheOne(url, runtime))) return undefined;

  return {
    runtime,
    url,
    async call(answer, method, path, body, headers) {
      const request = { method, path, body, headers, timeoutMs: CALL_TIMEOUT_MS };
      const response = await send(url, runtime, request).catch((error: unknown) => {
        throw new CliFailure(`memoryd stopped answering at ${url}; look at \`memoryd status\` and its log.`, {
          cause: error,
        });
      });
      const content: unknown = await response.json().catch(() => undefined);
      if (!response.ok) throw new CliFailure(refusal(content, response.status), { status: response.status });
      if (!answer(content)) {
        throw new CliFailure(
          `The daemon (version ${runtime.version}) answered ${path} in a form that this command does not know; ` +
            "restart it with `memoryd restart`, so that both are of one version.",
        );
      }
      return content;
    },
    async *read(path) {
      const stopped = (cause: unknown) =>
        new CliFailure(`memoryd stopped answering at ${url}; look at \`memoryd status\` and its log.`, {
          cause,
        });
      const response = await send(url, runtime, { method: "GET", path }).catch((error: unknown) => {
        throw stopped(error);
      });
      if (!response.ok) {
        const content: unknown = await response.json().catch(() => undefined);
        throw new CliFailure(refusal(content, response.status), { status: response.status });
      }
      try {
        for await (const chunk of response.body ?? []) yield chunk;
      } catch (error) {
        throw stopped(error);
      }
    },
  };
}

/** As `findDaemon`. @throws {CliFailure} also when none runs. */
export async function connect(dataDir: string): Promise<DaemonClient> {
  const daemon = await findDaemon(dataDir);
  if (daemon === undefined) throw new CliFailure(notRunning(dataDir));
  return daemon;
}

export function notRunning(dataDir: string): string {
  return `memoryd is not running on ${dataDir}; start it with \`memoryd start\` or \`memoryd start --detach\`.`;
}

/** True while the process exists, be it another user's. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

function readOwn(dataDir: string): RuntimeInfo | undefined {
  try {
    return readRuntimeInfo(dataDir);
  } catch (error) {
    throw new CliFailure(
      `The data directory ${dataDir} may not be read; run this as its owner, or name another with --data-dir.`,
      { cause: error },
    );
  }
}

/** Asks for a proof that only the daemon of the file can give. What else answers learns nothing from being asked. */
async function isTheOne(url: string, runtime: RuntimeInfo): Promise<boolean> {
  const challenge = randomBytes(CHALLENGE_BYTES).toString("base64url");
  try {
    const question = new Request(`${url}/health`, {
      redirect: "error",
      headers: { "x-memoryd-challenge": challenge },
      signal: AbortSignal.timeout(IDENTIFY_TIMEOUT_MS),
    });
    const response = await fetchDaemon(question, runtime.tlsFingerprint);
    await response.body?.cancel();
    return response.headers.get("x-memoryd-proof") === proofOf(runtime, challenge);
  } catch (error) {
    if (error instanceof Error && error.name === "TimeoutError") {
      throw new CliFailure(
        `memoryd (process ${runtime.pid}) does not answer at ${url}; look at its log, or end the process.`,
        { cause: error },
      );
    }
    return false;
  }
}

interface Call {
  readonly method: string;
  readonly path: string;
  readonly body?: object | string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Left out: as long as it takes. */
  readonly timeoutMs?: number;
}

function send(
  url: string,
  { token, tlsFingerprint }: RuntimeInfo,
  { method, path, body, headers, timeoutMs }: Call,
): Promise<Response> {
  const request = new Request(`${url}${path}`, {
    method,
    redirect: "error",
    headers: {
      ...headers,
      authorization: `Bearer ${token}`,
      "x-memoryd-client": "memoryd-cli",
      ...contentType(body),
    },
    ...(body === undefined ? {} : { body: isSentAsItIs(body) ? body : JSON.stringify(body) }),
    ...(timeoutMs === undefined ? {} : { signal: AbortSignal.timeout(timeoutMs) }),
  });
  return fetchDaemon(request, tlsFingerprint);
}

function isSentAsItIs(body: object | string): body is FormData | Blob | string {
  return typeof body === "string" || body instanceof FormData || body instanceof Blob;
}

/** A form names its own. */
function contentType(body: object | string | undefined): { "content-type"?: string } {
  if (body === undefined || body instanceof FormData) return {};
  if (body instanceof Blob) return { "content-type": "application/octet-stream" };
  return { "content-type": typeof body === "string" ? LINES_MEDIA_TYPE : "application/json" };
}

function refusal(problem: unknown, status: number): string {
  if (!Problem(problem)) return `The daemon refused with HTTP status ${status}.`;
  const fields = (problem.errors ?? [])
    .map(({ path, message }) => `${path} ${message}`)
    .filter((field) => !problem.detail.includes(field));
  return fields.length === 0 ? problem.detail : `${problem.detail} (${fields.join("; ")})`;
}
