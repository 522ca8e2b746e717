import type { AddedMemory, AddMemoryInput } from "./add-memory.ts";
import type { ServiceError } from "./errors.ts";
import type { IdempotentRequest } from "./idempotency.ts";

export interface AddMemoriesInput {
  /** In order; an error stands for an item that was refused before, and comes back in its place. */
  readonly items: readonly (AddMemoryInput | ServiceError)[];
  readonly idempotency?: IdempotentRequest;
}

export interface AddMemoriesResult {
  /** As many as items, in the same order. */
  readonly results: readonly (AddedMemory | ServiceError)[];
}
