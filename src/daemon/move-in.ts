import type { Config } from "../config/config.ts";
import { inPieces } from "../core/at-once.ts";
import { type EmbeddingStamp, stampKey } from "../core/embedding.ts";
import type { ApiKey } from "../core/access/key-ring.ts";
import { ServiceError, storeUnusable, unprocessable } from "../core/errors.ts";
import { type Fact, factRowId } from "../core/facts/fact.ts";
import { duplicateHash } from "../core/memories/compose-memory.ts";
import type { MemoryStore } from "../core/ports.ts";
import { type Change, edgeId, type MemoryRow, type Rows } from "../core/rows.ts";
import { GONE_MODELS } from "../models/bundled-models.ts";
import { nodeDisk } from "../storage/files/disk.ts";
import { readKeyFile } from "../storage/files/key-file.ts";
import type { OpenedStore } from "../storage/open-store.ts";
import { type Database, DatabaseError, openDatabase } from "../storage/postgres/database.ts";
import { DatabaseClock } from "../storage/postgres/database-clock.ts";
import { DatabaseKeys } from "../storage/postgres/database-keys.ts";
import { openUser } from "../storage/postgres/open-user.ts";
import { kindOf } from "../storage/postgres/row-columns.ts";
import { checkSchema } from "../storage/postgres/schema.ts";
import { asked, databaseOf } from "./reach-database.ts";
import { QUIET, requireStore, withStoppedStore } from "./stopped-store.ts";
import { sha256 } from "./system.ts";

const MEMORIES_PER_WRITE = 200;
const ROWS_PER_WRITE = 1_000;

export interface MoveInOptions {
  /** Whose memories and facts become that have no user; undefined: there must be none. */
  readonly nobodyAs?: string | undefined;
  /** Leaves documents and their memories behind. */
  readonly withoutDocuments: boolean;
  /** Moves no keys. */
  readonly withoutKeys: boolean;
  readonly onProgress: (doneUsers: number, users: number) => void;
}

/** A user's rows in a data directory. */
interface Belongings {
  /** Ids, in the order of adding. */
  readonly memories: string[];
  readonly facts: Fact[];
  readonly versions: string[];
}

/**
 * Copies the memories, facts, earlier versions and keys of a stopped daemon's data directory into a prepared database, user by
 * user, and compares each memory with what the database then has. The directory stays as it is. Called again after an
 * interruption it goes on. What was removed in the database after an earlier run stays removed: within a week, or while a
 * memory is in the trash there.
 *
 * @throws {ServiceError} UNPROCESSABLE, before anything is written, for what cannot be moved; STORE_UNUSABLE for what cannot be read or written,
 * and at the end, when all else was moved, for users who have other memories in the database.
 */
export async function moveIn(
  config: Pick<Config, "store" | "storePasswordFile">,
  from: string,
  options: MoveInOptions,
) {
  await requireStore(from, "--from");
  const database = openDatabase(databaseOf(config));
  let stamp: EmbeddingStamp | undefined;
  try {
    return await withStoppedStore(
      from,
      QUIET,
      async ({ store, storeId }) => {
        if (stamp === undefined || store.vectors.before !== undefined || !store.lackingVectors().next().done)
          throw unprocessable(
            "Some memories have no vectors of the store's model yet. Start its daemon until `memoryd models` says that none are missing.",
          );
        const gone = GONE_MODELS.get(stamp.model);
        if (gone !== undefined)
          throw unprocessable(
            `The vectors of the memories are of ${gone}, which no longer ships. Start the daemon of ${from} once, until ` +
              "`memoryd models` says that none are missing, and migrate then. Nothing was changed.",
          );
        const belongings = belongingsIn(store, options);
        const known = stamp;
        await asked(database, (opened) => checkSchema(opened, known));
        const keys = await readKeyFile(nodeDisk, from);
        const kept = new DatabaseKeys(database);
        const keysThere = await asked(database, () => kept.read());
        if (!options.withoutKeys) assertKnown(keys, keysThere);
        if (belongings.has(null))
          await asked(database, (opened) => assertNotMovedAs(opened, storeId, options.nobodyAs));
        // Keys go first: while users are moved a locked store stays locked.
        if (keysThere === undefined && keys !== undefined && !options.withoutKeys)
          await connected(database, () => kept.write(keys));
        const clock = new DatabaseClock();
        const leftAlone: string[] = [];
        const moved = { users: 0, memories: 0, facts: 0, versions: 0 };
        for (const [owner, inStore] of belongings) {
          const user = owner ?? options.nobodyAs ?? "";
          const own = await connected(database, async () => {
            const target = await openUser({ database, stamp: known, clock, log: QUIET }, user);
            await target.refresh();
            const removed = await removedRows(database, user);
            const left = withoutRemoved(inStore, removed, target.store);
            if (isOther(target.store, left)) {
              leftAlone.push(user);
              await target.store.close();
              return undefined;
            }
            if (owner === null) await noteMovedAs(database, storeId, user);
            await moveUser(store, target.store, { user, own: left, removed, stampName: stampKey(known) });
            await target.store.close();
            return left;
          });
          if (own === undefined) continue;
          moved.users += 1;
          moved.memories += own.memories.length;
          moved.facts += new Set(own.facts.map(({ id }) => id)).size;
          moved.versions += own.versions.length;
          options.onProgress(moved.users, belongings.size);
        }
        if (leftAlone.length > 0)
          throw storeUnusable(
            `These users have other memories or facts in the database and were left alone: ${leftAlone.map((user) => JSON.stringify(user)).join(", ")}. ` +
              `All else was moved (${moved.users} users, ${moved.memories} memories).`,
          );
        return moved;
      },
      { stamp: (stored) => (stamp = stored) ?? { model: "", windows: "", pooling: "", projection: "" } },
    );
  } finally {
    await database.close();
  }
}

