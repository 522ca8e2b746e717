import { lookup as lookUpName } from "node:dns/promises";
import { type IncomingHttpHeaders, STATUS_CODES } from "node:http";
import type { Client, Dispatcher } from "undici";
import { fetchFailed, ServiceError, tooLarge } from "../../core/errors.ts";
import type { Clock } from "../../core/ports.ts";
import type { FetchedPage, FetchOptions, UrlFetcher } from "../../core/documents/document-ports.ts";
import { claimedCharset } from "../document-kind.ts";
import { machineAddresses, checkStep, hostOf, TargetGuard } from "./target.ts";
import type { JudgedTarget, Lookup } from "./target.ts";
import {
  directConnector,
  parseProxy,
  proxyConnector,
  proxyHeaders,
  proxyRefusal,
  undici,
  fetchFailure,
  ACCEPTED_ENCODINGS,
  decodeContent,
  filenameOf,
  lengthOf,
  mediaTypeOf,
  utf8OfLatin1,
} from "./connection.ts";

/** Milliseconds of a monotonic clock, so that a clock that is set, or a machine that slept, ends nothing. */
export interface FetchTimeouts {
  /** To look up a host, connect and agree on encryption; per redirect. */
  readonly reachMs: number;
  /** From the request to the whole head of the answer; per redirect. */
  readonly answerMs: number;
  /** Between two pieces of the body; the sink's time does not count. */
  readonly idleMs: number;
  readonly totalMs: number;
}

export interface UrlFetcherOptions {
  /** Version of memoryd, for the user agent. */
  readonly version: string;
  readonly clock: Clock;
  /** Limit of a body, both compressed and decompressed. */
  readonly maxBytes: number;
  /** Whether loopback and private addresses may be fetched; asked at every target, since keys may be made meanwhile. */
  readonly privateTargets: () => "allow" | "deny";
  /** Port of the daemon, once it listens. */
  readonly ownPort: () => number | undefined;
  /** `http://` or `https://`, with a user name and password where it asks for them. Private targets are refused then. */
  readonly proxy?: string | undefined;
  readonly timeouts?: Partial<FetchTimeouts>;
  /** In PEM, instead of those that Node trusts. */
  readonly certificateAuthorities?: string;
  /** The system's resolver, unless given. */
  readonly lookup?: Lookup;
  readonly machineAddresses?: () => readonly string[];
}

/** An error for being offline comes within 10 s. */
const DEFAULT_TIMEOUTS = { reachMs: 9_000, answerMs: 20_000, idleMs: 20_000, totalMs: 300_000 };
const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Sites with long lists of allowed sources pass Node's 16 KiB. */
const MAX_HEAD_BYTES = 64 * 1024;
const ACCEPT =
  "text/html, application/xhtml+xml, text/markdown;q=0.9, text/plain;q=0.9, application/pdf;q=0.9, */*;q=0.8";
const PARTIAL_CONTENT = 206;
const PROXY_AUTHENTICATION_REQUIRED = 407;
const ADVICE: Readonly<Record<number, string>> = {
  401: " The page asks for a login.",
  403: " The page asks for a login, or the site wants no programs.",
  429: " Try again later.",
  503: " Try again later.",
};

type Fetching = FetchOptions & { readonly signal: AbortSignal };

/** An answer whose head has arrived. */
interface Answer {
  readonly target: JudgedTarget;
  readonly response: Dispatcher.ResponseData;
  /** Why the connection broke: a body that ends with the connection would pass for whole. */
  readonly broken: () => Error | undefined;
  readonly close: () => void;
}

