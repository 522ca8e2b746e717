import type { IdempotentRequest } from "./idempotency.ts";

export interface ReinforceMemoryInput {
  readonly id: string;
  /** In [0, 1]. */
  readonly boost: number;
  readonly userId?: string;
  readonly idempotency?: IdempotentRequest;
}

export interface ReinforcedMemory {
  readonly id: string;
  readonly salience: number;
}
