import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { addMemories, addMemory } from "../../src/core/memories/add-memories.ts";
import { reinforceMemory } from "../../src/core/memories/reinforce-memory.ts";
import { openDatabase } from "../../src/storage/postgres/database.ts";
import { DatabaseKeys } from "../../src/storage/postgres/database-keys.ts";
import { add, contents, expectKept, writeDuring } from "../support/node-writers.ts";
import { type PostgresServer, hasPostgres, startPostgres } from "../support/postgres-server.ts";
import { times } from "../support/stress.ts";
import { openSwallowingProxy, type SwallowingProxy } from "../support/swallowing-proxy.ts";
import { openTestNode, type TestNode } from "../support/user-stores.ts";

/** The statement that writes. */
const WRITE = "with moved as";

describe.skipIf(!hasPostgres)("users' stores while the database fails", () => {
  let server: PostgresServer;
  let address: string;
  beforeAll(async () => {
    server = await startPostgres();
    address = await server.database("faults");
  });
  afterAll(() => server.stop());

  let nodes: TestNode[];
  beforeEach(async () => {
    nodes = [await openTestNode(address), await openTestNode(address)];
  });
  afterEach(async () => {
    for (const node of nodes) await node.close();
  });
  const [first, second] = [0, 1].map((i) => () => nodes[i] as TestNode) as [() => TestNode, () => TestNode];

  it("lose no answered write and make none twice while connections are terminated", async () => {
    const writes = await writeDuring(nodes, async () => {
      for (let round = 0; round < times(15); round += 1) {
        await sleep(60);
        await server.run(
          "select pg_terminate_backend(pid) from pg_stat_activity where datname = 'faults' and pid <> pg_backend_pid()",
        );
      }
    });
    await expectKept(nodes, writes);
    expect(writes.slowestMs).toBeLessThan(15_000);
  });

  it("lose no answered write and make none twice while the server is killed", async () => {
    const writes = await writeDuring(nodes, async () => {
      for (let round = 0; round < times(2); round += 1) {
        await sleep(300);
        await server.crash(300);
      }
      await sleep(300);
    });
    await expectKept(nodes, writes);
    expect(writes.slowestMs).toBeLessThan(15_000);
  });

  it("load a user anew when the database has lost commits, as a promoted replica may have", async () => {
    const user = randomUUID();
    await add(first(), user, "one");
    expect(await contents(second(), user)).toEqual(["one"]);
    await add(first(), user, "two");
    await second().database.query("delete from memoryd.row where owner = $1 and sequence = 2", [user]);
    await second().database.query("delete from memoryd.record where owner = $1 and sequence = 2", [user]);
    await second().database.query(
      "update memoryd.owner set sequence = 1, token = (select token from memoryd.record where owner = $1) where owner = $1",
      [user],
    );
    // Others go on where the lost commit was.
    await add(second(), user, "three");
    await add(second(), user, "four");
    expect(await contents(first(), user)).toEqual(["four", "three", "one"]);
    await add(first(), user, "five");
    expect(await contents(second(), user)).toEqual(["five", "four", "three", "one"]);
  });

  it("do not write on a state that the database has lost", async () => {
    const user = randomUUID();
    await add(first(), user, "one");
    const ports = await first().portsOf(user);
    await server.run("select 1");
    await second().database.query("update memoryd.owner set token = 'of another history' where owner = $1", [
      user,
    ]);
    await expect(addMemory(ports, { content: "two", userId: user })).rejects.toMatchObject({
      code: "NOT_READY",
      message: expect.stringMatching(/nothing was stored/) as string,
    });
    expect(await contents(first(), user)).toEqual(["one"]);
  });

  it("load a user anew who was away for longer than removed rows are remembered", async () => {
    const user = randomUUID();
    const { id } = await add(first(), user, "one");
    await contents(second(), user);
    await addMemory(await first().portsOf(user), { content: "two", userId: user });
    await (
      await first().portsOf(user)
    ).store.commit(() => ({
      changes: [{ table: "memories", id, row: null }],
      result: undefined,
    }));
    await second().database.query("delete from memoryd.row where owner = $1 and slim is null", [user]);
    await second().database.query("update memoryd.owner set floor = sequence where owner = $1", [user]);
    expect(await contents(second(), user)).toEqual(["two"]);
  });

  it("wait some seconds, and no longer, for a node that fell silent while it held a user", async () => {
    const user = randomUUID();
    await add(first(), user, "one");
    const silent = await second().database.begin();
    await silent.query("select 1 from memoryd.owner where owner = $1 for update", [user]);
    const startedAt = performance.now();
    await add(first(), user, "two");
    expect(performance.now() - startedAt).toBeGreaterThan(2_000);
    expect(await contents(first(), user)).toEqual(["two", "one"]);
    await expect(silent.query("select 1")).rejects.toThrow();
    await silent.end();
  });

  it("load a user anew where another node has written much", async () => {
    const user = randomUUID();
    await add(first(), user, "one");
    expect(await contents(second(), user)).toEqual(["one"]);
    const { loads } = second().users.figures;
    const items = Array.from({ length: 1_700 }, (_, i) => ({ content: `note ${i}`, userId: user }));
    await addMemories(await first().portsOf(user), { items });
    expect(await contents(second(), user)).toEqual([
      ...items.map(({ content }) => content).toReversed(),
      "one",
    ]);
    expect(second().users.figures.loads).toBe(loads + 1);
    await add(second(), user, "last");
    expect((await contents(first(), user))[0]).toBe("last");
  });

  describe("behind a network that loses answers", () => {
    let proxy: SwallowingProxy;
    let node: TestNode;
    beforeEach(async () => {
      proxy = await openSwallowingProxy(server.port);
      const behind = address.replace(`:${server.port}/`, `:${proxy.port}/`);
      node = await openTestNode(behind, { patienceMs: 1_000 });
    });
    afterEach(async () => {
      await node.close();
      await proxy.close();
    });

    it("answer a write whose answer was lost, and make it once", async () => {
      const user = randomUUID();
      for (const content of ["one", "two"]) {
        const ports = await node.portsOf(user);
        proxy.swallowAfter(WRITE);
        const { id } = (await addMemory(ports, { content, userId: user })).memory;
        expect((await contents(first(), user))[0]).toBe(content);
        proxy.swallowAfter(WRITE);
        await reinforceMemory(ports, { id, boost: 0.5 });
        expect((await first().portsOf(user)).store.catalogue.find(id)?.salience).toBeCloseTo(0.75, 5);
      }
      expect(await contents(node, user)).toEqual(["two", "one"]);
    });

    it("decide again where another node wrote after a write whose answer was lost", async () => {
      const user = randomUUID();
      await add(node, user, "one");
      const ports = await node.portsOf(user);
      proxy.swallowAfter(WRITE);
      const [here, there] = await Promise.all([
        addMemory(ports, { content: "same", userId: user }),
        add(first(), user, "same"),
      ]);
      expect(here.memory.id).toBe(there.id);
      expect(await contents(node, user)).toEqual(["same", "one"]);
    });

    it("say that nobody knows of a write when the network goes with its answer, and show it once it is back", async () => {
      const user = randomUUID();
      await add(node, user, "one");
      const ports = await node.portsOf(user);
      proxy.swallowAfter(WRITE, true);
      const written = addMemory(ports, { content: "two", userId: user });
      const refusal = written.then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(await refusal).toMatchObject({
        code: "NOT_READY",
        message: expect.stringMatching(/not known whether it was stored/) as string,
      });
      await expect(node.portsOf(user)).rejects.toMatchObject({ code: "NOT_READY", retryAfterSeconds: 1 });
      expect(await contents(first(), user)).toEqual(["two", "one"]);
      proxy.open();
      expect(await contents(node, user)).toEqual(["two", "one"]);
    });

    it("say that nobody knows of a change of keys whose answer was lost", async () => {
      const keys = new DatabaseKeys(node.database);
      await keys.read();
      proxy.swallowAfter("update memoryd.setup", true);
      await expect(keys.write([])).rejects.toMatchObject({
        code: "NOT_READY",
        message: expect.stringMatching(/not known whether it was stored/) as string,
      });
      proxy.open();
    });

    it("refuse requests at once while nobody answers, and go on when somebody does", async () => {
      const user = randomUUID();
      await add(node, user, "one");
      proxy.cut();
      const startedAt = performance.now();
      await expect(add(node, user, "two")).rejects.toMatchObject({ code: "NOT_READY", retryAfterSeconds: 1 });
      expect(performance.now() - startedAt).toBeLessThan(3_000);
      proxy.open();
      await add(node, user, "three");
      expect(await contents(first(), user)).toEqual(["three", "one"]);
    });
  });

  it("tell a request that waits for its turn to load a user to come again within some seconds", async () => {
    const holder = await second().database.begin();
    await holder.query("lock table memoryd.owner in access exclusive mode");
    const awake = setInterval(() => void holder.query("select 1").catch(() => undefined), 1_000);
    const startedAt = performance.now();
    const asked = Array.from({ length: 8 }, () => first().portsOf(randomUUID()));
    const [loading, waiting] = [asked.slice(0, 4), asked.slice(4)];
    for (const refused of await Promise.allSettled(waiting))
      expect(refused).toMatchObject({
        status: "rejected",
        reason: {
          code: "NOT_READY",
          retryAfterSeconds: 1,
          message: expect.stringMatching(/^The memories of other users were loaded for 5 seconds/) as string,
        },
      });
    expect(performance.now() - startedAt).toBeLessThan(8_000);
    clearInterval(awake);
    await holder.end();
    await Promise.all(loading);
    await add(first(), randomUUID(), "one");
  });

  it.each([
    ["53100", "STORE_FULL", undefined, /disk of the database is full, so nothing was stored/],
    ["53200", "NOT_READY", 1, /nothing of it was stored\. Try again/],
    ["53400", "NOT_READY", undefined, /nothing of it was stored: refused \(53400\)\. .*administrator/],
    ["54000", "NOT_READY", undefined, /nothing of it was stored: refused \(54000\)\. .*administrator/],
    ["42501", "NOT_READY", undefined, /nothing of it was stored: refused \(42501\)\. .*administrator/],
  ])("say whether trying again helps where the server refuses a write with %s", async (...expected) => {
    const [sqlState, code, retryAfterSeconds, message] = expected;
    const { query } = first().database;
    await query(`create or replace function memoryd.refuse() returns trigger language plpgsql as
      $$ begin raise exception 'refused' using errcode = '${sqlState}'; end $$`);
    await query("create trigger refuses before insert on memoryd.record execute function memoryd.refuse()");
    const user = randomUUID();
    await expect(add(first(), user, "one")).rejects.toMatchObject({
      code,
      retryAfterSeconds,
      message: expect.stringMatching(message) as string,
    });
    await query("drop trigger refuses on memoryd.record");
    await add(first(), user, "two");
    expect(await contents(second(), user)).toEqual(["two"]);
  });

  it("know that a server which is read-only stored nothing", async () => {
    const hasty = await openTestNode(address, { patienceMs: 300 });
    const { query } = first().database;
    await query(`create or replace function memoryd.refuse() returns trigger language plpgsql as
      $$ begin raise exception 'read-only' using errcode = '25006'; end $$`);
    await query("create trigger refuses before insert on memoryd.record execute function memoryd.refuse()");
    const user = randomUUID();
    await expect(add(hasty, user, "one")).rejects.toMatchObject({
      message: "The database did not take a write (read-only); nothing of it was stored. Try again.",
    });
    await query("drop trigger refuses on memoryd.record");
    await add(hasty, user, "two");
    expect(await contents(second(), user)).toEqual(["two"]);
    await hasty.close();
  });

  it("tell a request that no connection was free for", async () => {
    const held = await Promise.all(Array.from({ length: 10 }, () => first().database.begin()));
    await expect(first().portsOf(randomUUID())).rejects.toMatchObject({
      code: "NOT_READY",
      message: expect.stringMatching(/all 10 connections of this node were at work for 2 seconds/) as string,
    });
    await Promise.all(held.map((transaction) => transaction.end()));
    await add(first(), randomUUID(), "one");
  });

  it("have the server end a statement that they gave up", async () => {
    const holder = await first().database.begin();
    await holder.query("lock table memoryd.image in access exclusive mode");
    const hasty = openDatabase({ connectionString: address, query_timeout: 200 });
    const asked = "select count(*) from memoryd.image";
    await expect(hasty.query(asked)).rejects.toThrow(/timeout/);
    const active = `select 1 from pg_stat_activity where state = 'active' and query = '${asked}'`;
    await expect.poll(() => server.run(active)).toEqual([]);
    await holder.end();
    expect(await hasty.query(asked)).toHaveLength(1);
    await hasty.close();
  });

  it("closes users when one that is open has grown", async () => {
    const node = await openTestNode(address, { budgetBytes: 1e6 });
    const [small, large] = [randomUUID(), randomUUID()];
    await add(node, small, "one");
    const ports = await node.portsOf(large);
    const items = Array.from({ length: 1_000 }, (_, i) => ({ content: `note ${i}`, userId: large }));
    await addMemories(ports, { items });
    expect(node.users.figures.users).toBe(2);
    node.users.makeRoom();
    expect(node.users.figures.users).toBe(1);
    await node.close();
  });

  it("closes users who were not used for longest, and opens them again", async () => {
    const node = await openTestNode(address, { budgetBytes: 2.2e5 });
    const users = Array.from({ length: 8 }, () => randomUUID());
    for (const user of users) await add(node, user, `note of ${user}`);
    expect(node.users.figures.users).toBeLessThan(5);
    for (const user of users) expect(await contents(node, user)).toEqual([`note of ${user}`]);
    await node.close();
  });
});
