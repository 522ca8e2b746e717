import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { type Database, DatabaseError } from "../../../src/storage/postgres/database.ts";
import { DatabaseClock } from "../../../src/storage/postgres/database-clock.ts";
import { UserStores } from "../../../src/storage/postgres/user-stores.ts";
import { createFakeEmbedder } from "../../support/fake-embedder.ts";

it("loads users of several callers by turns", async () => {
  const loads: (() => void)[] = [];
  const never = () => Promise.reject(new TypeError("not asked here"));
  const database: Database = {
    query: never,
    begin: () =>
      new Promise((_, reject) => loads.push(() => reject(new DatabaseError(new Error("away"), false)))),
    close: never,
  };
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const parts = { database, stamp: createFakeEmbedder().stamp, clock: new DatabaseClock(), log };
  const users = new UserStores(parts, Infinity, () => undefined);
  const ended: string[] = [];
  const asked = ["a1", "a2", "a3", "a4", "a5", "a6", "a7", "b1", "b2", "c1"].map((user) =>
    users.find(user, user.charAt(0)).catch(() => ended.push(user)),
  );
  for (let end = loads.shift(); end !== undefined; end = loads.shift()) {
    expect(loads.length).toBeLessThan(4);
    end();
    await nextTurn();
  }
  await Promise.all(asked);
  expect(ended).toEqual(["a1", "a2", "a3", "a4", "a5", "b1", "c1", "a6", "b2", "a7"]);
});
