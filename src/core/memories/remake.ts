import type { Embedder, MemoryStore } from "../ports.ts";
import type { Change, MemoryRow } from "../rows.ts";
import { embeddedText, embeddingChanges } from "./compose-memory.ts";
import type { FollowUps } from "./follow-ups.ts";

/** A store whose derived data can be remade from the texts of its memories. */
export interface RemakeStore extends MemoryStore {
  /** Memories without vectors, oldest first. */
  lackingVectors(): Iterable<string>;
  memoryIds(): Iterable<string>;
  readRows(ids: readonly string[]): Promise<Map<string, MemoryRow>>;
  readonly lacksEdges: boolean;
  edgesMade(): Promise<void>;
}

export interface RemakeOptions {
  readonly store: RemakeStore;
  readonly embedder: Pick<Embedder, "embedDocument">;
  readonly followUps: Pick<FollowUps, "added" | "flush">;
  readonly signal: AbortSignal;
  /** Receives the number of memories without vectors. */
  readonly onProgress?: (left: number) => void;
}

/** Memories embedded and written per record: the most that a kill loses. */
const MEMORIES_AT_ONCE = 16;
const INFERRED_AT_ONCE = 500;

/**
 * Makes vectors, tokens and inferred updates that the store lacks, from the texts of its memories and an embedder: the one
 * mechanism for vectors that were damaged and for those of another model. For either the store is opened without the
 * tables (`ChosenCheckpoint.lost`), which are then begun anew under the number of another generation; the first checkpoint
 * afterwards names these alone.
 *
 * Each vector that is made is written as a record of its own and used from then on, so a restart goes on where it was, and questions
 * find by words what has no vectors yet. Resolves when nothing is lacking.
 * @throws {ServiceError} as `Embedder.embedDocument` and `MemoryStore.commit`; an AbortError. Calling it again goes on.
 */
export async function remake(options: RemakeOptions): Promise<void> {
  const { store, embedder, followUps, signal, onProgress } = options;
  const lacking = [...store.lackingVectors()];
  for (let first = 0; first < lacking.length; first += MEMORIES_AT_ONCE) {
    signal.throwIfAborted();
    onProgress?.(lacking.length - first);
    await embed(store, embedder, lacking.slice(first, first + MEMORIES_AT_ONCE));
  }
  onProgress?.(0);
  if (!store.lacksEdges) return;
  let waiting = 0;
  for (const id of store.memoryIds()) {
    followUps.added(id);
    waiting += 1;
    if (waiting % INFERRED_AT_ONCE !== 0) continue;
    signal.throwIfAborted();
    await followUps.flush();
  }
  await followUps.flush();
  await store.edgesMade();
}

async function embed(
  store: RemakeStore,
  embedder: RemakeOptions["embedder"],
  ids: readonly string[],
): Promise<void> {
  const rows = [...(await store.readRows(ids)).values()];
  const embeddings = await Promise.all(rows.map((row) => embedder.embedDocument(embeddedText(row))));
  await store.commit(() => ({
    // A memory that was changed meanwhile has vectors of its new text.
    changes: rows.flatMap(({ id, userId, version }, i): Change[] => {
      const embedding = embeddings[i];
      if (embedding === undefined || store.catalogue.find(id)?.version !== version) return [];
      return embeddingChanges(id, userId, embedding);
    }),
    result: undefined,
  }));
}
