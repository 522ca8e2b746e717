import type { MemoryStore } from "../ports.ts";
import { type Change, edgeId, endsOfEdgeId } from "../rows.ts";
import { meanWindow } from "../embedding.ts";
import { inferUpdates, type Neighbour, neighbourFinder } from "./infer-updates.ts";
import { similarWaypoints } from "./waypoints.ts";

/** Memories linked per record. Each scans all vectors, which blocks the event loop for 3 ms at 100 000 and some 15 at a million. */
const LINKED_AT_ONCE = 2;
/** Candidates among the nearest; memories of other users and full ones are skipped. */
const NEAREST_LOOKED_AT = 64;
/** Memories that may wait for their links while callers keep the daemon busy; 1.5 KB each. */
const MAX_UNLINKED = 4_096;
/** Latest memories whose links are looked for after a start; 15 ms each of those that have none at a million, in pauses. */
const LATEST_RESUMED = 2_000;
/** An import is over after so many calls of `flush` without a restored memory. */
const FLUSHES_WITHOUT_RESTORED = 10;

export interface FollowUpsOptions {
  /** Called when there is new work: call `flush` soon. */
  readonly onPending: () => void;
  /** Whether callers wait for the machine: links can wait longer. */
  readonly isBusy: () => boolean;
  /** `EmbeddingProfile.similar` of the current model. */
  readonly minSimilarity: () => number;
  readonly nextTurn: () => Promise<void>;
}

interface Nearest {
  readonly id: string;
  readonly version: number;
  readonly neighbours: readonly Neighbour[];
  /** The `updates` waypoints. */
  readonly updates: (now: number) => Change[];
}

/** Links between memories, made a moment after the memories were added. */
export class FollowUps {
  readonly #store: MemoryStore;
  readonly #options: FollowUpsOptions;
  readonly #unlinked = new Map<string, { readonly version: number; readonly vector: Float32Array }>();
  readonly #restored = new Set<string>();
  #flushesSinceRestored = 0;
  #isScheduled = false;

  constructor(store: MemoryStore, options: FollowUpsOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** Call it for a new memory or new content; `vector` is the mean of that version's windows. */
  added(id: string, version: number, vector: Float32Array): void {
    this.#unlinked.set(id, { version, vector });
    this.#schedule();
  }

  /** Call it for memories of an export. Those without waypoints, which follow memories there, are linked when all have come. */
  restored(ids: readonly string[]): void {
    for (const id of ids) this.#restored.add(id);
    this.#flushesSinceRestored = 0;
    this.#schedule();
  }

  /** Call it after a start: a crash, or a stop soon after many were added, leaves the latest memories without links. */
  resume(): void {
    const { ids } = this.#store.catalogue.page({ documents: false }, { limit: LATEST_RESUMED, offset: 0 });
    for (const id of ids) this.#restored.add(id);
    this.#flushesSinceRestored = FLUSHES_WITHOUT_RESTORED;
    this.#schedule();
  }

  /** Does the pending work in few records, `maxLinked` links at most. @throws as `MemoryStore.commit`. */
  async flush(maxLinked = Infinity): Promise<void> {
    this.#isScheduled = false;
    this.#flushesSinceRestored += 1;
    const isImportOver = maxLinked < Infinity || this.#flushesSinceRestored > FLUSHES_WITHOUT_RESTORED;
    if (!isImportOver && this.#restored.size > 0) this.#schedule();
    await this.#store.commit(() => ({
      changes: this.#store.catalogue.expiredRequests(),
      result: undefined,
    }));
    for (let linked = 0; linked < maxLinked; linked += LINKED_AT_ONCE) {
      if (isImportOver) await this.#takeRestored();
      if (this.#unlinked.size === 0) return;
      if (this.#options.isBusy() && this.#unlinked.size <= MAX_UNLINKED) {
        this.#schedule();
        return;
      }
      const taken = [...this.#unlinked].slice(0, LINKED_AT_ONCE);
      const batch: Nearest[] = [];
      for (const [id, { version, vector }] of taken)
        batch.push({ id, version, ...(await this.#nearestTo(id, vector)) });
      await this.#store.commit(({ now }) => {
        const changes = new Map<string, Change>();
        for (const { id, version, neighbours, updates } of batch) {
          // Changed since: its new text waits too.
          if (this.#store.catalogue.find(id)?.version !== version) continue;
          for (const change of updates(now)) changes.set(change.id, change);
          const least = this.#options.minSimilarity();
          for (const change of similarWaypoints(this.#store.catalogue, id, neighbours, least, now)) {
            // Two new memories may find each other; one waypoint between them is enough.
            const { source, target, kind } = endsOfEdgeId(change.id);
            if (!changes.has(edgeId({ source: target, target: source, kind })))
              changes.set(change.id, change);
          }
        }
        return { changes: [...changes.values()], result: undefined };
      });
      // Only now: what the store refuses waits for the next flush, and a text that came meanwhile waits too.
      for (const [id, waiting] of taken) if (this.#unlinked.get(id) === waiting) this.#unlinked.delete(id);
    }
  }

  /** Lets restored memories wait for links, until there are enough for a record. */
  async #takeRestored(): Promise<void> {
    const { catalogue } = this.#store;
    for (const id of this.#restored) {
      if (this.#unlinked.size >= LINKED_AT_ONCE) return;
      await this.#options.nextTurn();
      this.#restored.delete(id);
      const memory = catalogue.find(id);
      if (memory === undefined) continue;
      const isLinked = catalogue.edgesOf(id).some(({ kind }) => kind === "similar" || kind === "updates");
      const windows = this.#store.windowsOf(memory.ordinal);
      if (!isLinked && windows.length > 0)
        this.#unlinked.set(id, { version: memory.version, vector: meanWindow(windows) });
    }
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#options.onPending();
  }

  async #nearestTo(id: string, vector: Float32Array): Promise<Omit<Nearest, "id" | "version">> {
    const { nextTurn } = this.#options;
    await nextTurn();
    const memory = this.#store.catalogue.find(id);
    // A memory of the model before, or changed meanwhile: its turn comes when it has vectors again.
    if (memory === undefined || this.#store.windowsOf(memory.ordinal).length === 0)
      return { neighbours: [], updates: () => [] };
    const find = neighbourFinder(this.#store, memory.userId);
    const neighbours = find(memory, vector, NEAREST_LOOKED_AT);
    return { neighbours, updates: await inferUpdates(this.#store, memory, neighbours, find, nextTurn) };
  }
}
