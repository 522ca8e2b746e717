import type { DocumentRow } from "../documents/document.ts";
import type { Fact } from "../facts/fact.ts";
import type { Memory, Signals } from "../memory.ts";
import type { EdgeRow } from "../rows.ts";

/** A record of an export: all that reads answer, without derived values. */
export type TransferRecord = MemoryTransfer | DocumentTransfer | FactTransfer | WaypointTransfer;

export interface MemoryTransfer {
  readonly kind: "memory";
  /** The order of the records stands for its `order`. */
  readonly memory: Omit<Memory, "order">;
  /** The stored values: salience as of `lastSeenAt`, not faded. */
  readonly signals: Signals;
}

/** A document's row; its original is exported separately. */
export interface DocumentTransfer {
  readonly kind: "document";
  /** Its `order` is that of its first memory. */
  readonly document: Omit<DocumentRow, "order">;
}

export interface FactTransfer {
  readonly kind: "fact";
  /** All versions of one fact, ascending from 1, at least one. */
  readonly versions: readonly Fact[];
}

export interface WaypointTransfer {
  readonly kind: "waypoint";
  readonly edge: EdgeRow;
}
