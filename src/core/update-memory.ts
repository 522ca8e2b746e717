import type { Metadata } from "./memory.ts";

export interface UpdateMemoryInput {
  readonly id: string;
  readonly content?: string;
  readonly tags?: readonly string[];
  /** Replaces the whole. */
  readonly metadata?: Metadata;
  /** Null clears. */
  readonly occurredAt?: number | null;
  /** Null clears. */
  readonly project?: string | null;
  /** For the ownership check. */
  readonly userId?: string;
  /** The version that the caller saw; VERSION_MISMATCH if there is another by now. */
  readonly ifVersion?: number;
}