/** Fetches from judged addresses only, with nothing of the user. @throws {TypeError} for a proxy that is none. */
export function createUrlFetcher(options: UrlFetcherOptions): UrlFetcher {
  const { certificateAuthorities: ca, clock, maxBytes } = options;
  const timeouts: FetchTimeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const connecting = { timeout: timeouts.reachMs, ...(ca !== undefined && { ca }) };
  const proxy = options.proxy === undefined ? undefined : parseProxy(options.proxy);
  const guardFor = ({ publicOnly = false }: Pick<FetchOptions, "publicOnly">) =>
    new TargetGuard({
      // In the system's order, which knows whether IPv6 works here.
      lookup: (name) => lookUpName(name, { all: true, verbatim: true }),
      machineAddresses,
      ...options,
      privateTargets: publicOnly ? () => "never" : options.privateTargets,
      viaProxy: proxy !== undefined,
    });

  return {
    check: (url, checkOptions = {}) => void guardFor(checkOptions).parse(url),
    fetch: async (text, fetchOptions) => {
      const guard = guardFor(fetchOptions);
      const url = guard.parse(text);
      const total = timeLimit(
        timeouts.totalMs,
        "FETCH_TIMEOUT",
        `The URL could not be fetched whole within ${seconds(timeouts.totalMs)}.`,
      );
      const { signal = total.signal } = fetchOptions;
      try {
        return await follow(url, guard, { ...fetchOptions, signal: AbortSignal.any([total.signal, signal]) });
      } finally {
        total.end();
      }
    },
  };

  async function follow(start: URL, guard: TargetGuard, fetching: Fetching): Promise<FetchedPage> {
    let url = start;
    let previous: JudgedTarget | undefined;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const answer = await open(url, previous, guard, fetching.signal);
      try {
        const location = first(answer.response.headers, "location");
        if (location === undefined || !REDIRECTS.has(answer.response.statusCode))
          return { fetchedAt: clock.now(), ...(await receive(url, answer, fetching)) };
        url = redirectTarget(utf8OfLatin1(location), url, guard);
        previous = answer.target;
      } finally {
        answer.close();
      }
    }
    throw fetchFailed(`${hostOf(start)} redirects more than ${MAX_REDIRECTS} times.`);
  }

  async function open(
    url: URL,
    previous: JudgedTarget | undefined,
    guard: TargetGuard,
    fetchSignal: AbortSignal,
  ): Promise<Answer> {
    const host = hostOf(url);
    // A host that was never reached did not answer slowly: most likely this machine is offline.
    const reach = timeLimit(
      timeouts.reachMs,
      "FETCH_FAILED",
      `${host} could not be reached within ${seconds(timeouts.reachMs)}. Is this machine online?`,
    );
    const signal = AbortSignal.any([fetchSignal, reach.signal]);
    let client: Client | undefined;
    let broken: Error | undefined;
    // Not waited for: a connection that is being made ends with its own time limit.
    const close = () => void client?.destroy().catch(() => undefined);
    try {
      const target = await guard.judge(url, signal);
      checkStep(previous, target);
      const connect =
        proxy === undefined
          ? directConnector(target, connecting, (address) => void guard.checkAddress(address, url))
          : proxyConnector(url, proxy, connecting);
      // Inside a tunnel the proxy reads nothing; of http it reads the whole request.
      const proxied = url.protocol === "http:" ? proxy : undefined;
      client = new (undici().Client)((proxied ?? url).origin, {
        connect: (wanted, callback) =>
          connect(wanted, (error, socket) => {
            reach.end();
            if (error !== null) return callback(error, null);
            // Not what undici itself ends a socket with.
            socket.on("error", (failure: NodeJS.ErrnoException) => {
              if (failure.code?.startsWith("UND_") !== true) broken = failure;
            });
            callback(null, socket);
          }),
        maxHeaderSize: MAX_HEAD_BYTES,
        headersTimeout: timeouts.answerMs,
        bodyTimeout: timeouts.idleMs,
      });
      const response = await client.request({
        method: "GET",
        path: proxied === undefined ? url.pathname + url.search : url.href,
        headers: {
          host: url.host,
          "user-agent": `memoryd/${options.version} (+local)`,
          accept: ACCEPT,
          "accept-language": "*",
          "accept-encoding": ACCEPTED_ENCODINGS,
          ...(proxied !== undefined && proxyHeaders(proxied)),
        },
        reset: true,
        signal,
      });
      if (proxy !== undefined && response.statusCode === PROXY_AUTHENTICATION_REQUIRED)
        throw proxyRefusal(PROXY_AUTHENTICATION_REQUIRED, host);
      return { target, response, broken: () => broken, close };
    } catch (error) {
      close();
      throw signal.aborted ? signal.reason : explained(error, host);
    } finally {
      reach.end();
    }
  }

  /** Writes the body into the sink, piece by piece. The sink's errors pass as they are. */
  async function receive(url: URL, { response, broken }: Answer, { sink, signal, onProgress }: Fetching) {
    const host = hostOf(url);
    checkStatus(response.statusCode, host);
    const header = (name: keyof IncomingHttpHeaders) => first(response.headers, name);
    const contentType = header("content-type");
    const totalBytes = lengthOf(header("content-length")) ?? 0;
    if (totalBytes > maxBytes) throw pageTooLarge();

    async function* arriving(): AsyncGenerator<Uint8Array> {
      let receivedBytes = 0;
      for await (const chunk of response.body as AsyncIterable<Buffer>) {
        receivedBytes += chunk.length;
        if (receivedBytes > maxBytes) throw pageTooLarge();
        onProgress?.({ done: receivedBytes, total: totalBytes });
        yield chunk;
      }
      const failure = broken();
      if (failure !== undefined) throw failure;
    }
    /** Here only the network's errors are translated. */
    async function* body(): AsyncGenerator<Uint8Array> {
      try {
        for await (const chunk of decodeContent(arriving(), header("content-encoding"))) {
          signal.throwIfAborted();
          yield chunk;
        }
        signal.throwIfAborted();
      } catch (error) {
        throw signal.aborted ? signal.reason : explained(error, host);
      }
    }

    let bytes = 0;
    for await (const chunk of body()) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw pageTooLarge();
      await sink.write(chunk);
    }
    return {
      url: url.href,
      contentType: mediaTypeOf(contentType),
      charset: claimedCharset(contentType) ?? null,
      filename: filenameOf(header("content-disposition"), url),
    };
  }

  function explained(error: unknown, host: string): unknown {
    const code = (error as { readonly code?: unknown }).code;
    const late = (message: string) =>
      new ServiceError("FETCH_TIMEOUT", `${host} ${message}. Try again later.`);
    if (code === "UND_ERR_HEADERS_TIMEOUT")
      return late(`did not answer within ${seconds(timeouts.answerMs)}`);
    if (code === "UND_ERR_BODY_TIMEOUT") return late(`stopped sending for ${seconds(timeouts.idleMs)}`);
    return fetchFailure(error, host);
  }

  function pageTooLarge(): ServiceError {
    return tooLarge(`The page is larger than the limit of ${maxBytes / 1_000_000} MB (--max-upload-bytes).`);
  }
}

