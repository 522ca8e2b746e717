import { ServiceError } from "../../core/errors.ts";

const NOT_TRUSTED = "shows a certificate that no authority known here has signed";

/** What happened, by the code of Node's error, as the end of a sentence about the host. */
const WHAT_HAPPENED: Readonly<Record<string, string>> = {
  ENOTFOUND: "was not found: there is no such name, or this machine is offline",
  ENODATA: "was not found: the name has no address",
  EAI_AGAIN: "could not be looked up: the name server does not answer. Is this machine online?",
  EAI_FAIL: "could not be looked up: the name server failed",
  ECONNREFUSED: "refuses connections: nothing listens there",
  ECONNRESET: "broke the connection before all was sent",
  EPIPE: "broke the connection",
  ERR_STREAM_PREMATURE_CLOSE: "broke the connection before all was sent",
  ENETUNREACH: "cannot be reached from here. Is this machine online?",
  ENETDOWN: "cannot be reached from here. Is this machine online?",
  EHOSTUNREACH: "cannot be reached from here. Is this machine online?",
  EADDRNOTAVAIL: "cannot be reached from here",
  ETIMEDOUT: "could not be reached in time",
  EACCES: "may not be connected to from here: a firewall forbids it",
  EPERM: "may not be connected to from here: a firewall forbids it",
  DEPTH_ZERO_SELF_SIGNED_CERT: NOT_TRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: NOT_TRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: NOT_TRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: NOT_TRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: NOT_TRUSTED,
  CERT_HAS_EXPIRED: "shows a certificate that has expired",
  CERT_NOT_YET_VALID: "shows a certificate that is not valid yet; is this machine's clock right?",
  CERT_REVOKED: "shows a certificate that was revoked",
  ERR_TLS_CERT_ALTNAME_INVALID: "shows a certificate that was made for another name",
  UND_ERR_SOCKET: "broke the connection before all was sent",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "broke the connection before all was sent",
  UND_ERR_HEADERS_OVERFLOW: "sent a head of the answer that is too long",
};

/** For the codes that come in families. */
const FAMILIES: readonly (readonly [codes: RegExp, whatHappened: string])[] = [
  [/^HPE_/, "did not answer in correct HTTP"],
  [/^(EPROTO$|ERR_SSL_|ERR_TLS_|ERR_OSSL_|CERT_)/, "could not be connected to securely"],
  [/^UND_ERR_/, "could not be fetched: the connection failed"],
  [/^(Z_|ERR__|ERR_BROTLI)/, "sent a packed body that cannot be unpacked, or only a part of it"],
  [/^E(?!RR_)[A-Z_]+$/, "could not be fetched: the connection failed"],
];

/**
 * What a network error means to the caller: who failed and how, never anything that was sent.
 * Other errors (a limit that was passed, an abort, a bug) are returned as they are.
 */
export function fetchFailure(error: unknown, host: string): unknown {
  const code = codeOf(error);
  if (error instanceof ServiceError || code === undefined) return error;
  const what = WHAT_HAPPENED[code] ?? FAMILIES.find(([codes]) => codes.test(code))?.[1];
  if (what === undefined) return error;
  return new ServiceError("FETCH_FAILED", `${host} ${what}${/[.?]$/.test(what) ? "" : "."}`, {
    cause: error,
  });
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (error.name === "HTTPParserError") return "HPE_INVALID";
  if ("code" in error && typeof error.code === "string") return error.code;
  return error instanceof AggregateError ? codeOf(error.errors[0]) : undefined;
}
