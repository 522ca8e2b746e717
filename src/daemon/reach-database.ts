import { readFileSync } from "node:fs";
import type { PoolConfig } from "pg";
import { type Config, ConfigError } from "../config/config.ts";
import { storeUnusable } from "../core/errors.ts";
import { isLoopback } from "../http/access.ts";
import { type Database, DatabaseError, openDatabase } from "../storage/postgres/database.ts";
import { prepareSchema, SCHEMA_VERSION } from "../storage/postgres/schema.ts";

/** Makes or migrates the tables of memoryd in the database. @returns the version before, and that of now. */
export async function prepareDatabase(config: Pick<Config, "store" | "storePasswordFile">) {
  const database = openDatabase({ ...databaseOf(config), query_timeout: 0 });
  try {
    return { before: await asked(database, prepareSchema), now: SCHEMA_VERSION };
  } finally {
    await database.close();
  }
}

/** Remedies for errors by code and text: SQLSTATE, or those of Node, `pg` or a pooler. */
const REMEDIES: readonly (readonly [error: RegExp, remedy: string])[] = [
  [
    /^28P01 |SASL.{0,80}password|password authentication failed|SASL authentication failed/,
    "The database asks for a password, and got none or a wrong one. Put it in a file and name that with --store-password-file, or in ~/.pgpass.",
  ],
  [
    /^53300 |no more connections/,
    "The database has no connection free. A node takes up to ten: raise max_connections of the server, or put a pooler such as PgBouncer between.",
  ],
  [
    /^(DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED|UNABLE_TO_(GET|VERIFY))/,
    "The certificate of the database is not from an authority that this machine knows. Set NODE_EXTRA_CA_CERTS to a file with the certificate of its authority (PEM).",
  ],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID /,
    "The certificate of the database is for another name than --store has. Use a name that the certificate has, or give the database one for this name.",
  ],
  [
    /^CERT_(HAS_EXPIRED|NOT_YET_VALID) /,
    "The certificate of the database is not valid today. Renew it, and look whether the clock of this machine is right.",
  ],
  [
    /^55P03 /,
    "A backup, a node or another program still uses the tables of memoryd. Wait for it or stop it, and run this again.",
  ],
  [
    /^42501 /,
    "The user of the database lacks a right: to make tables it must own the database or have CREATE on it, and a node needs the grants of docs/postgres.md.",
  ],
  [
    /not support SSL/,
    "The database does not use TLS, which memoryd needs wherever it is not on the same machine (127.0.0.1). Turn on `ssl` in the server, or in the pooler.",
  ],
];

/** @throws {ServiceError} STORE_UNUSABLE where the database does not answer, or refuses what is asked. */
export async function asked<T>(database: Database, ask: (opened: Database) => Promise<T>): Promise<T> {
  try {
    return await ask(database);
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    const { code = "" } = error.cause as { readonly code?: string };
    const [, remedy] = REMEDIES.find(([pattern]) => pattern.test(`${code} ${error.message}`)) ?? [];
    const reported = error.message.includes(code) ? error.message : `${error.message} (${code})`;
    throw storeUnusable(
      remedy !== undefined
        ? `${remedy} Reported: ${reported}.`
        : error.code === undefined
          ? `The database cannot be reached: ${reported}. Look at its address, and whether it runs.`
          : `The database refused memoryd: ${reported}.`,
      { cause: error },
    );
  }
}

/** How to reach the database: over TLS with a certificate that is checked, but on this machine. @throws {ConfigError} */
export function databaseOf({
  store,
  storePasswordFile,
}: Pick<Config, "store" | "storePasswordFile">): PoolConfig {
  const { hostname, port, username, pathname } = new URL(store);
  const host = hostname.replace(/^\[|\]$/g, "");
  return {
    host,
    port: port === "" ? 5432 : Number(port),
    ...(username !== "" && { user: decodeURIComponent(username) }),
    database: decodeURIComponent(pathname.slice(1)),
    application_name: "memoryd",
    ssl: isLoopback(host) ? false : { rejectUnauthorized: true },
    ...(storePasswordFile !== "" && { password: readPassword(storePasswordFile) }),
  };
}

function readPassword(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (cause) {
    throw new ConfigError(`The password file ${file} cannot be read.`, { cause });
  }
}
