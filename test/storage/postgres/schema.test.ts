import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addMemory } from "../../../src/core/memories/add-memories.ts";
import { deleteMemory } from "../../../src/core/operations.ts";
import { type Database, openDatabase } from "../../../src/storage/postgres/database.ts";
import { checkSchema, prepareSchema, SCHEMA_VERSION } from "../../../src/storage/postgres/schema.ts";
import { sweepRemoved } from "../../../src/storage/postgres/newer-records.ts";
import { createFakeEmbedder } from "../../support/fake-embedder.ts";
import { hasPostgres, sharedPostgres } from "../../support/postgres-server.ts";
import { openTestNode } from "../../support/user-stores.ts";

const { stamp } = createFakeEmbedder();

describe.skipIf(!hasPostgres)("the schema", () => {
  let address: string;
  let database: Database;
  beforeAll(async () => {
    address = await (await sharedPostgres()).database(`schema-${randomUUID()}`);
    database = openDatabase({ connectionString: address });
  });
  afterAll(() => database.close());
  const refused = (pattern: RegExp) => ({
    code: "STORE_UNUSABLE",
    message: expect.stringMatching(pattern) as string,
  });

  it("is asked for before it is made, is made once, and keeps its id", async () => {
    await expect(checkSchema(database, stamp)).rejects.toMatchObject(refused(/run `memoryd store prepare`/));
    const before = await Promise.all([prepareSchema(database), prepareSchema(database)]);
    expect(before.toSorted((a, b) => a - b)).toEqual([0, SCHEMA_VERSION]);
    const storeId = await checkSchema(database, stamp);
    expect(await checkSchema(database, stamp)).toBe(storeId);
  });

  it("of an older program is asked to be migrated, and keeps what it holds", async () => {
    const node = await openTestNode(address);
    const user = randomUUID();
    await addMemory(await node.portsOf(user), { content: "one", userId: user });
    await node.close();
    // As version 1 was.
    await database.query("drop table memoryd.image");
    await database.query("alter table memoryd.row drop column at");
    await database.query("alter table memoryd.setup drop column nobody_as");
    await database.query("update memoryd.setup set version = 1");
    await expect(checkSchema(database, stamp)).rejects.toMatchObject(
      refused(/^The tables of memoryd in the database have version 1, .*run `memoryd store prepare`[^.]*\.$/),
    );
    expect(await prepareSchema(database)).toBe(1);
    await checkSchema(database, stamp);
    const later = await openTestNode(address);
    expect((await later.portsOf(user)).store.catalogue.size).toBe(1);
    await later.close();
  });

  it("refuses vectors of another model", async () => {
    const other = { ...stamp, model: "another" };
    await expect(checkSchema(database, other)).rejects.toMatchObject(refused(/another model or rule/));
  });

  it("refuses tables that a newer program made", async () => {
    await database.query("update memoryd.setup set version = 1000");
    await expect(checkSchema(database, stamp)).rejects.toMatchObject(refused(/newer memoryd \(version 1000/));
    await expect(prepareSchema(database)).rejects.toMatchObject(refused(/Nothing was changed/));
    await database.query("update memoryd.setup set version = $1", [SCHEMA_VERSION]);
  });

  it("says which rights a node lacks", async () => {
    const name = `node_${randomUUID().replaceAll("-", "")}`;
    await database.query(`create role ${name} login`);
    const node = openDatabase({ connectionString: address.replace("postgres@", `${name}@`) });
    await expect(checkSchema(node, stamp)).rejects.toMatchObject(
      refused(/grant it usage of the schema memoryd/),
    );
    await database.query(`grant usage on schema memoryd to ${name}`);
    await database.query(`grant select, insert, update on all tables in schema memoryd to ${name}`);
    await expect(checkSchema(node, stamp)).rejects.toMatchObject(
      refused(/record: delete.*row: delete|row: delete/),
    );
    await database.query(`grant delete on all tables in schema memoryd to ${name}`);
    await checkSchema(node, stamp);
    await node.close();
  });

  it("forgets removed rows after a week, and loads those anew who were away for longer", async () => {
    const [here, away] = [await openTestNode(address), await openTestNode(address)];
    const user = randomUUID();
    const { memory } = await addMemory(await here.portsOf(user), { content: "one", userId: user });
    await away.portsOf(user);
    await deleteMemory(await here.portsOf(user), { id: memory.id });
    const count = async (text: string) => Number((await database.query<[string]>(text, [user]))[0]?.[0]);
    const gone = "select count(*) from memoryd.row where owner = $1 and slim is null";
    const records = "select count(*) from memoryd.record where owner = $1";
    await sweepRemoved(database);
    expect([await count(gone), await count(records)]).toEqual([4, 2]);
    await database.query("update memoryd.record set at = 0 where owner = $1", [user]);
    await sweepRemoved(database);
    expect([await count(gone), await count(records)]).toEqual([0, 0]);
    expect((await away.portsOf(user)).store.catalogue.size).toBe(0);
    await addMemory(await here.portsOf(user), { content: "two", userId: user });
    expect((await away.portsOf(user)).store.catalogue.size).toBe(1);
    for (const node of [here, away]) await node.close();
  });
});
