import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe } from "vitest";
import { RequestLedger } from "../../../src/core/idempotency.ts";
import type { Clock } from "../../../src/core/ports.ts";
import { type Database, openDatabase } from "../../../src/storage/postgres/database.ts";
import { openUser } from "../../../src/storage/postgres/open-user.ts";
import { checkSchema, prepareSchema } from "../../../src/storage/postgres/schema.ts";
import { factStoreContract } from "../../contract/fact-store.contract.ts";
import { memoryStoreContract } from "../../contract/memory-store.contract.ts";
import { twoOpenersContract } from "../../contract/two-openers.contract.ts";
import { createFakeEmbedder } from "../../support/fake-embedder.ts";
import { createMemoryWorld } from "../../support/memory-world.ts";
import { SetClock } from "../../support/user-stores.ts";
import { hasPostgres, sharedPostgres } from "../../support/postgres-server.ts";
import { times } from "../../support/stress.ts";

const { stamp } = createFakeEmbedder();
const log = { info: () => {}, warn: () => {}, error: () => {} };

describe.skipIf(!hasPostgres)("PostgreSQL", () => {
  let database: Database;
  beforeAll(async () => {
    const connectionString = await (await sharedPostgres()).database("contracts");
    database = openDatabase({ connectionString });
    await prepareSchema(database);
    await checkSchema(database, stamp);
  });
  afterAll(() => database.close());

  const open = (user: string, clock: Clock, imageFrom = Infinity) =>
    openUser({ database, stamp, clock: new SetClock(clock), log, imageFrom }, user);

  memoryStoreContract("a user's store in PostgreSQL", async () => {
    const { ports } = createMemoryWorld();
    const { store } = await open(randomUUID(), ports.clock);
    return { ports: { ...ports, store }, settle: async () => {}, close: () => store.close() };
  });

  factStoreContract("a user's facts in PostgreSQL", async () => {
    const { ports } = createMemoryWorld();
    const user = randomUUID();
    let { store } = await open(user, ports.clock);
    const now = () => ({ ...ports, store, requests: new RequestLedger() });
    return {
      ports: now(),
      async restart() {
        await store.close();
        ({ store } = await open(user, ports.clock));
        return now();
      },
      close: () => store.close(),
    };
  });

  for (const [name, imageFrom] of [
    ["a user's store in PostgreSQL", Infinity],
    ["a user's store in PostgreSQL with an image", 1],
  ] as const)
    twoOpenersContract(
      name,
      async (clock) => {
        const user = randomUUID();
        return {
          async open() {
            const opened = await open(user, clock, imageFrom);
            return { ...opened, close: () => opened.store.close() };
          },
          remove: async () => {},
        };
      },
      times(3),
    );
});
