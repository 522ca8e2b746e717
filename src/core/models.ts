/** An embedding model that ships or was pulled into the data directory. */
export interface ModelInfo {
  readonly name: string;
  /** Numbers that it gives; the store brings all vectors to one length. */
  readonly dimensions: number;
  /** Bytes of its files. */
  readonly bytes: number;
  readonly languages: string;
  readonly licence: string;
  /** Whether new memories and questions are embedded with it. */
  readonly active: boolean;
}

/** A change of the store's model that goes on. */
export interface ModelMigration {
  readonly from: string;
  readonly to: string;
  /** Memories that have vectors of the new model, of all there are. */
  readonly done: number;
  readonly total: number;
  /** `waiting`: it failed, and is tried again shortly. */
  readonly status: "running" | "waiting";
}

export type ModelList = { readonly items: readonly ModelInfo[]; readonly migration: ModelMigration | null };

export interface ModelOperations {
  list(): Promise<ModelList>;
  /**
   * Makes a model the store's: new memories and questions use it from then on, and all other memories are embedded again,
   * one after another, in the background and over restarts. Resolves when that has begun.
   * @throws {ServiceError} INVALID_REQUEST (no such model), CONFLICT (a change between two others goes on), STORE_FULL,
   *   MODEL_UNAVAILABLE, NOT_READY.
   */
  use(name: string): Promise<ModelList>;
}
