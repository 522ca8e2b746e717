export interface GetMemoryInput {
  readonly id: string;
  /** Another owner's memory is NOT_FOUND. */
  readonly userId?: string;
}
