import type { FastifyReply, FastifyRequest } from "fastify";
import { MAX_KEYS, type Scope } from "../core/access/key-ring.ts";
import { keepLast } from "../core/at-once.ts";
import { forbidden, ServiceError, unauthorized } from "../core/errors.ts";
import { type Access, type AccessOptions, type Caller, isOwner, OWNER } from "./access.ts";
import { clientAddressOf, networkOf, peerOf, trustedProxies } from "./peer.ts";
import type { Clock } from "../core/ports.ts";

/** Sets the request's caller. @throws {ServiceError} UNAUTHORIZED, FORBIDDEN, RATE_LIMITED. */
export type Authenticate = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

const SCOPE_RANK: Readonly<Record<Scope, number>> = { read: 1, write: 2, admin: 3 };

/** Enough for typing mistakes, and for several clients with an old key behind one address. */
const WRONG_KEYS_AT_ONCE = 10;
const WRONG_KEYS_PER_MINUTE = 10;
/** Addresses remembered, some 150 bytes each. */
const MAX_ADDRESSES = 10_000;

export function createAuthentication(
  access: Access,
  options: Pick<AccessOptions, "requestsPerMinute" | "trustedProxies" | "clock" | "peerOf">,
): Authenticate {
  const { requestsPerMinute, clock = { now: Date.now } } = options;
  const isTrusted = trustedProxies(options.trustedProxies ?? []);
  const wrongKeys = new TokenBuckets({
    capacity: WRONG_KEYS_AT_ONCE,
    perMinute: WRONG_KEYS_PER_MINUTE,
    maxBuckets: MAX_ADDRESSES,
    clock,
  });
  const requests =
    requestsPerMinute === undefined
      ? undefined
      : new TokenBuckets({
          capacity: requestsPerMinute,
          perMinute: requestsPerMinute,
          maxBuckets: MAX_KEYS + 1,
          clock,
        });

  /** Only what was wrong gets here: a good key is never slowed by what others at its address do. */
  function refuseWrongKey(request: FastifyRequest, reply: FastifyReply, why: string): never {
    const address = clientAddressOf(request.raw, isTrusted);
    const { waitSeconds, isFirstRefusal } = wrongKeys.take(networkOf(address));
    if (waitSeconds === 0) throw unauthorized(why);
    if (isFirstRefusal) request.log.warn({ address }, "many wrong keys");
    // Each further try needs a new connection.
    reply.header("connection", "close");
    throw new ServiceError(
      "RATE_LIMITED",
      "Too many wrong keys came from this address. Wait, and check the key.",
      { retryAfterSeconds: waitSeconds },
    );
  }

  async function callerOf(request: FastifyRequest, reply: FastifyReply): Promise<Caller | undefined> {
    const bearer = /^Bearer +([^\s]+) *$/i.exec(request.headers.authorization ?? "")?.[1];
    const header = request.headers["x-api-key"];
    const key = bearer ?? (typeof header === "string" ? header : undefined);
    const isOne = bearer === undefined || header === undefined || bearer === header;
    const found = key === undefined || !isOne ? undefined : access.callerOf(key);
    if (typeof found === "object") return found;
    // A wrong key is accepted if no key is needed.
    if (!access.isKeyNeeded()) return ownerOrStranger(request);
    if (key === undefined || request.routeOptions.config.scope === "open") return undefined;
    if (found === "expired")
      return refuseWrongKey(request, reply, "This key has expired. Ask for a new one.");
    if (found === "revoked")
      return refuseWrongKey(request, reply, "This key was revoked. Ask for a new one.");
    const advice = isOne ? "Check that it was copied whole." : "Two headers must carry the same key.";
    return refuseWrongKey(request, reply, `The key is not valid. ${advice}`);
  }

  /** Without a key any user of this machine reaches the daemon: where the system knows the user, others are refused. */
  async function ownerOrStranger({ raw, routeOptions }: FastifyRequest): Promise<Caller | undefined> {
    const peer = await (options.peerOf ?? peerOf)(raw.socket);
    const ownUid = process.getuid?.();
    if (peer === "unknown" || peer === ownUid) return OWNER;
    if (routeOptions.config.scope === "open") return undefined;
    throw forbidden(
      `Without a key memoryd serves only the user who runs it (uid ${ownUid}), and this request comes from ` +
        `${peer === "gone" ? "a connection that was closed before its user was known" : `another one (uid ${peer})`}. ` +
        "Have its owner make a key with `memoryd keys create`, and send it as `Authorization: Bearer KEY`.",
    );
  }

  function limitRate(caller: Caller): void {
    if (isOwner(caller)) return;
    const waitSeconds = requests?.take(caller.id).waitSeconds ?? 0;
    if (waitSeconds === 0) return;
    throw new ServiceError(
      "RATE_LIMITED",
      `This key makes more than ${requestsPerMinute} requests a minute. Slow down, or ` +
        "send many items in one request.",
      { retryAfterSeconds: waitSeconds },
    );
  }

  return async (request, reply) => {
    const { scope = "read" } = request.routeOptions.config;
    request.caller = await callerOf(request, reply);
    if (scope === "open") return;
    checkScope(request.caller, scope);
    limitRate(request.caller);
  };
}

/** The one place where a caller's scope meets a route's. */
function checkScope(caller: Caller | undefined, scope: Scope): asserts caller is Caller {
  if (caller === undefined)
    throw unauthorized(
      "A key is needed: send it as `Authorization: Bearer KEY` or `x-api-key: KEY`. There is no sign-in.",
    );
  if (scope === "admin" && caller.userId !== undefined)
    throw forbidden("This key is bound to one user; this is about all of them.");
  if (SCOPE_RANK[caller.scope] < SCOPE_RANK[scope])
    throw forbidden(`This key has the scope ${caller.scope}; ${scope} is needed.`);
}

interface TokenBucketOptions {
  readonly capacity: number;
  readonly perMinute: number;
  /** Buckets kept; past it the one that was longest not asked for is forgotten, which fills it. */
  readonly maxBuckets: number;
  readonly clock: Clock;
}

type Bucket = { tokens: number; at: number; hasRefused: boolean };

/** A budget of tokens for each name, which refills steadily. */
export class TokenBuckets {
  readonly #options: TokenBucketOptions;
  /** Longest not asked for first. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(options: TokenBucketOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#buckets.size;
  }

  /**
   * @returns `waitSeconds`: 0 where there was a token, else seconds until there is one; `isFirstRefusal`: true for the first time
   * that none was left since the bucket was last full.
   */
  take(name: string): { readonly waitSeconds: number; readonly isFirstRefusal: boolean } {
    const { capacity, perMinute, maxBuckets, clock } = this.#options;
    const now = clock.now();
    const bucket = this.#buckets.get(name) ?? { tokens: capacity, at: now, hasRefused: false };
    keepLast(this.#buckets, name, bucket, maxBuckets);

    // A clock that is set back refills nothing, and takes nothing.
    const elapsedMs = Math.max(0, now - bucket.at);
    bucket.tokens = Math.min(capacity, bucket.tokens + (elapsedMs / 60_000) * perMinute);
    bucket.at = now;
    if (bucket.tokens === capacity) bucket.hasRefused = false;
    if (bucket.tokens >= 1) {
      bucket.tokens -= 1;
      return { waitSeconds: 0, isFirstRefusal: false };
    }
    const isFirstRefusal = !bucket.hasRefused;
    bucket.hasRefused = true;
    return { waitSeconds: ((1 - bucket.tokens) / perMinute) * 60, isFirstRefusal };
  }
}
