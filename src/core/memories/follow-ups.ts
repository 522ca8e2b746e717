import type { MemoryStore } from "../ports.ts";
import { inferUpdates } from "./infer-updates.ts";

/** Memories that may wait while callers keep the daemon busy. */
const MAX_WAITING = 4_096;
/** The number of waiting memories that `settle` looks at, the last added. */
const SETTLED = 32;
/** Latest memories that are looked at after a start. */
const LATEST_RESUMED = 500;

export interface FollowUpsOptions {
  /** Called when there is new work: call `flush` soon. */
  readonly onPending: () => void;
  /** Whether callers wait for the machine: follow-ups can wait longer. */
  readonly isBusy: () => boolean;
  readonly nextTurn: () => Promise<void>;
}

/** Infers what new memories replace, a moment after they were added. */
export class FollowUps {
  readonly #store: MemoryStore;
  readonly #options: FollowUpsOptions;
  /** Ids, in the order of adding; those of `resume` behind what was added before it. */
  readonly #waiting = new Set<string>();
  #isScheduled = false;
  /** Settles when the look that runs now has ended. */
  #looking: Promise<void> = Promise.resolve();

  constructor(store: MemoryStore, options: FollowUpsOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** Call it for a new memory or new content, once it is stored. */
  added(id: string): void {
    this.#waiting.add(id);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#options.onPending();
  }

  /** Call it after a start: a crash, or a stop soon after many were added, leaves the latest memories waiting. */
  resume(createdFrom = -Infinity): void {
    const filter = { documents: false, createdFrom } as const;
    const { ids } = this.#store.catalogue.page(filter, { limit: LATEST_RESUMED, offset: 0 });
    for (const id of ids.toReversed()) this.added(id);
  }

  /** Does the pending work, for `most` memories at most. @throws as `MemoryStore.commit`; calling it again goes on. */
  async flush(most = Infinity): Promise<void> {
    this.#isScheduled = false;
    await this.#store.commit(() => ({
      changes: this.#store.catalogue.expiredRequests(),
      result: undefined,
    }));
    let looked = 0;
    for (const id of this.#waiting) {
      if (looked === most) return;
      if (this.#options.isBusy() && this.#waiting.size <= MAX_WAITING) {
        this.added(id);
        return;
      }
      looked += 1;
      this.#looking = this.#infer(id);
      await this.#looking;
    }
  }

  /** Infers updates of the last added memories now, so that a caller can reject them. @throws as `flush`. */
  settle(): Promise<void> {
    const before = this.#looking.catch(() => undefined);
    this.#looking = before.then(async () => {
      for (const id of [...this.#waiting].slice(-SETTLED)) await this.#infer(id);
    });
    return this.#looking;
  }

  async #infer(id: string): Promise<void> {
    // Before it is looked at: a change of its text meanwhile lets it wait again.
    this.#waiting.delete(id);
    try {
      await this.#look(id);
    } catch (error) {
      this.#waiting.add(id);
      throw error;
    }
  }

  async #look(id: string): Promise<void> {
    const { catalogue } = this.#store;
    const memory = catalogue.find(id);
    if (memory === undefined) return;
    const updates = await inferUpdates(this.#store, memory, this.#options.nextTurn);
    if (updates === undefined) return;
    await this.#store.commit(({ now }) => ({
      changes: catalogue.find(id)?.version === memory.version ? updates(now) : [],
      result: undefined,
    }));
  }
}
