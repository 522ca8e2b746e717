import type { IdempotentRequest } from "../idempotency.ts";
import type { Metadata, Sector, SeenMemory } from "../memory.ts";

/** What an add asks for. Already checked against the limits of the contract. */
export interface AddMemoryInput {
  readonly content: string;
  readonly tags?: readonly string[];
  readonly metadata?: Metadata;
  readonly userId?: string;
  readonly project?: string;
  readonly sessionId?: string;
  readonly occurredAt?: number;
  /** Forces the primary sector. */
  readonly sector?: Sector;
  /** Ids of the same user's memories that this one replaces. */
  readonly supersedes?: readonly string[];
  readonly createdBy?: string;
  readonly idempotency?: IdempotentRequest;
}

export interface AddedMemory {
  readonly memory: SeenMemory;
  /** True when the same memory was there already and is returned instead. */
  readonly deduplicated: boolean;
}
