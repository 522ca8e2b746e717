import type { DocumentRow } from "../documents/document.ts";
import type { Fact } from "../facts/fact.ts";
import type { Memory, Signals } from "../memory.ts";
import type { EdgeRow } from "../rows.ts";

/**
 * What leaves a store whole and comes back as it was: everything that reads answer, with ids and times, and nothing
 * that follows from it (vectors, terms, hashes).
 */
export type TransferRecord = MemoryTransfer | DocumentTransfer | FactTransfer | WaypointTransfer;

export interface MemoryTransfer {
  readonly kind: "memory";
  /** Its place in the order of adding is that of the records. */
  readonly memory: Omit<Memory, "order">;
  /** As stored: the salience at `lastSeenAt`, not faded since. */
  readonly signals: Signals;
}

/** What ties memories to the document they were cut from; its original goes another way. */
export interface DocumentTransfer {
  readonly kind: "document";
  /** Its place in the order of adding is that of its first memory. */
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
