import type { IdempotentRequest } from "../idempotency.ts";
import type { Metadata, Sector, SeenMemory, Given, Owned, Written } from "../memory.ts";

/** A memory to add, already checked against the limits of the API. */
export interface AddMemoryInput extends Given<Owned & Written> {
  readonly content: string;
  readonly tags?: readonly string[];
  readonly metadata?: Metadata;
  readonly sessionId?: string;
  readonly occurredAt?: number;
  /** Forces the primary sector. */
  readonly sector?: Sector;
  /** Ids of the same user's memories that this one replaces. */
  readonly supersedes?: readonly string[];
  readonly idempotency?: IdempotentRequest;
}

export interface AddedMemory {
  readonly memory: SeenMemory;
  /** True when the same memory was stored before and is returned instead. */
  readonly deduplicated: boolean;
}
