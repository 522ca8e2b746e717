import { randomUUID } from "node:crypto";
import { type EmbeddingStamp, stampKey } from "../../core/embedding.ts";
import { storeUnusable } from "../../core/errors.ts";
import { type Database, DatabaseError } from "./database.ts";
import { changeOf, timeOf } from "./row-columns.ts";

/** Statements that bring the schema to version 1, 2, …; each is run once, in order. */
const MIGRATIONS: readonly string[] = [
  `create schema if not exists memoryd;
create table memoryd.setup (
  one boolean primary key default true check (one),
  version integer not null,
  store_id text not null,
  stamp text,
  keys text,
  keys_version bigint not null default 0
);
create table memoryd.owner (
  owner text primary key,
  sequence bigint not null,
  token text not null,
  at bigint not null,
  next_order bigint not null,
  floor bigint not null default 0
);
create table memoryd.record (
  owner text not null,
  sequence bigint not null,
  token text not null,
  at bigint not null,
  erases boolean not null,
  entries text not null,
  primary key (owner, sequence)
);
create index record_at on memoryd.record (at);
create table memoryd.row (
  owner text not null,
  kind smallint not null,
  id text not null,
  sequence bigint not null,
  slim bytea,
  heavy bytea,
  primary key (owner, kind, id)
);
alter table memoryd.row alter heavy set storage external;
create index row_since on memoryd.row (owner, sequence);`,
  `create table memoryd.image (
  owner text primary key,
  sequence bigint not null,
  key text not null,
  content bytea not null
);
alter table memoryd.image alter content set storage external;`,
  `alter table memoryd.row add column at double precision;
create index row_listed on memoryd.row (owner, kind, id) include (at) where kind in (0, 6) and slim is not null;`,
  "alter table memoryd.setup add column nobody_as jsonb not null default '{}'",
];
/** The version whose rows have their times in a column. */
const WITH_TIMES = 3;
const ROWS_PER_STATEMENT = 1_000;

/** The schema that this program works with. */
export const SCHEMA_VERSION = MIGRATIONS.length;
const LEAST_SERVER = 150_000;
/** Of an advisory lock that ends with its transaction: two that prepare at once wait for each other. */
const PREPARING = 0x6d656d64;

/** Makes the schema, or brings it to the newest version. @returns the version before; 0 where there was none. */
export async function prepareSchema(database: Database): Promise<number> {
  await checkServer(database);
  const transaction = await database.begin();
  try {
    // A new index of a large table takes as long as it takes.
    await transaction.query("set local statement_timeout = 0");
    await transaction.query("set local lock_timeout = 0");
    await transaction.query("select pg_advisory_xact_lock($1)", [PREPARING]);
    await transaction.query("set local lock_timeout = '10s'");
    const before = await versionIn(transaction);
    if (before > SCHEMA_VERSION) throw newerSchema(before);
    for (const migration of MIGRATIONS.slice(before))
      for (const statement of migration.split(/;\s*(?:\n|$)/))
        if (statement.trim() !== "") await transaction.query(statement);
    if (before > 0 && before < WITH_TIMES) await fillTimes(transaction);
    if (before === 0)
      await transaction.query("insert into memoryd.setup (version, store_id) values (0, $1)", [randomUUID()]);
    await transaction.query("update memoryd.setup set version = $1", [SCHEMA_VERSION]);
    await transaction.commit();
    return before;
  } finally {
    await transaction.end();
  }
}

async function fillTimes({ query }: Pick<Database, "query">): Promise<void> {
  for (let last = ["", 0, ""]; ;) {
    const rows = await query<[owner: string, kind: number, id: string, slim: Buffer]>(
      `select owner, kind, id, slim from memoryd.row
        where kind in (0, 6) and slim is not null and (owner, kind, id) > ($1, $2, $3)
        order by owner, kind, id limit ${ROWS_PER_STATEMENT}`,
      last,
    );
    await query(
      `update memoryd.row r set at = t.at from unnest($1::text[], $2::smallint[], $3::text[], $4::float8[]) t (owner, kind, id, at)
        where r.owner = t.owner and r.kind = t.kind and r.id = t.id`,
      [
        rows.map(([owner]) => owner),
        rows.map(([, kind]) => kind),
        rows.map(([, , id]) => id),
        rows.map(([, kind, id, slim]) => timeOf(changeOf(kind, id, { slim, heavy: null }))),
      ],
    );
    if (rows.length < ROWS_PER_STATEMENT) return;
    last = rows.at(-1)?.slice(0, 3) as typeof last;
  }
}

