import { fetchFailed, ServiceError } from "../../core/errors.ts";

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
