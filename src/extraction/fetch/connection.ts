import { request as httpRequest } from "node:http";
import type { Socket } from "node:net";
import { buildConnector } from "undici";
import { ServiceError } from "../../core/errors.ts";
import { fetchFailure } from "./fetch-failure.ts";
import type { JudgedTarget } from "./target-guard.ts";
import { hostOf, portOf } from "./target-url.ts";

/** How long one of several addresses may hold up the next; Node's 250 ms give up on merely distant hosts. */
const ATTEMPT_MS = 2_000;

export type Connector = buildConnector.connector;

interface Connecting {
  /** In milliseconds; no connection that is given up outlasts it. */
  readonly timeout: number;
  /** Certificates in PEM to trust instead of those that Node trusts. */
  readonly ca?: string;
}

const connectorWith = (options: buildConnector.BuildOptions) =>
  buildConnector({
    allowH2: false,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ATTEMPT_MS,
    ...options,
  });

/**
 * Connects to one of the judged addresses and no other, and judges once more by the address that was connected to. For
 * `https` the certificate must be the name's.
 *
 * @param verify throws if the URL must not be fetched from that address.
 */
export function directConnector(
  { addresses }: JudgedTarget,
  connecting: Connecting,
  verify: (remoteAddress: string) => void,
): Connector {
  const connect = connectorWith({
    ...connecting,
    // A second lookup could answer what was never judged.
    lookup: (_name, { all }, answer) => {
      const [first] = addresses;
      if (all === true || first === undefined) answer(null, [...addresses]);
      else answer(null, first.address, first.family);
    },
  });
  return (options, callback) =>
    connect(options, (error, socket) => {
      if (error !== null) return callback(error, null);
      try {
        verify(socket.remoteAddress ?? "");
        callback(null, socket);
      } catch (refusal) {
        socket.destroy();
        callback(refusal as Error, null);
      }
    });
}

/** What the user configured, trusted: its address is not judged. */
export interface Proxy {
  /** `http:` or `https:`; user name and password are sent to it as Basic authorisation. */
  readonly url: URL;
}

/** @throws {TypeError} for what is no proxy. */
export function parseProxy(text: string): Proxy {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new TypeError("a proxy is given as http://HOST:PORT or https://HOST:PORT");
  }
  return { url };
}

/** Headers for the proxy itself. */
export function proxyHeaders({ url }: Proxy): Record<string, string> {
  if (url.username === "" && url.password === "") return {};
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(credentials).toString("base64")}` };
}

/**
 * Connects to the proxy for `http` targets, through it for `https` ones. Errors of the way to the proxy are told as
 * such, since it is the user's own.
 */
export function proxyConnector(target: URL, proxy: Proxy, connecting: Connecting): Connector {
  const connect = connectorWith(connecting);
  const { url } = proxy;
  const toProxy = {
    hostname: hostOf(url),
    host: url.host,
    protocol: url.protocol,
    port: String(portOf(url)),
  };
  return (options, callback) =>
    connect(toProxy, (error, socket) => {
      if (error !== null) return callback(fetchFailure(error, "The proxy") as Error, null);
      if (target.protocol === "http:") return callback(null, socket);
      askForTunnel(socket, target, proxy, (refusal) => {
        if (refusal === undefined) return connect({ ...options, httpSocket: socket }, callback);
        socket.destroy();
        callback(refusal, null);
      });
    });
}

function askForTunnel(
  socket: Socket,
  target: URL,
  proxy: Proxy,
  answer: (refusal: Error | undefined) => void,
): void {
  const authority = `${target.hostname}:${portOf(target)}`;
  const request = httpRequest({
    method: "CONNECT",
    path: authority,
    headers: { host: authority, ...proxyHeaders(proxy) },
    createConnection: () => socket,
  });
  let isAnswered = false;
  const answerOnce = (refusal: Error | undefined) => {
    if (!isAnswered) answer(refusal);
    isAnswered = true;
  };
  request.once("connect", ({ statusCode = 0 }, _socket, head: Buffer) => {
    if (head.length > 0) socket.unshift(head);
    const isOpen = statusCode >= 200 && statusCode <= 299;
    answerOnce(isOpen ? undefined : proxyRefusal(statusCode, hostOf(target)));
  });
  request.on("error", (error) => answerOnce(fetchFailure(error, "The proxy") as Error));
  request.end();
}

/** What a proxy's own answer means. */
export function proxyRefusal(status: number, host: string): ServiceError {
  return new ServiceError(
    "FETCH_FAILED",
    status === 407
      ? "The proxy asks for a user name and password. Put them into MEMORYD_HTTP_PROXY: http://NAME:PASSWORD@HOST:PORT."
      : `The proxy refused to connect to ${host} (status ${status}).`,
  );
}
