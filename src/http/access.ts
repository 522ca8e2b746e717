/** Access control: settings, checked once at start, and keys, checked with each request. */

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { isIP } from "node:net";
import type { ApiKey, KeyRing, Scope } from "../core/access/key-ring.ts";
import { conflict, invalidRequest } from "../core/errors.ts";
import type { Clock } from "../core/ports.ts";
import type { peerOf } from "./peer.ts";

export interface AccessOptions {
  /** At least 16 characters; left out: no key is asked, and only loopback is served. */
  readonly apiKey?: string;
  readonly keys: KeyRing;
  /** The token that the daemon's own command line sends in place of a key. */
  readonly localToken?: string;
  readonly host?: string;
  /** `name` or `name:port` that a Host header may carry besides the bound ones. */
  readonly allowedHosts?: readonly string[];
  /** `scheme://name[:port]` of web pages that may call. */
  readonly allowedOrigins?: readonly string[];
  /** Requests that a key may make, evenly spread; a minute's worth at once. Left out: as many as it likes. */
  readonly requestsPerMinute?: number;
  /** Proxies whose `X-Forwarded-For` is believed. */
  readonly trustedProxies?: readonly string[];
  readonly clock?: Clock;
  /** Finds the user at the other end of a connection; replaced in tests. */
  readonly peerOf?: typeof peerOf;
}

export interface Caller {
  /** Tells callers apart in idempotency keys; the same after a restart. */
  readonly id: string;
  /** The key's name; it stands for the writer where no header names one. */
  readonly name: string | null;
  readonly scope: Scope;
  /** The one user whose data it reaches; undefined: everybody's. */
  readonly userId?: string;
}

export type Access = ReturnType<typeof resolveAccess>;

/** A key shorter than this can be guessed. */
export const MIN_KEY_LENGTH = 16;
export const KEY_CHARACTERS = /^[!-~]+$/;
/** Default ports of a Host header without a port. */
export const HTTP_PORT = 80;
export const HTTPS_PORT = 443;
const LOOPBACK_NAMES = ["127.0.0.1", "localhost", "[::1]"];

/** The caller id of the daemon's own command line. */
export const LOCAL_TOKEN_ID = "local-token";

/** The daemon's owner, when no key is configured. */
export const OWNER: Caller = { id: "owner", name: null, scope: "admin" };

/** True for who has the data directory: the caller without a key where none is needed, and the command line. */
export const isOwner = ({ id }: Pick<Caller, "id">): boolean => id === OWNER.id || id === LOCAL_TOKEN_ID;

/** @throws {ServiceError} INVALID_REQUEST for settings that leave the daemon open, with the remedy. */
export function resolveAccess(options: AccessOptions) {
  const { apiKey, keys, localToken, host = "127.0.0.1", allowedHosts = [], allowedOrigins = [] } = options;
  const open = [host, ...allowedHosts.map(nameIn)].find((name) => !isLoopback(name));
  const isKeyNeeded = () => apiKey !== undefined || keys.isLocked;
  if (open !== undefined && !isKeyNeeded())
    throw invalidRequest(
      `Without an API key memoryd serves this machine only, not ${open}. Set MEMORYD_API_KEY, make a key with ` +
        "`memoryd keys create`, or leave that address out.",
    );

  const fixed: { readonly digest: Buffer; readonly caller: Caller }[] = [];
  if (apiKey !== undefined)
    fixed.push({ digest: digest(apiKey), caller: { id: "api-key", name: null, scope: "admin" } });
  if (localToken !== undefined)
    fixed.push({ digest: digest(localToken), caller: { id: LOCAL_TOKEN_ID, name: null, scope: "admin" } });

  return {
    /** True with a configured key, and once a key was made; may change while the daemon runs. */
    isKeyNeeded,
    /** @throws {ServiceError} CONFLICT where the daemon would stand open to others if no key were needed. */
    checkUnlocking(): void {
      if (open === undefined || apiKey !== undefined) return;
      throw conflict(
        `memoryd serves ${open}, so without keys everybody there could read all of it. Start it for this machine only, ` +
          "or set MEMORYD_API_KEY, and try again.",
      );
    },
    /** Lower-case names without port that the daemon itself answers to. */
    boundNames: new Set([...LOOPBACK_NAMES, bracketed(host.toLowerCase())]),
    /** Lower-case, each `name` (any port) or `name:port`. */
    allowedHosts: new Set(allowedHosts.map((name) => name.toLowerCase())),
    allowedOrigins: new Set(allowedOrigins.map(originOf)),
    /** The caller of a key, in constant time; why one is good no more; undefined for an unknown one. */
    callerOf(key: string): Caller | "expired" | "revoked" | undefined {
      const presented = digest(key);
      let found: Caller | undefined;
      for (const { digest, caller } of fixed) if (timingSafeEqual(digest, presented)) found = caller;
      let made: ApiKey | undefined;
      for (const each of keys.keys)
        if (timingSafeEqual(Buffer.from(each.sha256, "hex"), presented)) made = each;
      return made === undefined ? found : callerWith(made, keys);
    },
    /** False once the caller's key is revoked or expired; for replies that stream. */
    isCurrent({ id }: Caller): boolean {
      if (id === OWNER.id) return !isKeyNeeded();
      const made = keys.keys.find((key) => callerId(key) === id);
      return made === undefined
        ? fixed.some(({ caller }) => caller.id === id)
        : keys.stateOf(made) === "active";
    },
  };
}

