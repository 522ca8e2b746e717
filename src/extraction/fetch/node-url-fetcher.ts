import { lookup as lookUpName } from "node:dns/promises";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { ServiceError } from "../../core/errors.ts";
import type { Clock } from "../../core/ports.ts";
import type { FetchedPage, FetchOptions, UrlFetcher } from "../../core/documents/url-fetcher.ts";
import { connectDirectly, connectThroughProxy, parseProxy } from "./connection.ts";
import { fetchFailure } from "./fetch-failure.ts";
import { machineAddresses } from "./own-address.ts";
import { receivePage } from "./receive-page.ts";
import { checkStep, locationOf, redirectTarget } from "./redirect.ts";
import { requestPage } from "./request-page.ts";
import { type JudgedTarget, type Lookup, TargetGuard, type TargetGuardOptions } from "./target-guard.ts";
import { hostOf } from "./target-url.ts";
import { DEFAULT_TIMEOUTS, TimeLimits, type FetchTimeouts } from "./time-limits.ts";

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

const MAX_REDIRECTS = 5;

/** An answer whose head has arrived. */
interface Answer {
  readonly target: JudgedTarget;
  readonly socket: Socket;
  readonly response: IncomingMessage;
}

/**
 * Fetches with Node's own HTTP, one connection a request.
 *
 * @throws {TypeError} for a proxy that is none.
 */
export function createUrlFetcher(options: UrlFetcherOptions): UrlFetcher {
  const { certificateAuthorities, clock, maxBytes } = options;
  const proxy = options.proxy === undefined ? undefined : parseProxy(options.proxy);
  const userAgent = `memoryd/${options.version} (+local)`;
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
      const limits = new TimeLimits({ ...DEFAULT_TIMEOUTS, ...options.timeouts }, fetchOptions.signal);
      try {
        return await follow(url, limits, fetchOptions);
      } finally {
        limits.end();
      }
    },
  };

  async function follow(
    start: URL,
    limits: TimeLimits,
    { sink, onProgress, ...checkOptions }: FetchOptions,
  ): Promise<FetchedPage> {
    const guard = guardFor(checkOptions);
    const parse = (target: string, base?: URL) => guard.parse(target, base);
    const receiving = { limits, maxBytes, sink, ...(onProgress && { onProgress }) };
    let url = start;
    let previous: JudgedTarget | undefined;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const { target, socket, response } = await open(url, previous, { guard, limits });
      try {
        const location = locationOf(response);
        if (location === undefined) {
          return { fetchedAt: clock.now(), ...(await receivePage(url, response, receiving)) };
        }
        url = redirectTarget(location, url, parse);
        previous = target;
      } finally {
        socket.destroy();
      }
    }
    throw new ServiceError("FETCH_FAILED", `${hostOf(start)} redirects more than ${MAX_REDIRECTS} times.`);
  }

  async function open(
    url: URL,
    previous: JudgedTarget | undefined,
    { guard, limits }: { readonly guard: TargetGuard; readonly limits: TimeLimits },
  ): Promise<Answer> {
    const host = hostOf(url);
    const { signal } = limits;
    let socket: Socket | undefined;
    try {
      limits.begin("reach", host);
      const target = await guard.judge(url, signal);
      checkStep(previous, target);
      socket = await connect(target, guard, signal);
      limits.begin("answer", host);
      const response = await requestPage(socket, { url, userAgent, proxy }, signal);
      return { target, socket, response };
    } catch (error) {
      socket?.destroy();
      throw signal.aborted ? signal.reason : fetchFailure(error, host);
    }
  }

  function connect(target: JudgedTarget, guard: TargetGuard, signal: AbortSignal): Promise<Socket> {
    const verify = (address: string, url: URL) => void guard.checkAddress(address, url);
    return proxy === undefined
      ? connectDirectly(target, { certificateAuthorities, verify }, signal)
      : connectThroughProxy(target.url, proxy, certificateAuthorities, signal);
  }
}
