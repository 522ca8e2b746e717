import { createHash } from "node:crypto";
import { lookup as lookUpName } from "node:dns/promises";
import { STATUS_CODES } from "node:http";
import { Client, type Dispatcher } from "undici";
import { ServiceError } from "../../core/errors.ts";
import type { Clock } from "../../core/ports.ts";
import type { FetchedPage, FetchOptions, UrlFetcher } from "../../core/documents/url-fetcher.ts";
import { machineAddresses } from "./address-class.ts";
import {
  type Connector,
  directConnector,
  parseProxy,
  proxyConnector,
  proxyHeaders,
  proxyRefusal,
} from "./connection.ts";
import { ACCEPTED_ENCODINGS, decodeContent } from "./content-decoding.ts";
import { fetchFailure } from "./fetch-failure.ts";
import { charsetOf, filenameOf, lengthOf, mediaTypeOf, utf8OfLatin1 } from "./response-head.ts";
import {
  checkStep,
  type JudgedTarget,
  type Lookup,
  TargetGuard,
  type TargetGuardOptions,
} from "./target-guard.ts";
import { hostOf } from "./target-url.ts";

/** Milliseconds of a monotonic clock, so that a clock that is set, or a machine that slept, ends nothing. */
export interface FetchTimeouts {
  /** To find the address of a host, connect and agree on encryption; again for every redirect. */
  readonly reachMs: number;
  /** From the request to the whole head of the answer; again for every redirect. */
  readonly answerMs: number;
  /** Between two pieces of the body; what the sink takes does not count. */
  readonly idleMs: number;
  /** For everything. */
  readonly totalMs: number;
}

export interface UrlFetcherOptions {
  /** Of the program, for its user agent. */
  readonly version: string;
  readonly clock: Clock;
  /** Of a body, as it arrives and unpacked. */
  readonly maxBytes: number;
  /** Whether loopback and private addresses may be fetched; asked at every target, since keys may be made meanwhile. */
  readonly privateTargets: () => "allow" | "deny";
  /** Where the daemon listens, once it does. */
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

/** Being offline is to be answered within 10 s. */
const DEFAULT_TIMEOUTS = { reachMs: 9_000, answerMs: 20_000, idleMs: 20_000, totalMs: 300_000 };
const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Sites with long lists of allowed sources pass Node's 16 KiB. */
const MAX_HEAD_BYTES = 64 * 1024;
const ACCEPT =
  "text/html, application/xhtml+xml, text/markdown;q=0.9, text/plain;q=0.9, application/pdf;q=0.9, */*;q=0.8";
/** A part of what was asked for; nobody asked for a part. */
const PARTIAL_CONTENT = 206;
const PROXY_AUTHENTICATION_REQUIRED = 407;
const ADVICE: Readonly<Record<number, string>> = {
  401: " The page asks for a login.",
  403: " The page asks for a login, or the site wants no programs.",
  429: " Try again later.",
  503: " Try again later.",
};

/** An answer whose head has arrived. */
interface Answer {
  readonly target: JudgedTarget;
  readonly response: Dispatcher.ResponseData;
  readonly headers: ReadonlyMap<string, string>;
  /** Why the connection broke: a body that ends with the connection would pass for whole. */
  readonly broken: () => Error | undefined;
  readonly close: () => void;
}

/**
 * Fetches with one connection per request, to judged addresses only: no cookies, no referrer, nothing of the user.
 *
 * @throws {TypeError} for a proxy that is none.
 */
export function createUrlFetcher(options: UrlFetcherOptions): UrlFetcher {
  const { certificateAuthorities: ca, clock, maxBytes } = options;
  const timeouts: FetchTimeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const connecting = { timeout: timeouts.reachMs, ...(ca !== undefined && { ca }) };
  const proxy = options.proxy === undefined ? undefined : parseProxy(options.proxy);
  const guardWith = (privateTargets: TargetGuardOptions["privateTargets"]) =>
    new TargetGuard({
      // In the system's order, which knows whether IPv6 works here.
      lookup: (name) => lookUpName(name, { all: true, verbatim: true }),
      machineAddresses,
      ...options,
      privateTargets,
      viaProxy: proxy !== undefined,
    });
  const usualGuard = guardWith(options.privateTargets);
  const publicGuard = guardWith(() => "never");
  const guardFor = ({ publicOnly = false }: Pick<FetchOptions, "publicOnly">) =>
    publicOnly ? publicGuard : usualGuard;

  return {
    check: (url, checkOptions = {}) => void guardFor(checkOptions).parse(url),
    fetch: async (text, fetchOptions) => {
      const url = guardFor(fetchOptions).parse(text);
      const total = timeLimit(
        timeouts.totalMs,
        new ServiceError(
          "FETCH_TIMEOUT",
          `The URL could not be fetched whole within ${seconds(timeouts.totalMs)}.`,
        ),
      );
      const { signal = total.signal } = fetchOptions;
      try {
        return await follow(url, { ...fetchOptions, signal: AbortSignal.any([total.signal, signal]) });
      } finally {
        total.end();
      }
    },
  };

  async function follow(start: URL, fetching: Fetching): Promise<FetchedPage> {
    const guard = guardFor(fetching);
    let url = start;
    let previous: JudgedTarget | undefined;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const answer = await open(url, previous, guard, fetching.signal);
      try {
        const location = answer.headers.get("location");
        if (location === undefined || !REDIRECTS.has(answer.response.statusCode)) {
          return { fetchedAt: clock.now(), ...(await receive(url, answer, fetching)) };
        }
        url = redirectTarget(utf8OfLatin1(location), url, guard);
        previous = answer.target;
      } finally {
        answer.close();
      }
    }
    throw new ServiceError("FETCH_FAILED", `${hostOf(start)} redirects more than ${MAX_REDIRECTS} times.`);
  }

