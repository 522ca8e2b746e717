import { ANALYSER_VERSION, memoryTerms } from "../core/text/analyser.ts";
import type { Change, MemoryRow } from "../core/rows.ts";
import type { Stage, StoreCatalogue } from "./catalogue/catalogue.ts";
import type { Overlay } from "./catalogue/overlay.ts";
import type { StampedVectors } from "./catalogue/stamped-vectors.ts";
import type { WordIndex } from "./catalogue/word-index.ts";
import type { PurgeLedger } from "./purge-ledger.ts";

/** The memory side of a store: everything that is rebuilt at open. */
export interface StoreIndexes {
  readonly catalogue: StoreCatalogue;
  readonly overlay: Overlay;
  readonly words: WordIndex;
  readonly vectors: StampedVectors;
  readonly ledger: PurgeLedger;
  /** True while waypoints that were lost are made again. */
  lacksEdges: boolean;
  /** One more than the largest `order` given so far. */
  nextOrder: number;
  /** The time of the newest record, epoch milliseconds. */
  lastTime: number;
}

/** Follows a record in what the next record's numbers are drawn from. */
export function noteRecord(indexes: StoreIndexes, time: number, changes: readonly Change[]): void {
  indexes.lastTime = time;
  indexes.ledger.note(time, changes);
  for (const { table, row } of changes) {
    if (table === "memories" && row !== null) indexes.nextOrder = Math.max(indexes.nextOrder, row.order + 1);
  }
}

/**
 * The changes of a record from the journal, which may still have vectors of a model that is no longer known. These remove
 * what the tables have, which may be of an earlier text where the model was changed there and back.
 */
export function withKnownVectors({ vectors }: StoreIndexes, changes: readonly Change[]): Change[] {
  return changes.map((change): Change =>
    (change.table === "vectors" || change.table === "tokens") &&
    change.row !== null &&
    !vectors.isKnown(change.row.stamp)
      ? { ...change, row: null }
      : change,
  );
}

/** Makes rows of a durable record readable and findable, and answers about what they weigh in bytes. */
export function showDurable(
  { catalogue, overlay, words, vectors }: StoreIndexes,
  sequence: number,
  changes: readonly Change[],
  { ordinals }: Pick<Stage, "ordinals">,
  isLastPart = true,
): number {
  const bytes = overlay.put(sequence, changes, isLastPart);
  for (const change of changes) {
    if (change.table !== "memories" && change.table !== "vectors") continue;
    // Vectors alone are written where they are made again.
    const ordinal = ordinals.get(change.id) ?? catalogue.ordinalOf(change.id);
    if (ordinal === undefined) continue;
    if (change.table === "memories") {
      if (change.row === null) words.remove(ordinal);
      else words.put(ordinal, termsOf(change.row));
    } else if (change.row === null) vectors.remove(ordinal);
    else vectors.put(ordinal, change.row);
  }
  if (isLastPart) words.tidy();
  return bytes;
}

/** Those of another analyser, as the journal of an earlier version has them, are made again. */
function termsOf(row: MemoryRow): string[] {
  if (row.analyserVersion !== ANALYSER_VERSION) return memoryTerms(row);
  return row.terms === "" ? [] : row.terms.split(" ");
}