/** As `asked`, also where a store of a user reports what the database answered. */
const connected = <T>(database: Database, work: () => Promise<T>): Promise<T> =>
  asked(database, () =>
    work().catch((error: unknown) => {
      throw error instanceof ServiceError && error.cause instanceof DatabaseError ? error.cause : error;
    }),
  );

/** @throws {ServiceError} UNPROCESSABLE for keys that the database, which has keys, does not know, or takes where the store does not. */
function assertKnown(keys: readonly ApiKey[] = [], there: readonly ApiKey[] | undefined): void {
  if (there === undefined) return;
  const known = new Map(there.map((key) => [key.id, key]));
  const unknown = keys.filter(({ id, revokedAt }) => revokedAt === null && !known.has(id));
  if (unknown.length > 0)
    throw unprocessable(
      `The database has keys of its own, and these of the store are not among them: ${namesOf(unknown)}. ` +
        "Nothing was written. Leave all keys behind with --without-keys, and make new ones with `memoryd keys create` on a node.",
    );
  const taken = keys.filter(({ id, revokedAt }) => revokedAt !== null && known.get(id)?.revokedAt === null);
  if (taken.length > 0)
    throw unprocessable(
      `These keys are revoked in the store, and the database still takes them: ${namesOf(taken)}. ` +
        "Nothing was written. Revoke them with `memoryd keys revoke` on a node, or leave all keys behind with --without-keys.",
    );
}

const namesOf = (keys: readonly ApiKey[]): string => keys.map(({ name }) => JSON.stringify(name)).join(", ");

/** @throws {ServiceError} UNPROCESSABLE where an earlier run gave what has no user in that store to another user. */
async function assertNotMovedAs({ query }: Database, storeId: string, user = ""): Promise<void> {
  const [row] = await query<[string | null]>("select nobody_as ->> $1 from memoryd.setup", [storeId]);
  const known = row?.[0] ?? user;
  if (known !== user)
    throw unprocessable(
      `What has no user was given to ${JSON.stringify(known)} by an earlier run. Go on with --nobody-as ${JSON.stringify(known)}; nothing was written.`,
    );
}

async function noteMovedAs({ query }: Database, storeId: string, user: string): Promise<void> {
  await query("update memoryd.setup set nobody_as = nobody_as || jsonb_build_object($1::text, $2::text)", [
    storeId,
    user,
  ]);
}

/** The rows to be moved, by user; null: of nobody. */
function belongingsIn(
  store: OpenedStore["store"],
  { nobodyAs, withoutDocuments }: MoveInOptions,
): Map<string | null, Belongings> {
  const { catalogue } = store;
  const belongings = new Map<string | null, Belongings>();
  const of = (user: string | null): Belongings => {
    const own = belongings.get(user) ?? { memories: [], facts: [], versions: [] };
    belongings.set(user, own);
    return own;
  };
  let documents = 0;
  for (const id of store.memoryIds()) {
    const entry = catalogue.find(id);
    if (entry === undefined) continue;
    if (entry.documentId === null) of(entry.userId).memories.push(id);
    else documents += 1;
  }
  for (const { facts } of catalogue.facts.timelines({}))
    for (const { versions, latest } of facts) of(latest.userId).facts.push(...versions);
  for (const { id, userId, documentId } of catalogue.versions.all())
    if (documentId === null) of(userId).versions.push(id);
    else documents += 1;
  if (documents > 0 && !withoutDocuments)
    throw unprocessable(
      `The store has ${documents} memories of documents, which a database cannot hold yet. Leave them behind with --without-documents.`,
    );
  if (belongings.has(null) && nobodyAs === undefined)
    throw unprocessable(
      "Some memories or facts have no user, and in a database each has one. Say whose they become with --nobody-as.",
    );
  if (belongings.has(null) && nobodyAs !== undefined && belongings.has(nobodyAs))
    throw unprocessable(
      `--nobody-as must name a user who has nothing in the store yet; ${JSON.stringify(nobodyAs)} has.`,
    );
  return belongings;
}

const removedName = (table: keyof Rows, id: string): string => `${kindOf(table)} ${id}`;

