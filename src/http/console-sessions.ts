/** Tabs of the console that `memoryd open` signed in: a code, good for a minute and once, becomes a tab's token. */
import { createHash, randomBytes } from "node:crypto";
import type { Clock } from "../core/ports.ts";
import type { Caller } from "./access.ts";

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
    kept.set(digest(secret), expiresAt);
    for (const oldest of kept.keys()) if (kept.size > MAX_OPEN) kept.delete(oldest);
    return { secret, expiresAt };
  }

  return {
    newCode: (): string => make(codes, CODE_MS).secret,
    /** Uses the code up. Undefined for one that is unknown, used or too old. @returns `expiresAt` in epoch milliseconds. */
    signIn(code: string): { readonly token: string; readonly expiresAt: number } | undefined {
      const expiresAt = codes.get(digest(code));
      codes.delete(digest(code));
      if (expiresAt === undefined || expiresAt < clock.now()) return undefined;
      const made = make(tokens, TOKEN_MS);
      return { token: made.secret, expiresAt: made.expiresAt };
    },
    signOut(token: string): void {
      tokens.delete(digest(token));
    },
    /** The caller that a token stands for: the daemon's owner, at a browser. */
    callerOf(token: string): Caller | "expired" | undefined {
      const key = digest(token);
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
function digest(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
