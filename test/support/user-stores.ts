import type { Clock } from "../../src/core/ports.ts";
import { RequestLedger } from "../../src/core/idempotency.ts";
import type { MemoryPorts } from "../../src/core/memories/memory-ports.ts";
import { type Database, openDatabase } from "../../src/storage/postgres/database.ts";
import { DatabaseClock } from "../../src/storage/postgres/database-clock.ts";
import type { UserStore } from "../../src/storage/postgres/open-user.ts";
import { checkSchema, prepareSchema } from "../../src/storage/postgres/schema.ts";
import { UserStores } from "../../src/storage/postgres/user-stores.ts";
import { uuidSource } from "../../src/daemon/system.ts";
import { createMemoryWorld } from "./memory-world.ts";

export interface TestNode {
  readonly database: Database;
  readonly users: UserStores<{ readonly opened: UserStore; readonly ports: MemoryPorts }>;
  /** What was logged as a warning. */
  readonly warnings: readonly string[];
  /** The ports of a user, as a request gets them. */
  portsOf(user: string): Promise<MemoryPorts>;
  close(): Promise<void>;
}

/** A clock that goes by that of a test. */
export class SetClock extends DatabaseClock {
  readonly #clock: Clock;

  constructor(clock: Clock) {
    super();
    this.#clock = clock;
  }

  override now(): number {
    return this.#clock.now();
  }
}

/** What a process has of the storage in PostgreSQL, over a prepared database. */
export async function openTestNode(
  connectionString: string,
  {
    patienceMs = 10_000,
    budgetBytes = 1e9,
    clock = new DatabaseClock(),
    imageFrom,
  }: {
    readonly patienceMs?: number;
    readonly budgetBytes?: number;
    readonly clock?: DatabaseClock;
    readonly imageFrom?: number;
  } = {},
): Promise<TestNode> {
  const { ports, embedder } = createMemoryWorld();
  const database = openDatabase({ connectionString });
  await prepareSchema(database);
  await checkSchema(database, embedder.stamp);
  const warnings: string[] = [];
  const warn = (_details: object, phrase: string) => void warnings.push(phrase);
  const log = { info: () => {}, warn, error: () => {} };
  const more = imageFrom === undefined ? {} : { imageFrom };
  const parts = { database, stamp: embedder.stamp, clock, log, patienceMs, ...more };
  const users = new UserStores(parts, budgetBytes, (opened) => ({
    opened,
    ports: { ...ports, clock, ids: uuidSource, store: opened.store, requests: new RequestLedger() },
  }));
  return {
    database,
    users,
    warnings,
    portsOf: async (user) => (await users.find(user)).ports,
    async close() {
      await users.close();
      await database.close();
    },
  };
}
