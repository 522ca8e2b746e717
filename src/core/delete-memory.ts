export interface DeleteMemoryInput {
  readonly id: string;
  /** For the ownership check. */
  readonly userId?: string;
  readonly ifVersion?: number;
}

export interface DeletedMemory {
  readonly id: string;
  /** How many memories went: more than one where a document's root took its chunks along. */
  readonly deleted: number;
}
