import type { DocumentRow } from "../documents/document.ts";
import type { Memory, Signals } from "../memory.ts";

/** The change that made a version, and the one that took its place. */
export type Beginning = "created" | "updated" | "restored";
/** `undeleted`: it came back from the trash as the next version. */
export type Ending = "updated" | "restored" | "deleted" | "undeleted";

/** A version of a memory that is no longer the present one; deleted, while it is in the trash. Times are epoch milliseconds. */
export interface VersionRow {
  readonly memoryId: string;
  readonly userId: string | null;
  readonly version: number;
  /** The memory's. */
  readonly createdAt: number;
  readonly supersedes: readonly string[];
  readonly madeHow: Beginning;
  /** Null where it is not known. */
  readonly madeBy: string | null;
  readonly endedHow: Ending;
  readonly endedBy: string | null;
  readonly endedAt: number;
  /** When and by whom a version that is back was deleted. */
  readonly deletedAt: number | null;
  readonly deletedBy: string | null;
  /** Its days count from here: `endedAt`, but for a clock that jumps; see `BelievedTime`. */
  readonly keptSince: number;
  /** As the memory's row had it. */
  readonly duplicateHash: string;
  readonly memory: Memory;
  readonly signals: Signals;
  /** The document that it was cut from. */
  readonly documentId: string | null;
  /** Id of the first memory of a document in the trash, which brings this other one back. */
  readonly deletedWith: string | null;
  /** SHA-256 of the original that must stay for `document`. */
  readonly original: string | null;
  /** Set for a document's first memory in the trash. */
  readonly document: DocumentRow | null;
  /** Rows of facts that named it as their source when it was deleted. */
  readonly sourceOf: readonly string[];
}
