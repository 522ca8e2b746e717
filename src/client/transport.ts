/** One call over HTTP: sent, repeated where that is safe, and answered or thrown. */

import type { Static } from "typebox";
import type { Problem } from "../schemas/page.ts";

export interface ClientOptions {
  /** URL of the daemon; default `http://127.0.0.1:8080`. Its path is kept, for a daemon behind a proxy. */
  readonly url?: string;
  readonly apiKey?: string;
  /** Names the writer of what is added: printable ASCII. */
  readonly clientName?: string;
  /** How long a call may take, further tries included; 60 000 if left out. A call may say otherwise. */
  readonly timeoutMs?: number;
  /** Further tries of a call, at most; 3 if left out, 0 for none. */
  readonly retries?: number;
  /** The platform's own if left out. */
  readonly fetch?: typeof fetch;
}

export interface CallOptions {
  /** Ends the call; it then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

export interface WriteOptions extends CallOptions {
  /** Made for each call if left out. With one of your own, a call is done once though your program runs it again. */
  readonly idempotencyKey?: string | undefined;
}

export interface VersionOptions extends CallOptions {
  /** The `version` that must still be the current one; else it throws `VERSION_MISMATCH`. */
  readonly ifVersion?: number | undefined;
}

export interface Call {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Begins with `/`; its parts are encoded. */
  readonly path: string;
  /** Fields that are undefined or null are left out. */
  readonly query?: object | undefined;
  /** A form and bytes go as they are, text as lines of JSON, anything else as JSON. */
  readonly body?: object | string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  /** Done once however often it is sent: carries an Idempotency-Key. */
  readonly isWrite?: boolean;
  readonly options?: (WriteOptions & VersionOptions) | undefined;
}

export type Transport = ReturnType<typeof createTransport>;

const DEFAULT_URL = "http://127.0.0.1:8080";
const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_RETRIES = 3;
/** The longest delay that a timer takes, in milliseconds. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** Before the first further try where the daemon does not say; doubled each time. */
const FIRST_PAUSE_MS = 200;
/** A daemon that asks for more than this is not waited for: the caller knows better what to do meanwhile. */
const LONGEST_PAUSE_S = 30;

const BUSY: ReadonlySet<number> = new Set([429, 503]);
const CONFLICT = 409;

/** Calls over HTTP; each throws a `MemorydError` for every answer but success, and for none. */
export function createTransport({
  url = DEFAULT_URL,
  apiKey,
  clientName,
  timeoutMs = DEFAULT_TIMEOUT_MS,
  retries = DEFAULT_RETRIES,
  fetch: send = (input, init) => fetch(input, init),
}: ClientOptions) {
  const base = url.replace(/(?<!\/)\/+$/, "");
  const fault = faultOf(url, apiKey, clientName);
  const usual: Record<string, string> = {
    ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
    ...(clientName !== undefined && { "x-memoryd-client": clientName }),
  };

  async function run<T>(call: Call, read: (response: Response) => Promise<T>): Promise<T> {
    const { method, path, query = {}, body, headers, isWrite = false, options = {} } = call;
    options.signal?.throwIfAborted();
    if (fault !== undefined) throw unsendable(fault);
    const content = body === undefined || isSentAsItIs(body) ? body : toJson(body);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), Math.min(options.timeoutMs ?? timeoutMs, LONGEST_TIMER_MS));
    const signal =
      options.signal === undefined ? late.signal : AbortSignal.any([late.signal, options.signal]);
    const request: RequestInit = {
      method,
      signal,
      // A redirect would send the key to another server.
      redirect: "error",
      headers: {
        ...usual,
        ...headers,
        ...contentType(body),
        ...(isWrite && { "idempotency-key": options.idempotencyKey ?? newKey() }),
        ...(options.ifVersion !== undefined && { "if-match": `"${options.ifVersion}"` }),
      },
      ...(content !== undefined && { body: content }),
    };
    // A change or a deletion that got lost may have been done, and done again it might undo what came after it.
    const isRepeatable = method === "GET" || isWrite || path === "/memory/query";

    try {
      for (let tries = 0; ; tries += 1) {
        const error = await attempt().catch((cause: unknown) => lost(cause));
        if (!(error instanceof MemorydError)) return error.value;
        const pause = pauseMs(error, tries);
        if (tries >= retries || pause === undefined) throw error;
        if (error.code === "UNREACHABLE" && !isRepeatable) throw error;
        await sleep(pause, signal).catch((cause: unknown) => {
          throw lost(cause);
        });
      }
    } finally {
      clearTimeout(timer);
    }

    async function attempt(): Promise<{ readonly value: T } | MemorydError> {
      const response = await send(base + path + queryOf(query), request);
      return response.ok ? { value: await read(response) } : await refusal(response);
    }

    function lost(cause: unknown): MemorydError {
      if (cause instanceof MemorydError) return cause;
      if (options.signal?.aborted === true) throw options.signal.reason;
      if (late.signal.aborted)
        return new MemorydError(
          {
            code: "TIMEOUT",
            detail: `memoryd did not answer ${method} ${path} within ${options.timeoutMs ?? timeoutMs} ms; raise timeoutMs if it needs longer.`,
          },
          { cause },
        );
      return new MemorydError(
        { code: "UNREACHABLE", detail: `memoryd cannot be reached at ${base}; is it running there?` },
        { cause },
      );
    }
  }

  const json = <T>(call: Call) => run(call, readJson<T>);
  return {
    json,
    get: <T>(path: string, query?: object, options?: CallOptions) =>
      json<T>({ method: "GET", path, query, options }),
    remove: <T>(path: string, query?: object, options?: VersionOptions) =>
      json<T>({ method: "DELETE", path, query, options }),
    post: <T>(path: string, body?: object | string, options?: VersionOptions) =>
      json<T>({ method: "POST", path, body, options }),
    patch: <T>(path: string, body: object, options?: VersionOptions) =>
      json<T>({ method: "PATCH", path, body, options }),
    /** A POST that is done once, however often it is sent. */
    write: <T>(path: string, body: object, options?: WriteOptions) =>
      json<T>({ method: "POST", path, body, isWrite: true, options }),
    blob: (call: Call) => run(call, (response) => response.blob()),
    /** The body as it comes; the time-out is for its beginning. */
    stream: (call: Call): Promise<ReadableStream<Uint8Array>> =>
      run(call, async ({ body }) => body ?? new ReadableStream({ start: (end) => end.close() })),
  };
}

