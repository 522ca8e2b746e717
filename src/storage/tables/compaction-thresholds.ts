/** When a table is compacted: its small files written anew as one, without what was deleted. */
export interface CompactionThresholds {
  /** At as many fragments: a lookup visits each, which at 32 costs about a millisecond. */
  readonly fragments: number;
  /** … or where that part of the stored rows is deleted. */
  readonly deletedRatio: number;
}

export const COMPACTION_THRESHOLDS: CompactionThresholds = { fragments: 32, deletedRatio: 0.2 };