/** Names of the rows of a user that were removed from the database and are remembered there. */
async function removedRows({ query }: Database, user: string): Promise<ReadonlySet<string>> {
  const rows = await query<[string]>(
    "select kind || ' ' || id from memoryd.row where owner = $1 and slim is null",
    [user],
  );
  return new Set(rows.map(([name]) => name));
}

/** The belongings of a user in the store without those that were deleted in the database after an earlier run. */
function withoutRemoved(
  own: Belongings,
  removed: ReadonlySet<string>,
  { catalogue }: MemoryStore,
): Belongings {
  const isDeleted = (id: string) =>
    removed.has(removedName("memories", id)) || catalogue.versions.deleted(id) !== undefined;
  return {
    memories: own.memories.filter((id) => !isDeleted(id)),
    facts: own.facts.filter((fact) => !removed.has(removedName("facts", factRowId(fact)))),
    versions: own.versions.filter((id) => !removed.has(removedName("versions", id))),
  };
}

/** Whether a user has something in the database, and nothing of what is moved: what came after an earlier run stays beside it. */
function isOther({ catalogue }: MemoryStore, own: Belongings): boolean {
  const { ids } = catalogue.page({}, { limit: 1, offset: 0 });
  const isEmpty = ids.length === 0 && catalogue.facts.timelines({}).length === 0;
  const isNothingLeft = own.memories.length === 0 && own.facts.length === 0;
  return (
    !isEmpty &&
    !isNothingLeft &&
    !own.memories.some((id) => catalogue.find(id) !== undefined) &&
    !own.facts.some(({ id }) => catalogue.facts.find(id) !== undefined)
  );
}

async function moveUser(
  source: OpenedStore["store"],
  target: MemoryStore,
  {
    user,
    own,
    removed,
    stampName,
  }: {
    readonly user: string;
    readonly own: Belongings;
    readonly removed: ReadonlySet<string>;
    readonly stampName: string;
  },
): Promise<void> {
  const known = new Set(own.memories);
  const write = async (all: Change[]): Promise<void> => {
    for (const changes of inPieces(all, ROWS_PER_WRITE))
      await target.commit(() => ({ changes, result: undefined }));
  };

  for (const ids of inPieces(own.memories, MEMORIES_PER_WRITE)) {
    const rows = new Map<string, MemoryRow>();
    for (const [id, row] of await source.readRows(ids)) {
      const owned = { ...row, userId: user };
      // The hash is of the owner, too.
      rows.set(id, row.userId === user ? owned : { ...owned, duplicateHash: duplicateHash(sha256, owned) });
    }
    const tokens = await source.readTokens(ids);
    const changes = ids.flatMap((id): Change[] => {
      const [row, vectors] = [rows.get(id), tokens.get(id)?.vectors];
      const windows = source.windowsOf(source.catalogue.find(id)?.ordinal ?? -1);
      const signals = source.catalogue.signalsOf(id);
      if (row === undefined || vectors === undefined || signals === undefined || windows.length === 0)
        throw storeUnusable(
          `The memory ${id} cannot be read whole. Look at the store with \`memoryd doctor\`.`,
        );
      if (target.catalogue.find(id) !== undefined) return [];
      return [
        { table: "memories", id, row },
        { table: "vectors", id, row: { userId: user, stamp: stampName, windows } },
        { table: "tokens", id, row: { stamp: stampName, vectors: vectors.slice() } },
        { table: "signals", id, row: signals },
      ];
    });
    if (changes.length > 0) await target.commit(() => ({ changes, result: undefined }));
    const written = await target.readRows(ids);
    for (const [id, row] of rows)
      // A later version was changed in the database since an earlier run.
      if (
        (written.get(id)?.version ?? 0) <= row.version &&
        JSON.stringify(written.get(id)) !== JSON.stringify(row)
      )
        throw storeUnusable(`The database has another text or version of the memory ${id} than the store.`);
  }

  await write(
    own.memories.flatMap((id) =>
      source.catalogue
        .edgesOf(id)
        .filter((edge) => edge.source === id && known.has(edge.target))
        .map((edge): Change => ({ table: "edges", id: edgeId(edge), row: edge }))
        .filter(({ table, id }) => !removed.has(removedName(table, id))),
    ),
  );
  const versionsOf = (id: string) => target.catalogue.facts.find(id)?.versions ?? [];
  await write(
    own.facts
      .filter(({ id, version }) => !versionsOf(id).some((fact) => fact.version === version))
      .map((fact): Change => {
        const { sourceMemoryId } = fact;
        const isSourceMoved = sourceMemoryId !== null && known.has(sourceMemoryId);
        const row = { ...fact, userId: user, sourceMemoryId: isSourceMoved ? sourceMemoryId : null };
        return { table: "facts", id: factRowId(fact), row };
      }),
  );
  for (const ids of inPieces(own.versions, MEMORIES_PER_WRITE))
    await write(
      [...(await source.readVersions(ids))].map(([id, row]): Change => {
        const memory = { ...row.memory, userId: user };
        return { table: "versions", id, row: { ...row, userId: user, memory } };
      }),
    );
}