/** The URL to go on with. An address that is malformed is the server's fault; a blocked one stays FORBIDDEN. */
function redirectTarget(location: string, from: URL, guard: TargetGuard): URL {
  const host = hostOf(from);
  const refusal = (message: string) => fetchFailed(`${host} redirects to ${message}`);
  let to: URL;
  try {
    to = guard.parse(location, from);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "INVALID_REQUEST") throw error;
    throw refusal(`an address that is not fetched. ${error.message}`);
  }
  if (from.protocol === "https:" && to.protocol === "http:")
    throw refusal(
      `${hostOf(to)} without encryption, where the page could be changed on the way. Send the http:// address itself if that is acceptable.`,
    );
  return to;
}

function checkStatus(status: number, host: string): void {
  if (status >= 200 && status < 300 && status !== PARTIAL_CONTENT) return;
  const meaning = STATUS_CODES[status];
  throw fetchFailed(
    `${host} answered with status ${status}${meaning === undefined ? "" : ` (${meaning})`}.${ADVICE[status] ?? ""}`,
  );
}

function first(headers: IncomingHttpHeaders, name: keyof IncomingHttpHeaders): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** A signal that is aborted with the error when the time is over. */
function timeLimit(ms: number, code: "FETCH_FAILED" | "FETCH_TIMEOUT", message: string) {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new ServiceError(code, message)), ms);
  return { signal: controller.signal, end: () => clearTimeout(timer) };
}

const seconds = (ms: number) => `${ms / 1_000} s`;
