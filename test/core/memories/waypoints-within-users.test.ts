import fc from "fast-check";
import { expect, it } from "vitest";
import { FollowUps } from "../../../src/core/memories/follow-ups.ts";
import { bindOperations } from "../../../src/core/operations.ts";
import { createDocumentWorld } from "../../support/document-world.ts";
import { times } from "../../support/stress.ts";

const user = fc.constantFrom("ann", "ben", undefined);
/** Few texts, so that the same words meet across users. */
const text = fc.constantFrom("tea is hot", "tea is cold", "the night train", "a night in the train");
const step = fc.oneof(
  fc.record({ kind: fc.constant("add" as const), user, text, session: fc.constantFrom("talk", undefined) }),
  fc.record({
    kind: fc.constant("batch" as const),
    users: fc.array(user, { minLength: 2, maxLength: 4 }),
    text,
  }),
  fc.record({ kind: fc.constant("ingest" as const), user, text }),
  fc.record({ kind: fc.constant("update" as const), which: fc.nat(20), text }),
  // Asked about everybody, which brings memories of several users up together.
  fc.record({ kind: fc.constant("query" as const), text }),
  fc.record({ kind: fc.constant("flush" as const) }),
);

it("waypoints never cross users, whatever is written and asked in whatever order", async () => {
  const kinds = new Set<string>();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 16 }), async (steps) => {
      const world = createDocumentWorld();
      const followUps = new FollowUps(world.memory.store, {
        onPending: () => {},
        isBusy: () => false,
        nextTurn: async () => {},
      });
      for (const ports of [world.ports, world.documentPorts]) Object.assign(ports, { followUps });
      const all = bindOperations(world.ports);
      const { catalogue } = world.ports.store;
      const added: string[] = [];
      for (const each of steps) {
        world.now += 1_000;
        if (each.kind === "add") {
          const { memory } = await all.addMemory({
            content: each.text,
            tags: [String(added.length)],
            ...(each.user !== undefined && { userId: each.user }),
            ...(each.session !== undefined && { sessionId: each.session }),
          });
          added.push(memory.id);
        } else if (each.kind === "batch") {
          await all.addMemories({
            items: each.users.map((userId, i) => ({
              content: `${each.text} ${i}`,
              sessionId: "talk",
              ...(userId !== undefined && { userId }),
            })),
          });
        } else if (each.kind === "ingest") {
          await world.ingest(each.text, each.user === undefined ? {} : { userId: each.user });
        } else if (each.kind === "update") {
          const id = added[each.which % Math.max(1, added.length)];
          if (id !== undefined) await all.updateMemory({ id, content: each.text });
        } else if (each.kind === "query") {
          await all.queryMemory({ query: each.text, limit: 20, filter: {} });
        } else await followUps.flush();
      }
      await followUps.flush();

      const { items } = await all.listMemories({ filter: {}, limit: 1_000, offset: 0 });
      const ownerOf = (id: string) => catalogue.find(id)?.userId;
      for (const { id, userId } of items) {
        const { nodes, edges } = await all.relatedMemories({ id, depth: 3 });
        for (const node of nodes) expect(node.userId).toBe(userId);
        for (const { source, target, kind } of [...edges, ...catalogue.edgesOf(id)]) {
          kinds.add(kind);
          expect([ownerOf(source), ownerOf(target)]).toEqual([userId, userId]);
        }
      }
    }),
    { numRuns: times(30) },
  );
  // There was something to look at.
  expect(kinds).toContain("next");
  expect(kinds).toContain("similar");
});
