/** When a table is compacted: its small files written anew as one, without what was deleted. */
export interface CompactionThresholds {
  /** At as many fragments: a lookup visits each. */
  readonly fragments: number;
  /** … or at fewer, once that part of the rows is outside the largest: then rewriting it all is little against them. */
  readonly freshFragments: number;
  readonly freshRatio: number;
  /** … or where that part of the stored rows is deleted. */
  readonly deletedRatio: number;
}

/** Ten rows by id of 16 000 took 5 ms from ten fragments and 2 ms from one. */
export const COMPACTION_THRESHOLDS: CompactionThresholds = {
  fragments: 32,
  freshFragments: 5,
  freshRatio: 0.25,
  deletedRatio: 0.2,
};
