/**
 * The feed: what changed, in order, for programs that follow a store. It names things and never holds content.
 */
import { factIdOfRow } from "./facts/fact.ts";
import type { FactReads } from "./facts/fact-book.ts";
import type { Catalogue } from "./ports.ts";
import type { Change } from "./rows.ts";

type Table = "memory" | "fact" | "document" | "job";
export type FeedKind = `${Table}.${"added" | "updated" | "deleted" | "restored"}` | "user.erased";

export interface FeedEntry {
  readonly kind: FeedKind;
  /** Id of the memory, fact, document or job; for `user.erased` the user's. */
  readonly id: string;
  readonly userId: string | null;
}

export interface PlacedFeedEntry extends FeedEntry {
  /** Counts the changes of all users since the start: never to be shown as it is. */
  readonly position: number;
  /** Epoch milliseconds of the record. */
  readonly at: number;
}

export interface FeedPage {
  /** Oldest first. */
  readonly items: readonly PlacedFeedEntry[];
  /** Position at which the next page begins. */
  readonly next: number;
  /** Changes after `since` are missing: read anew what is needed, and go on from `next`. */
  readonly reset: boolean;
}

/** Position before the first change. */
export const FEED_BEGINNING = 0;

export interface ListChangesInput {
  /** A position that a page or an entry had: changes after it; null: one of before the start. Default: none but those to come. */
  readonly since?: number | null;
  readonly limit: number;
  readonly userId?: string;
}

/**
 * Reads of the feed since the start. A change is in it when its write is answered. What one user's reader gets does not
 * depend on what others do.
 */
export interface Feed {
  list(input: ListChangesInput): FeedPage;
  /** Calls `onMore` after each record with changes of that user, or of anybody, until the returned function is called. */
  watch(onMore: () => void, userId?: string): () => void;
}

/** The state of the store before a record. */
export interface BeforeRecord {
  readonly find: (id: string) => { readonly userId: string | null; readonly version: number } | undefined;
  readonly facts: Pick<FactReads, "find">;
  readonly documents: Pick<Catalogue["documents"], "byId" | "jobs">;
}

/**
 * The entries of a record, in the order of its changes; the one place where commits become entries. Call it before
 * the record is staged.
 *
 * A memory was restored that was not there and is beyond its first version, from the trash or an export, with its document
 * where it is the root of one; and one whose present version ends that way. A row that is written again in the same version
 * says nothing, nor do earlier versions, vectors, waypoints, salience and requests.
 * @param erases the user whose data the record erases: that is all it says.
 */
export function feedEntriesOf(
  changes: readonly Change[],
  erases: string | undefined,
  before: BeforeRecord,
): FeedEntry[] {
  if (erases !== undefined) return [{ kind: "user.erased", id: erases, userId: erases }];
  const entries = new Map<string, FeedEntry>();
  const note = (
    table: Table,
    id: string,
    row: Owned | null,
    known: Owned | undefined,
    isRestored = false,
  ) => {
    const key = `${table} ${id}`;
    if (row === null && known === undefined) return void entries.delete(key);
    const made = known === undefined ? "added" : "updated";
    const how = row === null ? "deleted" : isRestored ? "restored" : made;
    entries.set(key, { kind: `${table}.${how}`, id, userId: (row ?? known)?.userId ?? null });
  };
  const replaced = new Map(
    changes.flatMap(({ table, row }) =>
      table === "versions" && row?.endedHow === "restored" ? [[row.memoryId, row.version] as const] : [],
    ),
  );
  for (const { table, id, row } of changes) {
    if (table === "memories") {
      const known = before.find(id);
      const isBack =
        known === undefined ? row !== null && row.version > 1 : replaced.get(id) === known.version;
      if (row === null || row.version !== known?.version) note("memory", id, row, known, isBack);
    } else if (table === "facts") {
      const factId = factIdOfRow(id);
      // Any of its versions that stays makes it one that is there.
      if (row !== null || !entries.has(`fact ${factId}`))
        note("fact", factId, row, before.facts.find(factId)?.latest);
    } else if (table === "documents") {
      const root = row === null ? undefined : entries.get(`memory ${row.rootMemoryId}`);
      const known = before.documents.byId.get(id);
      note("document", id, row, known, known === undefined && root?.kind === "memory.restored");
    } else if (table === "jobs") note("job", id, row, before.documents.jobs.get(id));
  }
  return [...entries.values()];
}

type Owned = { readonly userId: string | null };

export interface FollowChangesInput extends ListChangesInput {
  /** Ends it; the page that is due comes first. */
  readonly signal: AbortSignal;
  /** An empty page comes after so long without another, milliseconds. */
  readonly heartbeatMs: number;
}

/** A page of the feed. */
export const listChanges = ({ feed }: { readonly feed: Feed }, input: ListChangesInput): FeedPage =>
  feed.list(input);

/** A page at once, and another as soon as there is more. */
export async function* followChanges(
  { feed }: { readonly feed: Feed },
  { signal, heartbeatMs, ...input }: FollowChangesInput,
): AsyncGenerator<FeedPage, void, undefined> {
  let { since } = input;
  let heartbeatAt = 0;
  for (;;) {
    const page = feed.list({ ...input, ...(since !== undefined && { since }) });
    since = page.next;
    if (page.items.length > 0 || page.reset || performance.now() >= heartbeatAt) {
      yield page;
      heartbeatAt = performance.now() + heartbeatMs;
    }
    if (signal.aborted) return;
    if (page.items.length < input.limit)
      await more(feed, { ...input, since }, heartbeatAt - performance.now(), signal);
  }
}

/** Resolves with the next record, when the time is up or when the signal is aborted. */
function more(feed: Feed, input: ListChangesInput, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      unwatch();
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const unwatch = feed.watch(done, input.userId);
    // There may be more already: what came while the page was read.
    const timer = setTimeout(done, feed.list(input).next === input.since ? ms : 0);
    signal.addEventListener("abort", done, { once: true });
  });
}
