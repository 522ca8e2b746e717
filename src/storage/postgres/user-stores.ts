import { notReady } from "../../core/errors.ts";
import { openUser, type UserStore, type UserStoreParts } from "./open-user.ts";
import { historyChanged } from "./user-journal.ts";

/** Users that are loaded at the same time; each holds a connection. */
const LOADED_AT_ONCE = 4;
/** A request that has waited so long for its turn to load a user is told to come again. */
const TURN_MS = 5_000;
/** Each has 10 GB of address space for its vectors: of 128 TB, 12 971 got theirs. */
const MAX_OPEN = 10_000;
/** A user is loaded anew so often before a request is told to come again. */
const ATTEMPTS = 3;

const loadingOthers = () =>
  notReady(
    `The memories of other users were loaded for ${TURN_MS / 1_000} seconds before those of this one, so the request was not begun; ` +
      "try again shortly.",
    { retryAfterSeconds: 1 },
  );

interface Loaded<T> {
  readonly opened: UserStore;
  readonly attached: T;
  /** As of the last count. */
  bytes: number;
}
interface Entry<T> {
  readonly opening: Promise<Loaded<T>>;
  /** Undefined while it is loaded. */
  loaded?: Loaded<T>;
}

/** The users that this process has open, those unused for longest closed first. */
export class UserStores<T> {
  readonly #parts: UserStoreParts;
  readonly #budgetBytes: number;
  readonly #attach: (opened: UserStore, user: string) => T;
  /** By user, in the order of use. */
  readonly #entries = new Map<string, Entry<T>>();
  /** Loads that wait, by caller: the caller whose turn is next first. */
  readonly #waiting = new Map<string, Set<() => void>>();
  #loading = 0;
  #loads = 0;
  /** Of users that are no longer open. */
  #overtakings = 0;
  /** The sum of `Loaded.bytes`. */
  #bytes = 0;

  /**
   * @param budgetBytes what all open users may take of memory, as far as `UserStore.bytes` tells; one is open always.
   * @param attach makes what a user's requests work with, once per load.
   */
  constructor(parts: UserStoreParts, budgetBytes: number, attach: (opened: UserStore, user: string) => T) {
    this.#parts = parts;
    this.#budgetBytes = budgetBytes;
    this.#attach = attach;
  }

  /**
   * What `attach` made for a user, which shows everything that was answered before the call, by whichever process.
   *
   * @param callerId callers take turns to have users loaded.
   * @throws {ServiceError} NOT_READY while the database does not answer, or too many users wait to be loaded.
   */
  async find(user: string, callerId = ""): Promise<T> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const known = this.#entries.get(user);
      const entry = known ?? this.#load(user, callerId);
      this.#entries.delete(user);
      this.#entries.set(user, entry);
      const { opened, attached } = await entry.opening;
      // One that was loaded for this request is new enough.
      if (known !== undefined) await opened.refresh();
      if (!opened.isLost) return attached;
      this.#drop(user, entry);
    }
    throw historyChanged();
  }

  /** Figures for the status. */
  get figures() {
    const opened = this.#opened;
    return {
      users: opened.length,
      memories: opened.reduce((sum, { store }) => sum + store.catalogue.size, 0),
      bytes: opened.reduce((sum, { bytes }) => sum + bytes, 0),
      loads: this.#loads,
      overtakings: this.#overtakings + opened.reduce((sum, { overtakings }) => sum + overtakings, 0),
    };
  }

  /** What `attach` made for the users that are open now. */
  get attached(): readonly T[] {
    return [...this.#entries.values()].flatMap(({ loaded }) =>
      loaded === undefined ? [] : [loaded.attached],
    );
  }

  get #opened(): UserStore[] {
    return [...this.#entries.values()].flatMap(({ loaded }) => loaded?.opened ?? []);
  }

  /** Ends writing everywhere; answered writes are in the database before and after. */
  async close(): Promise<void> {
    const opened = this.#opened;
    this.#entries.clear();
    await Promise.all(opened.map(({ store }) => store.close()));
  }

  #load(user: string, callerId: string): Entry<T> {
    const entry: Entry<T> = {
      opening: this.#inTurn(callerId, () => openUser(this.#parts, user)).then((opened) => {
        const { bytes } = opened;
        entry.loaded = { opened, attached: this.#attach(opened, user), bytes };
        this.#loads += 1;
        this.#bytes += bytes;
        this.#closeUnused();
        return entry.loaded;
      }),
    };
    entry.opening.catch(() => this.#drop(user, entry));
    return entry;
  }

  /** Runs of a few at a time, the others by turns of their callers. */
  async #inTurn<R>(callerId: string, work: () => Promise<R>): Promise<R> {
    if (this.#loading >= LOADED_AT_ONCE) await this.#waitForTurn(callerId);
    else this.#loading += 1;
    try {
      return await work();
    } finally {
      const [next] = this.#waiting;
      const [begin] = next?.[1] ?? [];
      if (next === undefined || begin === undefined) this.#loading -= 1;
      else {
        // Behind the other callers.
        this.#waiting.delete(next[0]);
        this.#waiting.set(...next);
        begin();
      }
    }
  }

  #waitForTurn(callerId: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(callerId) ?? new Set();
      this.#waiting.set(callerId, waiting);
      const leave = () => {
        clearTimeout(timer);
        waiting.delete(begin);
        if (waiting.size === 0) this.#waiting.delete(callerId);
      };
      const timer = setTimeout(() => {
        leave();
        reject(loadingOthers());
      }, TURN_MS);
      const begin = () => {
        leave();
        resolve();
      };
      waiting.add(begin);
    });
  }

  /**
   * Lets go of users that were not used for longest. A request that works on one goes on: it is an opener like that of
   * another process.
   */
  makeRoom(): void {
    this.#bytes = 0;
    for (const { loaded } of this.#entries.values())
      if (loaded !== undefined) this.#bytes += loaded.bytes = loaded.opened.bytes;
    this.#closeUnused();
  }

  /** Counts nothing anew: among 10 000 users that takes longer than loading one. */
  #closeUnused(): void {
    for (const [user, entry] of this.#entries) {
      if (this.#bytes <= this.#budgetBytes && this.#entries.size <= MAX_OPEN) return;
      if (entry.loaded === undefined || this.#entries.size === 1) continue;
      this.#drop(user, entry);
    }
  }

  #drop(user: string, entry: Entry<T>): void {
    if (this.#entries.get(user) !== entry) return;
    this.#entries.delete(user);
    this.#bytes -= entry.loaded?.bytes ?? 0;
    this.#overtakings += entry.loaded?.opened.overtakings ?? 0;
  }
}
