/** Who may call: settings of access, checked once at start. */
import { createHash, timingSafeEqual } from "node:crypto";
import { isIP } from "node:net";
import { ServiceError } from "../core/errors.ts";

export type Scope = "read" | "write" | "admin";

export interface AccessOptions {
  /** At least 16 characters; left out: no key is asked, and only loopback is served. */
  readonly apiKey?: string;
  /** What the daemon's own command line sends where a key is needed. */
  readonly localToken?: string;
  /** The address listened on, 127.0.0.1 where left out. */
  readonly host?: string;
  /** `name` or `name:port` that a Host header may carry besides the bound ones. */
  readonly allowedHosts?: readonly string[];
  /** `scheme://name[:port]` of web pages that may call. */
  readonly allowedOrigins?: readonly string[];
}

/** Who sends a request, as far as the daemon knows. */
export interface Caller {
  /** Tells callers apart in idempotency keys; the same after a restart. */
  readonly id: string;
  /** The key's name, for `created_by`. */
  readonly name: string | null;
  readonly scope: Scope;
  /** The one user whose data it reaches; undefined: everybody's. */
  readonly userId?: string;
}

export interface Access {
  readonly keyNeeded: boolean;
  /** Lower-case names without port that the daemon itself answers to. */
  readonly boundNames: ReadonlySet<string>;
  /** Lower-case, each `name` (any port) or `name:port`. */
  readonly allowedHosts: ReadonlySet<string>;
  readonly allowedOrigins: ReadonlySet<string>;
  /** The caller that a key belongs to, in time that does not depend on the key. */
  readonly callerOf: (key: string) => Caller | undefined;
}

/** A key shorter than this can be guessed. */
export const MIN_KEY_LENGTH = 16;
/** Visible ASCII: headers carry nothing else. */
export const KEY_CHARACTERS = /^[!-~]+$/;
const LOOPBACK_NAMES = ["127.0.0.1", "localhost", "[::1]"];

/** The caller id of the daemon's own command line. */
export const LOCAL_TOKEN_ID = "local-token";

/** The daemon's owner, when no key is configured. */
export const OWNER: Caller = { id: "owner", name: null, scope: "admin" };

/** @throws {ServiceError} INVALID_REQUEST for settings that leave the daemon open; says how to close it. */
export function resolveAccess(options: AccessOptions): Access {
  const { apiKey, localToken, host = "127.0.0.1", allowedHosts = [], allowedOrigins = [] } = options;
  if (apiKey !== undefined && apiKey.length < MIN_KEY_LENGTH) {
    throw new ServiceError(
      "INVALID_REQUEST",
      `The API key is shorter than ${MIN_KEY_LENGTH} characters. Choose a longer one.`,
    );
  }
  if (apiKey !== undefined && !KEY_CHARACTERS.test(apiKey)) {
    throw new ServiceError(
      "INVALID_REQUEST",
      "The API key must be visible ASCII, as headers carry nothing else.",
    );
  }
  if (apiKey === undefined) {
    const open = [host, ...allowedHosts.map(nameIn)].find((name) => !isLoopback(name));
    if (open !== undefined) {
      throw new ServiceError(
        "INVALID_REQUEST",
        `Without an API key memoryd serves this machine only, not ${open}. Set MEMORYD_API_KEY, or leave that address out.`,
      );
    }
  }

  const callers: { readonly digest: Buffer; readonly caller: Caller }[] = [];
  if (apiKey !== undefined)
    callers.push({ digest: digest(apiKey), caller: { id: "api-key", name: null, scope: "admin" } });
  if (localToken !== undefined) {
    callers.push({ digest: digest(localToken), caller: { id: LOCAL_TOKEN_ID, name: null, scope: "admin" } });
  }

  return {
    keyNeeded: apiKey !== undefined,
    boundNames: new Set([...LOOPBACK_NAMES, bracketed(host.toLowerCase())]),
    allowedHosts: new Set(allowedHosts.map((name) => name.toLowerCase())),
    allowedOrigins: new Set(allowedOrigins.map(originOf)),
    callerOf(key) {
      const presented = digest(key);
      let found: Caller | undefined;
      for (const { digest, caller } of callers) if (timingSafeEqual(digest, presented)) found = caller;
      return found;
    },
  };
}

/**
 * True for what only this machine can reach: `localhost` and the names below it (RFC 6761), 127.0.0.0/8 and ::1, in
 * brackets or not.
 */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, "$1");
  if (isIP(name) !== 0) return name === "::1" || name.startsWith("127.");
  return name === "localhost" || name.endsWith(".localhost");
}

/** An allowed host without its port. */
export function nameIn(allowedHost: string): string {
  return splitHost(allowedHost)?.name ?? allowedHost;
}

/** A Host header in its parts, lower case, port 80 where none is named; undefined for any other text. */
export function splitHost(host: string): { readonly name: string; readonly port: number } | undefined {
  const match = /^(\[[0-9a-f:.]+\]|[^\s:/@[\]]+)(?::(\d{1,5}))?$/.exec(host.toLowerCase());
  return match?.[1] === undefined ? undefined : { name: match[1], port: Number(match[2] ?? 80) };
}

/** An address as it stands in a Host header. */
export function bracketed(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}

function originOf(text: string): string {
  const origin = URL.canParse(text) ? new URL(text).origin : "null";
  if (origin === "null") {
    throw new ServiceError(
      "INVALID_REQUEST",
      `"${text}" is not an origin. Write it as https://notes.example or http://localhost:3000.`,
    );
  }
  return origin;
}

function digest(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}
