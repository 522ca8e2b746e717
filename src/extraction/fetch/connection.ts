import type { Socket } from "node:net";
import { createRequire } from "node:module";
import type * as undiciTypes from "undici";
import type { buildConnector } from "undici";
import { fetchFailed, ServiceError } from "../../core/errors.ts";
import { hostOf, type JudgedTarget, portOf } from "./target.ts";

/** How long one of several addresses may hold up the next; Node's 250 ms give up on merely distant hosts. */
const ATTEMPT_MS = 2_000;

/** Loaded by the first fetch: it takes .1 s and 20 MB, and many a daemon fetches nothing. */
export const undici = () => createRequire(import.meta.url)("undici") as typeof undiciTypes;

export type Connector = buildConnector.connector;

interface Connecting {
  /** In milliseconds; no connection that is given up outlasts it. */
  readonly timeout: number;
  /** Certificates in PEM to trust instead of those that Node trusts. */
  readonly ca?: string;
}

const connectorWith = (options: buildConnector.BuildOptions) =>
  undici().buildConnector({
    allowH2: false,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ATTEMPT_MS,
    ...options,
  });

/**
 * Connects to one of the judged addresses and no other, and judges once more by the address that was connected to. For
 * `https` the certificate must be the name's.
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

/** @returns the URL of a proxy. @throws {TypeError} for text that is none. */
export function parseProxy(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:"))
    throw new TypeError("a proxy is given as http://HOST:PORT or https://HOST:PORT");
  return url;
}

/** Headers for the proxy itself: its user name and password, where it has any. */
export function proxyHeaders({ username, password }: URL): Record<string, string> {
  if (username === "" && password === "") return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(credentials).toString("base64")}` };
}

/** Connects to the proxy, and through it for `https`; its own address is not judged. */
export function proxyConnector(target: URL, proxy: URL, connecting: Connecting): Connector {
  const connect = connectorWith(connecting);
  const failed = (error: unknown) => fetchFailure(error, "The proxy") as Error;
  if (target.protocol === "http:")
    return (options, callback) =>
      connect(options, (error, socket) =>
        error === null ? callback(null, socket) : callback(failed(error), null),
      );
  return (options, answer) => {
    openTunnel(target, proxy, connecting).then(
      (httpSocket) => connect({ ...options, httpSocket }, answer),
      (error: unknown) => answer(failed(error), null),
    );
  };
}

async function openTunnel(target: URL, proxy: URL, connecting: Connecting): Promise<Socket> {
  const client = new (undici().Client)(proxy.origin, {
    connect: connectorWith(connecting),
    headersTimeout: connecting.timeout,
  });
  const path = `${target.hostname}:${portOf(target)}`;
  const { socket, statusCode } = await client.connect({
    path,
    headers: { host: path, ...proxyHeaders(proxy) },
  });
  if (statusCode >= 200 && statusCode <= 299) return socket as Socket;
  socket.on("error", () => undefined).destroy();
  throw proxyRefusal(statusCode, hostOf(target));
}

/** The error for a proxy's own reply. */
export function proxyRefusal(status: number, host: string): ServiceError {
  return fetchFailed(
    status === 407
      ? "The proxy asks for a user name and password. Put them into MEMORYD_HTTP_PROXY: http://NAME:PASSWORD@HOST:PORT."
      : `The proxy refused to connect to ${host} (status ${status}).`,
  );
}

const BROKE_OFF = "broke the connection before all was sent";
const OFFLINE = "cannot be reached from here. Is this machine online?";
const BLOCKED = "cannot be connected to from here: a firewall forbids it";
const NOT_TRUSTED = "shows a certificate that no authority known here has signed";

/** Causes by error code, as the end of a sentence about the host. The first match counts. */
const WHAT_HAPPENED: readonly (readonly [codes: RegExp, whatHappened: string])[] = [
  [/^(ENOTFOUND|ENODATA)$/, "was not found: there is no such name, or this machine is offline"],
  [/^EAI_/, "could not be looked up: the name server does not answer. Is this machine online?"],
  [/^ECONNREFUSED$/, "refuses connections: nothing listens there"],
  [/^(ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE)$/, BROKE_OFF],
  [/^UND_ERR_(SOCKET|RES_CONTENT_LENGTH_MISMATCH)$/, BROKE_OFF],
  [/^(ENETUNREACH|ENETDOWN|EHOSTUNREACH|EADDRNOTAVAIL)$/, OFFLINE],
  [/^ETIMEDOUT$/, "could not be reached in time"],
  [/^(EACCES|EPERM)$/, BLOCKED],
  [/^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(GET|VERIFY)_)/, NOT_TRUSTED],
  [/^CERT_HAS_EXPIRED$/, "shows a certificate that has expired"],
  [/^CERT_NOT_YET_VALID$/, "shows a certificate that is not valid yet; is this machine's clock right?"],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, "shows a certificate that was made for another name"],
  [/^(EPROTO$|ERR_SSL_|ERR_TLS_|ERR_OSSL_|CERT_)/, "could not be connected to securely"],
  [/^HPE_/, "did not answer in correct HTTP"],
  [/^(Z_|ERR__|ERR_BROTLI)/, "sent a compressed body that cannot be unpacked, or only a part of it"],
  [/^(UND_ERR_|E(?!RR_)[A-Z_]+$)/, "could not be fetched: the connection failed"],
];

/** A network error as FETCH_FAILED, never with what was sent; other errors as they are. */
export function fetchFailure(error: unknown, host: string): unknown {
  const code = codeOf(error) ?? "";
  const what = WHAT_HAPPENED.find(([codes]) => codes.test(code))?.[1];
  if (error instanceof ServiceError || what === undefined) return error;
  const message = `${host} ${what}${what.endsWith("?") ? "" : "."}`;
  return fetchFailed(message, { cause: error });
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.name === "HTTPParserError") return "HPE_INVALID";
  if ("code" in error && typeof error.code === "string") return error.code;
  return error instanceof AggregateError ? codeOf(error.errors[0]) : undefined;
}