const PRINTABLE = /^[ -~]*$/;
/** One without a host is that of a page's own server. */
const ADDRESS = /^(?:https?:\/\/[^/]|\/|$)/i;

/** Says what keeps every call of such a client from being sent. */
function faultOf(url: string, apiKey = "", clientName = ""): string | undefined {
  if (!ADDRESS.test(url))
    return `An address begins with http:// or https://, such as ${DEFAULT_URL}; got ${url}`;
  if (!PRINTABLE.test(clientName)) return `clientName must be printable ASCII; got ${clientName}`;
  return PRINTABLE.test(apiKey.trim()) ? undefined : "The key has signs that no key has";
}

const unsendable = (what: string, cause?: unknown) =>
  new MemorydError({ code: "INVALID_REQUEST", detail: `${what}; nothing was sent.` }, { cause });

function toJson(body: object): string {
  try {
    return JSON.stringify(body);
  } catch (cause) {
    throw unsendable(`This cannot be sent as JSON (${(cause as Error).message})`, cause);
  }
}

const isSentAsItIs = (body: object | string): body is FormData | Blob | string =>
  typeof body === "string" || body instanceof FormData || body instanceof Blob;

/** A form names its own. */
function contentType(body: object | string | undefined): { "content-type"?: string } {
  if (body === undefined || body instanceof FormData) return {};
  if (body instanceof Blob) return { "content-type": "application/octet-stream" };
  return { "content-type": typeof body === "string" ? "application/x-ndjson" : "application/json" };
}

/** Percent-encodes the parts of a path: `` path`/memory/${id}` ``. */
export const path = (texts: TemplateStringsArray, ...parts: readonly string[]): string =>
  texts.reduce((sum, text, index) => sum + encodeURIComponent(parts[index - 1] ?? "") + text);

/** Resolves after that long. Rejects with the signal's reason when it is aborted first. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((done, fail) => {
    if (signal?.aborted === true) return fail(signal.reason as Error);
    const stop = () => {
      clearTimeout(timer);
      fail(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      done();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/**
 * The items of all pages, in order; a page is asked for when the one before is used up. Each is there once, whatever is
 * added meanwhile.
 * @param read the page at a place; an empty one is the first.
 */