  async function open(
    url: URL,
    previous: JudgedTarget | undefined,
    guard: TargetGuard,
    fetchSignal: AbortSignal,
  ): Promise<Answer> {
    const host = hostOf(url);
    // Who never reached anybody was not answered slowly: most likely there is no way out.
    const unreached = `${host} could not be reached within ${seconds(timeouts.reachMs)}. Is this machine online?`;
    const reach = timeLimit(timeouts.reachMs, new ServiceError("FETCH_FAILED", unreached));
    const signal = AbortSignal.any([fetchSignal, reach.signal]);
    let client: Client | undefined;
    let broken: Error | undefined;
    try {
      const target = await guard.judge(url, signal);
      checkStep(previous, target);
      const connect: Connector =
        proxy === undefined
          ? directConnector(target, connecting, (address) => void guard.checkAddress(address, url))
          : proxyConnector(url, proxy, connecting);
      client = new Client(url.origin, {
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
      const response = await client.request(requestFor(url, signal));
      const headers = new Map(
        Object.entries(response.headers).flatMap(([name, value]) => {
          const first = Array.isArray(value) ? value[0] : value;
          return first === undefined ? [] : [[name, first] as const];
        }),
      );
      if (proxy !== undefined && response.statusCode === PROXY_AUTHENTICATION_REQUIRED)
        throw proxyRefusal(PROXY_AUTHENTICATION_REQUIRED, host);
      return { target, response, headers, broken: () => broken, close: () => hangUp(client) };
    } catch (error) {
      hangUp(client);
      throw signal.aborted ? signal.reason : explained(error, host);
    } finally {
      reach.end();
    }
  }

  function requestFor(url: URL, signal: AbortSignal): Dispatcher.RequestOptions {
    // Inside a tunnel the proxy reads nothing.
    const proxied = url.protocol === "http:" ? proxy : undefined;
    return {
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
    };
  }

  /** Writes the body into the sink, piece by piece. The sink's errors pass as they are. */
  async function receive(url: URL, answer: Answer, { sink, signal, onProgress }: Fetching) {
    const { headers, response, broken } = answer;
    const host = hostOf(url);
    checkStatus(response.statusCode, host);
    const totalBytes = lengthOf(headers.get("content-length"));
    if ((totalBytes ?? 0) > maxBytes) throw tooLarge();

    async function* arriving(): AsyncGenerator<Uint8Array> {
      let receivedBytes = 0;
      for await (const chunk of response.body as AsyncIterable<Buffer>) {
        receivedBytes += chunk.length;
        if (receivedBytes > maxBytes) throw tooLarge();
        onProgress?.({ receivedBytes, totalBytes });
        yield chunk;
      }
      const failure = broken();
      if (failure !== undefined) throw failure;
    }
    /** Here only the network's errors are translated. */
    async function* body(): AsyncGenerator<Uint8Array> {
      try {
        for await (const chunk of decodeContent(arriving(), headers.get("content-encoding"))) {
          signal.throwIfAborted();
          yield chunk;
        }
        signal.throwIfAborted();
      } catch (error) {
        throw signal.aborted ? signal.reason : explained(error, host);
      }
    }

    const hash = createHash("sha256");
    let bytes = 0;
    for await (const chunk of body()) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw tooLarge();
      hash.update(chunk);
      await sink.write(chunk);
    }
    return {
      url: url.href,
      contentType: mediaTypeOf(headers.get("content-type")),
      charset: charsetOf(headers.get("content-type")),
      filename: filenameOf(headers.get("content-disposition"), url),
      bytes,
      sha256: hash.digest("hex"),
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

  function tooLarge(): ServiceError {
    return new ServiceError(
      "TOO_LARGE",
      `The page is larger than the limit of ${maxBytes / 1_000_000} MB (--max-upload-bytes).`,
    );
  }
}

type Fetching = FetchOptions & { readonly signal: AbortSignal };

/** The URL to go on with. What the caller could not know of is the server's fault, but a blocked target stays one. */
function redirectTarget(location: string, from: URL, guard: TargetGuard): URL {
  const host = hostOf(from);
  let to: URL;
  try {
    to = guard.parse(location, from);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "INVALID_REQUEST") throw error;
    throw new ServiceError(
      "FETCH_FAILED",
      `${host} redirects to an address that is not fetched. ${error.message}`,
    );
  }
  if (from.protocol === "https:" && to.protocol === "http:") {
    throw new ServiceError(
      "FETCH_FAILED",
      `${host} redirects to ${hostOf(to)} without encryption, where anybody on the way could change the page. Give the http:// address itself if that is acceptable.`,
    );
  }
  return to;
}

function checkStatus(status: number, host: string): void {
  if (status >= 200 && status < 300 && status !== PARTIAL_CONTENT) return;
  const meaning = STATUS_CODES[status];
  throw new ServiceError(
    "FETCH_FAILED",
    `${host} answered with status ${status}${meaning === undefined ? "" : ` (${meaning})`}.${ADVICE[status] ?? ""}`,
  );
}

/** Not waited for: a connection that is being made ends with its own time limit. */
function hangUp(client: Client | undefined): void {
  client?.destroy().catch(() => undefined);
}

/** A signal that is aborted with the failure when the time is over. */
function timeLimit(ms: number, failure: ServiceError) {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(failure), ms);
  return { signal: controller.signal, end: () => clearTimeout(timer) };
}

function seconds(ms: number): string {
  return `${ms / 1_000} s`;
}
