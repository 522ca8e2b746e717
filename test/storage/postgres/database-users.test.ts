import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eraseFact } from "../../../src/core/facts/erase-fact.ts";
import { recordFact } from "../../../src/core/facts/record-fact.ts";
import { addMemory } from "../../../src/core/memories/add-memories.ts";
import { deleteMemory } from "../../../src/core/operations.ts";
import { listUsers as listUsersOf } from "../../../src/core/users/list-users.ts";
import { listUsers } from "../../../src/storage/postgres/database-users.ts";
import { prepareSchema } from "../../../src/storage/postgres/schema.ts";
import { hasPostgres, sharedPostgres } from "../../support/postgres-server.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { openTestNode, type TestNode } from "../../support/user-stores.ts";

describe.skipIf(!hasPostgres)("the users of a database", () => {
  let node: TestNode;
  beforeAll(async () => {
    node = await openTestNode(await (await sharedPostgres()).database(randomUUID()));
  });
  afterAll(() => node.close());
  const all = { limit: 1_000, offset: 0 };

  it("are none in an empty one", async () => {
    expect(await listUsers(node.database, all)).toEqual({ items: [], total: 0, isMore: false });
  });

  it("are counted as their own stores count, in the order of ids, a page at a time", async () => {
    const random = seededRandom(7);
    const some = (from: readonly string[]) => from[Math.floor(random() * from.length)];
    const names = ["ann", "Ben", "zoé", "\u{e000}", "\u{1f375}", "a#1", "nobody's"];
    for (const userId of names) {
      const ports = await node.portsOf(userId);
      const [memories, facts]: [string[], string[]] = [[], []];
      for (let i = 0; i < 30; i += 1) {
        const choice = random();
        const dated = random() < 0.5 && { occurredAt: Math.floor(random() * 1e12) - 5e11 };
        const [memory, fact] = [some(memories), some(facts)];
        if (choice < 0.3)
          memories.push((await addMemory(ports, { content: `note ${i}`, userId, ...dated })).memory.id);
        else if (choice < 0.5 && memory !== undefined)
          await deleteMemory(ports, { id: memory }).catch(() => undefined);
        else if (choice < 0.9) {
          const fact = { subject: "Ada", predicate: `knows ${i % 3}`, object: `${i}`, validFrom: i % 4 };
          facts.push((await recordFact(ports, { ...fact, userId })).fact.id);
        } else if (fact !== undefined) await eraseFact(ports, { id: fact }).catch(() => undefined);
      }
    }
    const gone = await node.portsOf("gone");
    await deleteMemory(gone, { id: (await addMemory(gone, { content: "tea", userId: "gone" })).memory.id });

    const expected = [];
    for (const name of names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))))
      expected.push(...listUsersOf(await node.portsOf(name), all).items);
    expect(expected.map(({ factCount }) => factCount)).not.toContain(0);
    const total = names.length;
    expect(await listUsers(node.database, all)).toEqual({ items: expected, total, isMore: false });
    expect(await listUsers(node.database, { limit: 2, offset: 1 })).toEqual({
      items: expected.slice(1, 3),
      total,
      isMore: true,
    });
    const after = expected[3]?.userId ?? "";
    const last = await listUsers(node.database, { limit: 3, offset: 0, after });
    expect(last).toEqual({ items: expected.slice(4), total, isMore: false });
    const none = await listUsers(node.database, { limit: 3, offset: 9 });
    expect(none).toEqual({ items: [], total, isMore: false });

    // As version 2 was.
    await node.database.query("alter table memoryd.row drop column at");
    await node.database.query("alter table memoryd.setup drop column nobody_as");
    await node.database.query("update memoryd.setup set version = 2");
    expect(await prepareSchema(node.database)).toBe(2);
    expect(await listUsers(node.database, all)).toEqual({ items: expected, total, isMore: false });
  });
});