const callerId = ({ id }: ApiKey): string => `key ${id}`;

function callerWith(key: ApiKey, keys: KeyRing): Caller | "expired" | "revoked" {
  const state = keys.stateOf(key);
  if (state !== "active") return state;
  keys.used(key);
  const { name, scope, userId } = key;
  return { id: callerId(key), name, scope, ...(userId !== null && { userId }) };
}

/** True for `localhost` and below (RFC 6761), 127.0.0.0/8 and ::1, in brackets or not. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, "$1");
  if (isIP(name) !== 0) return name === "::1" || name.startsWith("127.");
  return name === "localhost" || name.endsWith(".localhost");
}

export const nameIn = (allowedHost: string): string => splitHost(allowedHost)?.name ?? allowedHost;

/** A Host header in its parts, lower case, the scheme's port where none is named; undefined for any other text. */
export function splitHost(host: string, usualPort = HTTP_PORT) {
  const match = /^(\[[0-9a-f:.]+\]|[^\s:/@[\]]+)(?::(\d{1,5}))?$/.exec(host.toLowerCase());
  return match?.[1] === undefined ? undefined : { name: match[1], port: Number(match[2] ?? usualPort) };
}

/** An address as it stands in a Host header. */
export const bracketed = (host: string): string => (isIP(host) === 6 ? `[${host}]` : host);

function originOf(text: string): string {
  const origin = URL.canParse(text) ? new URL(text).origin : "null";
  if (origin === "null")
    throw invalidRequest(
      `"${text}" is not an origin. Write it as https://notes.example or http://localhost:3000.`,
    );
  return origin;
}

const digest = (secret: string): Buffer => createHash("sha256").update(secret).digest();

/* Tabs of the console that `memoryd open` signed in: a code, good for a minute and once, becomes a tab's token. */

const CODE_MS = 60_000;
const TOKEN_MS = 12 * 3_600_000;
/** Far more than anybody opens; the oldest goes first. */
const MAX_OPEN = 64;
/** 128 bits, in 22 characters that addresses carry as they are. */
const SECRET_BYTES = 16;

/** How the caller's id begins; the digest of the token follows. */
const CALLER = "console ";

export type ConsoleSessions = ReturnType<typeof createConsoleSessions>;

/** Kept in memory only, as digests: a daemon that is started again has signed nobody in. */
export function createConsoleSessions(clock: Clock) {
  /** Digest → when it ends, epoch milliseconds; in the order of making. */
  const codes = new Map<string, number>();
  const tokens = new Map<string, number>();

  function make(kept: Map<string, number>, ms: number): { secret: string; expiresAt: number } {
    const secret = randomBytes(SECRET_BYTES).toString("base64url");
    const expiresAt = clock.now() + ms;
    kept.set(keyOf(secret), expiresAt);
    for (const oldest of kept.keys()) if (kept.size > MAX_OPEN) kept.delete(oldest);
    return { secret, expiresAt };
  }

  return {
    newCode: (): string => make(codes, CODE_MS).secret,
    /** Uses the code up. Undefined for one that is unknown, used or too old. @returns `expiresAt` in epoch milliseconds. */
    signIn(code: string): { readonly token: string; readonly expiresAt: number } | undefined {
      const expiresAt = codes.get(keyOf(code));
      codes.delete(keyOf(code));
      if (expiresAt === undefined || expiresAt < clock.now()) return undefined;
      const made = make(tokens, TOKEN_MS);
      return { token: made.secret, expiresAt: made.expiresAt };
    },
    signOut(token: string): void {
      tokens.delete(keyOf(token));
    },
    /** The caller that a token stands for: the daemon's owner, at a browser. */
    callerOf(token: string): Caller | "expired" | undefined {
      const key = keyOf(token);
      const expiresAt = tokens.get(key);
      if (expiresAt === undefined) return undefined;
      return expiresAt < clock.now() ? "expired" : { id: CALLER + key, name: "console", scope: "admin" };
    },
    /** Whether the token of a caller still holds; undefined for a caller without one. */
    isCurrent({ id }: Pick<Caller, "id">): boolean | undefined {
      if (!id.startsWith(CALLER)) return undefined;
      return (tokens.get(id.slice(CALLER.length)) ?? -Infinity) >= clock.now();
    },
  };
}

/** Looked up by digest, so the time that a comparison takes says nothing of the secret. */
const keyOf = (secret: string) => digest(secret).toString("hex");
