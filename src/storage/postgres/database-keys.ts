import type { ApiKey, KeyFile } from "../../core/access/key-ring.ts";
import { conflict, storeUnusable } from "../../core/errors.ts";
import { isKeys } from "../files/key-file.ts";
import { type Database, databaseAway, DatabaseError, perhapsWritten } from "./database.ts";

/** The keys of all nodes, in the database. */
export class DatabaseKeys implements KeyFile {
  readonly #database: Database;
  /** The version of the keys that were read or written last: no other keys have it, also where a promoted replica has lost them. */
  #version = "";

  constructor(database: Database) {
    this.#database = database;
  }

  /** True where another node has written keys since. */
  async isBehind(): Promise<boolean> {
    const [row] = await this.#database.query<[string]>("select keys_version from memoryd.setup");
    return row?.[0] !== this.#version;
  }

  /** As `readKeyFile`. */
  async read(): Promise<readonly ApiKey[] | undefined> {
    const [row] = await this.#database.query<[string, string | null]>(
      "select keys_version, keys from memoryd.setup",
    );
    const [version = "", text = null] = row ?? [];
    const keys: unknown = text === null ? undefined : JSON.parse(text);
    if (keys !== undefined && !isKeys(keys))
      throw storeUnusable(
        "The keys in the database (memoryd.setup) are damaged, so nobody can be let in. Restore them from the database's backup.",
      );
    this.#version = version;
    return keys as readonly ApiKey[] | undefined;
  }

  write(keys: readonly ApiKey[]): Promise<void> {
    return this.#put(JSON.stringify(keys));
  }

  remove(): Promise<void> {
    return this.#put(null);
  }

  /** @throws {ServiceError} CONFLICT where another node was faster, NOT_READY without the database. */
  async #put(keys: string | null): Promise<void> {
    const [row] = await this.#database
      .query<[string]>(
        "update memoryd.setup set keys = $1, keys_version = keys_version + 1 + floor(random() * 1e9)::bigint where keys_version = $2 returning keys_version",
        [keys, this.#version],
      )
      .catch((error: unknown) => {
        if (!(error instanceof DatabaseError)) throw error;
        throw error.isUnknown ? perhapsWritten(error) : databaseAway(error);
      });
    if (row === undefined)
      throw conflict("Another node changed the keys at this moment; try again shortly.", {
        retryAfterSeconds: 3,
      });
    [this.#version] = row;
  }
}
