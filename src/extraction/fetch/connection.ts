import type { Socket } from "node:net";
import { createRequire } from "node:module";
import type * as undiciTypes from "undici";
import type { buildConnector } from "undici";
import { fetchFailed, ServiceError } from "../../core/errors.ts";
import { hostOf, type JudgedTarget, portOf } from "./target.ts";
import { pipeline, Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";
import { decodedAddress } from "../../files/text-decoding.ts";

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

const MAX_FILENAME_LENGTH = 256;
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const MEDIA_TYPE = new RegExp(`^\\s*(${TOKEN}/${TOKEN})\\s*(?:;|$)`);
const DISPOSITION_NAME = /;\s*(filename\*?)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]*))/gi;
/** RFC 8187: `charset'language'percent-encoded`. */
const EXTENDED_VALUE = /^(utf-8|iso-8859-1)'[^']*'(.*)$/i;
/** Control characters, and those that make a name read otherwise than it is. */
const DECEIVING = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** The type of a `Content-Type` in lower case; null where it is missing or malformed. */
export const mediaTypeOf = (contentType: string | undefined): string | null =>
  MEDIA_TYPE.exec(contentType ?? "")?.[1]?.toLowerCase() ?? null;

/** The length that the server promises; null where it does not. */
export const lengthOf = (length: string | undefined): number | null =>
  length !== undefined && /^\d{1,15}$/.test(length) ? Number(length) : null;

/** The name of the document by the header (RFC 6266), else the last part of the URL's path; null for neither. */
export function filenameOf(contentDisposition: string | undefined, url: URL): string | null {
  const values = new Map<string, string>();
  for (const [, name = "", quoted, plain = ""] of (contentDisposition ?? "").matchAll(DISPOSITION_NAME))
    values.set(name.toLowerCase(), quoted?.replace(/\\(.)/g, "$1") ?? plain.trim());
  const [, charset = "", encoded = ""] = EXTENDED_VALUE.exec(values.get("filename*") ?? "") ?? [];
  return (
    cleanName(charset.toLowerCase() === "utf-8" ? decodedAddress(encoded) : latin1(encoded)) ??
    cleanName(utf8OfLatin1(values.get("filename") ?? "")) ??
    cleanName(decodedAddress(url.pathname.split("/").at(-1) ?? ""))
  );
}

/** Node reads headers as Latin-1, while servers that send more than ASCII mean UTF-8. */
export function utf8OfLatin1(value: string): string {
  const text = Buffer.from(value, "latin1").toString("utf8");
  return text.includes("\ufffd") ? value : text;
}

const latin1 = (encoded: string): string =>
  encoded.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

function cleanName(name: string): string | null {
  const base = name.normalize("NFC").replace(DECEIVING, "").trim().split(/[\\/]/).at(-1)?.trim() ?? "";
  if (/^\.*$/.test(base)) return null;
  const extension = /\.[^.]{1,16}$/.exec(base)?.[0] ?? "";
  const characters = Array.from(base);
  if (characters.length <= MAX_FILENAME_LENGTH) return base;
  return characters.slice(0, MAX_FILENAME_LENGTH - extension.length).join("") + extension;
}

/** Encodings that `decodeContent` supports, for the request. */
export const ACCEPTED_ENCODINGS = "gzip, deflate, br";

/**
 * The body without its content encoding, piece by piece; its length is for the caller to limit.
 * @throws {ServiceError} FETCH_FAILED for an encoding that was not asked for; zlib's errors for damage.
 */
export async function* decodeContent(
  wire: AsyncIterable<Uint8Array>,
  contentEncoding: string | undefined,
): AsyncGenerator<Uint8Array> {
  const encoding = (contentEncoding ?? "").trim().toLowerCase();
  if (encoding === "" || encoding === "identity") return yield* wire;
  const arriving = wire[Symbol.asyncIterator]();
  const first = await arriving.next();
  // An empty body is not compressed, whatever its header says.
  if (first.done === true) return;
  const packed = async function* () {
    for (let next: IteratorResult<Uint8Array> = first; next.done !== true; next = await arriving.next())
      yield next.value;
  };
  const decoder = decoderFor(encoding, first.value);
  // Errors reach the reader through the decoder, which is destroyed with them.
  yield* pipeline(Readable.from(packed(), { objectMode: false }), decoder, () => {});
}

function decoderFor(encoding: string, first: Uint8Array): Transform {
  switch (encoding) {
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "br":
      return createBrotliDecompress();
    case "deflate":
      // Zlib's format by the standard; some servers leave its header out.
      return ((first[0] ?? 0) & 0x0f) === 0x08 ? createInflate() : createInflateRaw();
    default:
      throw fetchFailed("The page was sent in a content encoding that was not asked for.");
  }
}
