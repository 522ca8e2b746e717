/** When a table is written anew. By ratio, so that the work grows with the table and not with its square. */
export interface CompactionThresholds {
  /** Compact a table of as many fragments: a lookup visits each. */
  readonly fragments: number;
  /** … or where that part of the stored rows is deleted. */
  readonly deletedRatio: number;
  /** Build the index of ids anew when that part of the rows came since, … */
  readonly unindexedRatio: number;
  /** … but not for fewer rows: scanning them is as fast. */
  readonly unindexedRows: number;
}

export const COMPACTION_THRESHOLDS: CompactionThresholds = {
  fragments: 32,
  deletedRatio: 0.2,
  unindexedRatio: 0.1,
  unindexedRows: 1_000,
};
