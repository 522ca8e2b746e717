import type { MemoryStore, Ordinal } from "./ports.ts";
import { type Change, edgeId, type EdgeRow, endsOfEdgeId } from "./rows.ts";
import { reinforced } from "./salience.ts";
import { similarWaypoints, strengthened } from "./waypoints.ts";

/** What being found adds to a memory's salience: a tenth of what a deliberate reinforcement does by default. */
const FOUND_BOOST = 0.01;
/** Hits of an answer that count as found: whoever asks looks at the first few. */
const FOUND_HITS = 3;
/** Memories linked in one record: a scan of all vectors each, 3 ms of 100 000, in which the event loop waits. */
const LINKED_AT_ONCE = 2;

/**
 * The work that answered calls leave behind, done a moment later in records of its own: links from new memories to
 * similar ones, and what questions teach (salience of what was found, strength of waypoints between hits). None of it
 * was promised to anybody: what a crash takes is made good by the next questions.
 */
export class FollowUps {
  readonly #store: MemoryStore;
  readonly #onPending: () => void;
  readonly #unlinked = new Map<string, Float32Array>();
  readonly #found = new Map<string, number>();
  readonly #together = new Map<string, EdgeRow>();

  /** @param onPending called when the first work comes in; whoever owns the time calls `flush` soon. */
  constructor(store: MemoryStore, onPending: () => void) {
    this.#store = store;
    this.#onPending = onPending;
  }

  /** A memory was added, or its content changed; `vector` is where its text points. */
  added(id: string, vector: Float32Array): void {
    this.#wake();
    this.#unlinked.set(id, vector);
  }

  /** A question was answered with these memories, best first. */
  recalled(ids: readonly string[]): void {
    const best = ids.slice(0, FOUND_HITS);
    if (best.length > 0) this.#wake();
    for (const id of best) this.#found.set(id, (this.#found.get(id) ?? 0) + 1);
    const hits = new Set(ids);
    for (const edge of best.flatMap((id) => this.#store.catalogue.edgesOf(id))) {
      if (hits.has(edge.source) && hits.has(edge.target)) this.#together.set(edgeId(edge), edge);
    }
  }

  /** Does what there is, in few records. @throws {ServiceError} as `MemoryStore.commit`; what was not done is dropped. */
  async flush(): Promise<void> {
    const found = take(this.#found);
    const together = take(this.#together);
    const unlinked = take(this.#unlinked);
    await this.#store.commit(({ now }) => ({
      changes: [...this.#foundChanges(found, now), ...this.#togetherChanges(together)],
      result: undefined,
    }));
    for (let first = 0; first < unlinked.length; first += LINKED_AT_ONCE) {
      const batch = unlinked.slice(first, first + LINKED_AT_ONCE);
      await this.#store.commit(({ now }) => {
        const changes = new Map<string, Change>();
        for (const [id, vector] of batch) {
          for (const change of this.#similarChanges(id, vector, now)) {
            // Two new ones that are near each other find one another; one waypoint between them is enough.
            const { source, target, kind } = endsOfEdgeId(change.id);
            if (!changes.has(edgeId({ source: target, target: source, kind }))) changes.set(change.id, change);
          }
        }
        return { changes: [...changes.values()], result: undefined };
      });
    }
  }

  #wake(): void {
    if (this.#unlinked.size + this.#found.size + this.#together.size === 0) this.#onPending();
  }

  #foundChanges(found: readonly (readonly [string, number])[], now: number): Change[] {
    return found.flatMap(([id, times]): Change[] => {
      const entry = this.#store.catalogue.find(id);
      if (entry === undefined) return [];
      const salience = reinforced(entry.salience, 1 - (1 - FOUND_BOOST) ** times);
      return [{ table: "signals", id, row: { salience, lastSeenAt: now } }];
    });
  }

  #togetherChanges(together: readonly (readonly [string, EdgeRow])[]): Change[] {
    const { catalogue } = this.#store;
    return together.flatMap(([id, edge]): Change[] => {
      const current = catalogue.edgesOf(edge.source).find((known) => edgeId(known) === id);
      return current === undefined ? [] : [{ table: "edges", id, row: strengthened(current) }];
    });
  }

  #similarChanges(id: string, vector: Float32Array, now: number): Change[] {
    const { catalogue } = this.#store;
    const entry = catalogue.find(id);
    if (entry === undefined) return [];
    // Waypoints never cross users: nobody's memories are linked among themselves.
    const isSameOwner = (ordinal: Ordinal) => catalogue.at(ordinal)?.userId === entry.userId;
    return similarWaypoints(catalogue, entry, this.#store.scoreVectors(vector), isSameOwner, now);
  }
}

function take<V>(pending: Map<string, V>): [string, V][] {
  const entries = [...pending];
  pending.clear();
  return entries;
}
