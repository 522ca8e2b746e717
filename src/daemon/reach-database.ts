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

/** An SQLSTATE of the server, or what `pg` says where it has no password to answer with. */
const NEEDS_PASSWORD = /^28P01$|^SASL:.*password/;

/** @throws {ServiceError} STORE_UNUSABLE where the database does not answer, or refuses what is asked. */
export async function asked<T>(database: Database, ask: (opened: Database) => Promise<T>): Promise<T> {
  try {
    return await ask(database);
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    if (NEEDS_PASSWORD.test(error.code ?? error.message))
      throw storeUnusable(
        "The database asks for a password, and got none or a wrong one. Put it in a file and name that with --store-password-file, or in ~/.pgpass.",
        { cause: error },
      );
    throw storeUnusable(
      error.code === undefined
        ? `The database cannot be reached: ${error.message}. Look at its address, and whether it runs.`
        : `The database refused memoryd: ${error.message} (${error.code}).`,
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