export async function* walkPages<Item>(
  read: (place: { readonly cursor?: string }) => Promise<Page<Item>>,
): AsyncGenerator<Item, void, undefined> {
  let cursor: string | null = null;
  do {
    const page: Page<Item> = await read(cursor === null ? {} : { cursor });
    yield* "items" in page ? page.items : page.facts;
    cursor = page.next_cursor;
  } while (cursor !== null);
}

type Page<Item> = { readonly next_cursor: string | null } & (
  | { readonly items: readonly Item[] }
  | { readonly facts: readonly Item[] }
);

function queryOf(values: object): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(values) as [
    string,
    string | number | boolean | readonly string[] | null | undefined,
  ][])
    if (Array.isArray(value)) for (const each of value) parameters.append(name, each);
    else if (value !== undefined && value !== null) parameters.set(name, String(value));
  return parameters.size === 0 ? "" : `?${parameters.toString()}`;
}

/** How long to wait before another try; undefined where none helps. */
function pauseMs({ code, status, retryAfterSeconds }: MemorydError, tries: number): number | undefined {
  const isWorthIt =
    code === "UNREACHABLE" || BUSY.has(status) || (status === CONFLICT && retryAfterSeconds !== undefined);
  if (!isWorthIt) return undefined;
  if (retryAfterSeconds === undefined) return FIRST_PAUSE_MS * 2 ** tries;
  return retryAfterSeconds > LONGEST_PAUSE_S ? undefined : retryAfterSeconds * 1_000;
}

async function readJson<T>(response: Response): Promise<T> {
  const text = await response.text();
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw badAnswer(response, cause);
  }
}

async function refusal(response: Response): Promise<MemorydError> {
  const { status } = response;
  const retryAfter = response.headers.get("retry-after");
  const retryAfterSeconds = retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined;
  const problem = parseProblem(await response.text());
  if (problem === undefined) {
    const error = badAnswer(response);
    return new MemorydError({ code: error.code, status, detail: error.detail, retryAfterSeconds });
  }
  const { code, detail, errors = [], request_id: requestId } = problem;
  return new MemorydError({ code, status, detail, errors, requestId, retryAfterSeconds });
}

function parseProblem(text: string): Static<typeof Problem> | undefined {
  try {
    const problem = JSON.parse(text) as Partial<Static<typeof Problem>> | null;
    const isOurs = typeof problem?.code === "string" && typeof problem.detail === "string";
    return isOurs ? (problem as Static<typeof Problem>) : undefined;
  } catch {
    return undefined;
  }
}

function badAnswer({ status, url }: Response, cause?: unknown): MemorydError {
  const detail = `What answered with status ${status}${url === "" ? "" : ` at ${url}`} is not memoryd; check the address.`;
  return new MemorydError({ code: "BAD_ANSWER", status, detail }, { cause });
}

/** `crypto.randomUUID` is missing in pages that came over plain HTTP from another machine. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A field that the daemon did not take. */
export interface FieldError {
  /** JSON pointer into the body, the query or the headers. */
  readonly path: string;
  readonly message: string;
}

/**
 * A call that did not succeed. `code` is that of the daemon (`NOT_FOUND`, `VERSION_MISMATCH` and so on, as in the
 * README), or one of the client's own:
 *
 * - `UNREACHABLE`: no answer, or one that was cut off. What was sent may have been done.
 * - `TIMEOUT`: no answer in time. The same holds.
 * - `BAD_ANSWER`: an answer that is not memoryd's, a proxy's for example.
 * - `JOB_CANCELLED`: the job that was waited for was cancelled.
 * - `INVALID_REQUEST` with status 0: it cannot be sent.
 */
export class MemorydError extends Error {
  override readonly name = "MemorydError";
  readonly code: string;
  /** HTTP status; 0 without a reply. */
  readonly status: number;
  /** The error and what to do about it, for people. */
  readonly detail: string;
  readonly errors: readonly FieldError[];
  readonly requestId: string | undefined;
  /** After which a further try may succeed. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    { code, status = 0, detail, errors = [], requestId, retryAfterSeconds }: MemorydErrorFields,
    options?: ErrorOptions,
  ) {
    super(detail, options);
    this.code = code;
    this.status = status;
    this.detail = detail;
    this.errors = errors;
    this.requestId = requestId;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

type MemorydErrorFields = Pick<MemorydError, "code" | "detail"> &
  Partial<Pick<MemorydError, "status" | "errors" | "requestId" | "retryAfterSeconds">>;
