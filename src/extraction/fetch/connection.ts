import { request as httpRequest } from "node:http";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { ServiceError } from "../../core/errors.ts";
import { unlessAborted } from "./unless-aborted.ts";
import { fetchFailure } from "./fetch-failure.ts";
import type { JudgedTarget } from "./target-guard.ts";
import { hostOf, portOf } from "./target-url.ts";

/** How long one of several addresses may hold up the next; Node's 250 ms give up on merely distant hosts. */
const ATTEMPT_MS = 2_000;

export interface ConnectionOptions {
  /** Certificates to trust instead of those Node trusts, in PEM. */
  readonly certificateAuthorities: string | undefined;
  /** Judges once more, by the address that was connected to: throws if the URL must not be fetched from it. */
  readonly verify: (remoteAddress: string, url: URL) => void;
}

/**
 * An open connection to one of the judged addresses, encrypted for `https`: the certificate must be the
 * name's. The caller destroys it.
 *
 * @throws network errors as Node has them, whatever `verify` throws; the signal's reason.
 */
export async function connectDirectly(
  { url, addresses }: JudgedTarget,
  { certificateAuthorities, verify }: ConnectionOptions,
  signal: AbortSignal,
): Promise<Socket> {
  const host = hostOf(url);
  const socket = connectTcp({
    host,
    port: portOf(url),
    // A second lookup could answer what was never judged.
    lookup: (_name, { all }, answer) => {
      const [first] = addresses;
      if (all === true || first === undefined) answer(null, [...addresses]);
      else answer(null, first.address, first.family);
    },
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ATTEMPT_MS,
  });
  return destroyedOnFailure(socket, async () => {
    await opened(socket, "connect", signal);
    const { remoteAddress } = socket;
    if (remoteAddress === undefined) throw Object.assign(new Error("closed at once"), { code: "ECONNRESET" });
    verify(remoteAddress, url);
    return url.protocol === "https:" ? encrypt(socket, host, certificateAuthorities, signal) : socket;
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
 * A connection to the proxy for `http` targets, through it for `https` ones. Errors of the way to the proxy
 * are told as such, since it is the user's own.
 *
 * @throws {ServiceError} FETCH_FAILED; as `connectDirectly` for the encryption with the target.
 */
export async function connectThroughProxy(
  target: URL,
  proxy: Proxy,
  certificateAuthorities: string | undefined,
  signal: AbortSignal,
): Promise<Socket> {
  const socket = await connectToProxy(proxy, certificateAuthorities, signal).catch((error: unknown) => {
    throw fetchFailure(error, "The proxy");
  });
  if (target.protocol === "http:") return socket;
  return destroyedOnFailure(socket, async () => {
    await askForTunnel(socket, target, proxy, signal);
    return encrypt(socket, hostOf(target), certificateAuthorities, signal);
  });
}

async function connectToProxy({ url }: Proxy, ca: string | undefined, signal: AbortSignal): Promise<Socket> {
  const socket = connectTcp({
    host: hostOf(url),
    port: portOf(url),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ATTEMPT_MS,
  });
  return destroyedOnFailure(socket, async () => {
    await opened(socket, "connect", signal);
    return url.protocol === "https:" ? encrypt(socket, hostOf(url), ca, signal) : socket;
  });
}

async function askForTunnel(socket: Socket, target: URL, proxy: Proxy, signal: AbortSignal): Promise<void> {
  const authority = `${target.hostname}:${portOf(target)}`;
  const request = httpRequest({
    method: "CONNECT",
    path: authority,
    headers: { host: authority, ...proxyHeaders(proxy) },
    createConnection: () => socket,
  });
  const status = new Promise<number>((resolve, reject) => {
    request.once("connect", ({ statusCode = 0 }, _socket, head: Buffer) => {
      if (head.length > 0) socket.unshift(head);
      resolve(statusCode);
    });
    request.on("error", (error) => reject(fetchFailure(error, "The proxy")));
  });
  request.end();
  const answer = await unlessAborted(status, signal);
  if (answer < 200 || answer > 299) throw proxyRefusal(answer, hostOf(target));
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

async function encrypt(
  socket: Socket,
  host: string,
  ca: string | undefined,
  signal: AbortSignal,
): Promise<Socket> {
  const secure = connectTls({
    socket,
    host,
    // A server name is a name: for an address the certificate is checked against `host`.
    ...(isIP(host) === 0 && { servername: host }),
    ALPNProtocols: ["http/1.1"],
    ...(ca !== undefined && { ca }),
  });
  return destroyedOnFailure(secure, async () => {
    await opened(secure, "secureConnect", signal);
    return secure;
  });
}

async function opened(
  socket: Socket,
  event: "connect" | "secureConnect",
  signal: AbortSignal,
): Promise<void> {
  const open = new Promise<void>((resolve, reject) => {
    socket.once(event, resolve);
    // Stays: what fails after the last answer has nobody to tell.
    socket.on("error", reject);
  });
  await unlessAborted(open, signal);
}

async function destroyedOnFailure(socket: Socket, use: () => Promise<Socket>): Promise<Socket> {
  try {
    return await use();
  } catch (error) {
    socket.destroy();
    throw error;
  }
}