/**
 * Checks that the database can be worked with, and notes the model of its vectors where it has none yet.
 *
 * @returns the id of the store. @throws {ServiceError} STORE_UNUSABLE, in a sentence that says what to do.
 */
export async function checkSchema(database: Database, stamp: EmbeddingStamp): Promise<string> {
  await checkServer(database);
  const version = await versionIn(database).catch((error: unknown) => {
    throw error instanceof DatabaseError && error.code === "42501" ? lacksRights(error.message) : error;
  });
  if (version > SCHEMA_VERSION) throw newerSchema(version);
  if (version < SCHEMA_VERSION)
    throw storeUnusable(
      version === 0
        ? "The database has no tables of memoryd yet: run `memoryd store prepare` with its address first."
        : `The tables of memoryd in the database have version ${version}, and this memoryd needs ${SCHEMA_VERSION}: run ` +
            "`memoryd store prepare` with its address first.",
    );
  await checkRights(database);
  const key = stampKey(stamp);
  await database.query("update memoryd.setup set stamp = $1 where stamp is null", [key]);
  const [setup] = await database.query<[string, string]>("select store_id, stamp from memoryd.setup");
  const [storeId, stored] = setup ?? ["", ""];
  if (stored !== key)
    throw storeUnusable(
      `The memories in the database were embedded with another model or rule (${stored}; this memoryd has ${key}). ` +
        "Start the version that wrote them; the model of a database cannot be changed yet.",
    );
  return storeId;
}

/** The key of the stamp of a database's vectors; undefined where it has none yet. */
export async function stampIn(database: Database): Promise<string | undefined> {
  if ((await versionIn(database)) === 0) return undefined;
  const [setup] = await database.query<[string | null]>("select stamp from memoryd.setup");
  return setup?.[0] ?? undefined;
}

const RIGHTS = ["select", "insert", "update", "delete"];

async function checkRights({ query }: Database): Promise<void> {
  const lacking = await query<[string]>(
    `select t.name || ': ' || string_agg(p.name, ', ') from unnest($1::text[]) t(name), unnest($2::text[]) p(name)
      where not has_table_privilege('memoryd.' || t.name, p.name) group by t.name`,
    [["owner", "record", "row", "image"], RIGHTS],
  );
  const setup = await query<[boolean]>(
    "select has_table_privilege('memoryd.setup', 'select') and has_table_privilege('memoryd.setup', 'update')",
  );
  if (setup[0]?.[0] !== true) lacking.push(["setup: select, update"]);
  if (lacking.length > 0) throw lacksRights(lacking.join("; "));
}

const lacksRights = (what: string) =>
  storeUnusable(
    `The database refuses its user what memoryd needs (${what}): grant it usage of the schema memoryd, and select, insert, ` +
      "update and delete on all tables in it.",
  );

async function checkServer({ query }: Pick<Database, "query">): Promise<void> {
  const [row] = await query<[string, string]>(
    "select current_setting('server_version_num'), current_setting('server_version')",
  );
  const [version = "0", name] = row ?? [];
  if (Number(version) < LEAST_SERVER)
    throw storeUnusable(`The database is PostgreSQL ${name}; memoryd needs version 15 or later.`);
}

async function versionIn({ query }: Pick<Database, "query">): Promise<number> {
  // Not by `to_regclass`, which may know no better than before the wait for another that prepared.
  const known = await query(
    "select 1 from pg_catalog.pg_tables where schemaname = 'memoryd' and tablename = 'setup'",
  );
  if (known.length === 0) return 0;
  const [row] = await query<[number]>("select version from memoryd.setup");
  return row?.[0] ?? 0;
}

const newerSchema = (version: number) =>
  storeUnusable(
    `The tables of memoryd in the database were made by a newer memoryd (version ${version}, this one knows ${SCHEMA_VERSION}). ` +
      "Nothing was changed: use the newer program.",
  );
