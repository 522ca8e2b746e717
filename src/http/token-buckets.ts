import type { Clock } from "../core/ports.ts";

export interface TokenBucketOptions {
  readonly capacity: number;
  readonly perMinute: number;
  /** Buckets kept; past it the one that was longest not asked for is forgotten, which fills it. */
  readonly maxBuckets: number;
  readonly clock: Clock;
}

export interface TakenToken {
  /** 0 where there was a token; else seconds until there is one. */
  readonly waitSeconds: number;
  /** True for the first time that none was left since the bucket was last full. */
  readonly isFirstRefusal: boolean;
}

interface Bucket {
  tokens: number;
  at: number;
  hasRefused: boolean;
}

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

  take(name: string): TakenToken {
    const { capacity, perMinute, maxBuckets, clock } = this.#options;
    const now = clock.now();
    const bucket = this.#buckets.get(name) ?? { tokens: capacity, at: now, hasRefused: false };
    this.#buckets.delete(name);
    this.#buckets.set(name, bucket);
    if (this.#buckets.size > maxBuckets) this.#buckets.delete(this.#buckets.keys().next().value ?? name);

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
