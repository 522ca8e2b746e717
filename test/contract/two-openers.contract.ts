import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ServiceError } from "../../src/core/errors.ts";
import { findFacts } from "../../src/core/facts/find-facts.ts";
import { recordFact } from "../../src/core/facts/record-fact.ts";
import { RequestLedger } from "../../src/core/idempotency.ts";
import { addMemories, addMemory } from "../../src/core/memories/add-memories.ts";
import type { MemoryPorts } from "../../src/core/memories/memory-ports.ts";
import { reinforceMemory } from "../../src/core/memories/reinforce-memory.ts";
import { updateMemory } from "../../src/core/memories/update-memory.ts";
import { deleteMemory } from "../../src/core/operations.ts";
import { restoreFromTrash } from "../../src/core/history/restore-from-trash.ts";
import { queryMemory } from "../../src/core/recall/query-memory.ts";
import { deleteUserMemories } from "../../src/core/users/delete-user-memories.ts";
import type { Feed } from "../../src/core/feed.ts";
import { createMemoryWorld } from "../support/memory-world.ts";
import { seededRandom } from "../support/seeded-random.ts";

/** A process that has opened a store which others have open too. */
export interface Opener {
  readonly store: MemoryPorts["store"];
  readonly feed: Feed;
  /** Shows what others have written, as at the beginning of a request. */
  refresh(): Promise<void>;
  close(): Promise<void>;
}

export interface SharedPlace {
  /** Opens the store of one user once more. */
  open(): Promise<Opener>;
  remove(): Promise<void>;
}

const USER = "ann";
const ROUNDS = 20;

/** Every store that several processes may open passes these tests. */
export function twoOpenersContract(
  name: string,
  createPlace: (clock: MemoryPorts["clock"]) => Promise<SharedPlace>,
  seeds: number,
): void {
  describe(`${name}, opened twice,`, () => {
    const world = createMemoryWorld();
    let place: SharedPlace;
    let opened: Opener[] = [];
    let drawn = 0;

    async function open() {
      const opener = await place.open();
      opened.push(opener);
      const ids = { newId: () => `id-${(drawn += 1)}` };
      const ports = { ...world.ports, ...opener, requests: new RequestLedger(), ids };
      return { ...opener, ports };
    }
    type Node = Awaited<ReturnType<typeof open>>;
    let a: Node;
    let b: Node;
    beforeEach(async () => {
      world.now += 1_000;
      place = await createPlace(world.ports.clock);
      [a, b] = [await open(), await open()];
    });
    afterEach(async () => {
      for (const opener of opened) await opener.close();
      opened = [];
      await place.remove();
    });

    const add = async (node: Node, content: string, more = {}) =>
      (await addMemory(node.ports, { content, userId: USER, ...more })).memory;
    const texts = async ({ store }: Node) => {
      const { ids } = store.catalogue.page({}, { limit: 1_000, offset: 0 });
      const memories = await store.readMemories(ids);
      return ids.map((id) => memories.get(id)?.content);
    };
    const refreshed = async (node: Node) => {
      await node.refresh();
      return texts(node);
    };
    /** All that reads answer. */
    const view = async (node: Node) => {
      await node.refresh();
      const { store, ports } = node;
      const { ids } = store.catalogue.page({}, { limit: 1_000, offset: 0 });
      const query = { query: "note 7 changed", limit: 20, filter: { userId: USER }, leavesNoTrace: true };
      const { hits } = await queryMemory(ports, query);
      return {
        memories: [...(await store.readMemories(ids))],
        facts: findFacts(ports, { limit: 1_000 }),
        versions: ids.map((id) => store.catalogue.versions.of(id).length),
        hits: hits.map(({ memory, score }) => [memory.id, score.toFixed(6)]),
      };
    };

    it("shows at the next request what the other has answered", async () => {
      const tea = await add(a, "green tea");
      expect(await refreshed(b)).toEqual(["green tea"]);
      await updateMemory(b.ports, { id: tea.id, content: "black tea" });
      await add(b, "coffee");
      expect(await refreshed(a)).toEqual(["coffee", "black tea"]);
      await deleteMemory(a.ports, { id: tea.id });
      expect(await refreshed(b)).toEqual(["coffee"]);
      expect(b.store.scoreWords([{ term: "tea", weight: 1 }], 20).top(9)).toEqual([]);
    });

    it("decides again where the other was faster: an equal memory is added once", async () => {
      const [first, second] = await Promise.all(
        [a, b].map((node) => addMemory(node.ports, { content: "tea" })),
      );
      expect(second?.memory.id).toBe(first?.memory.id);
      expect(first?.deduplicated).toBe(second?.deduplicated === false);
      expect([await refreshed(a), await refreshed(b)]).toEqual([["tea"], ["tea"]]);
    });

    it("does a request with an Idempotency-Key once, wherever it is repeated", async () => {
      const { id } = await add(a, "tea");
      await b.refresh();
      const idempotency = { key: "k", bodyHash: "h" };
      const answers = await Promise.all(
        [a, b].map(({ ports }) => reinforceMemory(ports, { id, boost: 0.5, idempotency })),
      );
      expect(answers).toEqual([
        { id, salience: 0.75 },
        { id, salience: 0.75 },
      ]);
      const another = { key: "k", bodyHash: "another" };
      const reused = reinforceMemory(b.ports, { id, boost: 0.5, idempotency: another });
      await expect(reused).rejects.toMatchObject({ code: "UNPROCESSABLE" });
    });

    it("changes and deletes a memory that the other has changed and that was not refreshed since", async () => {
      const tea = await add(a, "green tea");
      const coffee = await add(a, "coffee");
      await b.refresh();
      for (const { id } of [tea, coffee]) await updateMemory(b.ports, { id, content: `${id} of b` });
      await updateMemory(a.ports, { id: tea.id, content: "tea of a" });
      expect(await refreshed(b)).toContain("tea of a");
      await updateMemory(b.ports, { id: coffee.id, content: "coffee of b" });
      await deleteMemory(a.ports, { id: coffee.id, trash: true });
      expect([await refreshed(a), await refreshed(b)]).toEqual([["tea of a"], ["tea of a"]]);
      await deleteMemory(b.ports, { id: tea.id });
      const gone = updateMemory(a.ports, { id: tea.id, content: "black tea" });
      await expect(gone).rejects.toMatchObject({ code: "NOT_FOUND" });
    });

    it("decides in steps, and on a small write right behind it, after it was overtaken", async () => {
      const { id } = await add(a, "tea");
      await b.refresh();
      await reinforceMemory(b.ports, { id, boost: 0.1 });
      const erased = deleteUserMemories(a.ports, {
        userId: USER,
        keepsDocuments: false,
        includesFacts: true,
      });
      const small = recordFact(a.ports, {
        subject: "Ada",
        predicate: "lives in",
        object: "Rome",
        userId: USER,
      });
      await Promise.all([erased, small]);
      expect([await refreshed(a), await refreshed(b)]).toEqual([[], []]);
    });

    it("keeps every one of many writes that are made at once", async () => {
      const contents = Array.from({ length: 60 }, (_, i) => `note number ${i}`);
      await Promise.all(contents.map((content, i) => add(i % 2 === 0 ? a : b, content)));
      expect(new Set(await refreshed(a))).toEqual(new Set(contents));
      expect(await texts(a)).toHaveLength(contents.length);
      expect(await texts(a)).toEqual(await refreshed(b));
    });

    it("keeps a timeline of facts free of overlaps", async () => {
      const home = { subject: "Ada", predicate: "lives in", userId: USER };
      await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          recordFact((i % 2 === 0 ? a : b).ports, { ...home, object: `place ${i}`, validFrom: i }),
        ),
      );
      for (const node of [a, b, await open()]) {
        await node.refresh();
        for (let at = 0; at < 20; at += 1)
          expect(findFacts(node.ports, { limit: 9, at }).facts).toMatchObject([{ object: `place ${at}` }]);
      }
    });

    it("takes back a decision in steps that was overtaken, and makes it again", async () => {
      await addMemories(a.ports, {
        items: Array.from({ length: 30 }, (_, i) => ({ content: `note ${i}`, userId: USER })),
      });
      await b.refresh();
      const [erased] = await Promise.all([
        deleteUserMemories(a.ports, { userId: USER, keepsDocuments: false, includesFacts: true }),
        ...Array.from({ length: 5 }, (_, i) => add(b, `later ${i}`)),
      ]);
      expect(erased).toBeDefined();
      expect(await refreshed(a)).toEqual(await refreshed(b));
      expect((await texts(a)).filter((text) => text?.startsWith("note"))).toEqual([]);
    });

    it("orders a memory that came back from the trash as a new one", async () => {
      const { id } = await add(a, "one");
      await add(a, "two");
      await b.refresh();
      await deleteMemory(a.ports, { id, trash: true });
      await restoreFromTrash(a.ports, { id });
      expect(await texts(a)).toEqual(["one", "two"]);
      expect(await refreshed(b)).toEqual(["one", "two"]);
    });

    it("tells what others change, too", async () => {
      const { id } = await add(a, "tea");
      await b.refresh();
      const places = [a, b].map(({ feed }) => feed.list({ limit: 1 }).next);
      await updateMemory(b.ports, { id, content: "coffee" });
      await deleteMemory(b.ports, { id });
      await a.refresh();
      for (const [i, { feed }] of [a, b].entries())
        expect(feed.list({ since: places[i] ?? 0, limit: 10 })).toMatchObject({
          items: [
            { kind: "memory.updated", id },
            { kind: "memory.deleted", id },
          ],
          reset: false,
        });
    });

    it.each(Array.from({ length: seeds }, (_, seed) => seed))(
      "agrees with the other, and with one that opens it later, after random work (%i)",
      async (seed) => {
        const random = seededRandom(seed);
        const expected = new Map<string, string>();
        const refusals = new Set<string>();
        const refused = (error: unknown) => {
          if (!(error instanceof ServiceError)) throw error;
          refusals.add(error.code);
          return undefined;
        };
        const step = async (node: Node, round: number, i: number) => {
          const known = [...expected.keys()];
          const id = known[Math.floor(random() * known.length)];
          const choice = random();
          const content = `note ${Math.floor(random() * 60)} ${choice < 0.5 || id === undefined ? "" : "changed"}`;
          await node.refresh();
          if (choice < 0.5 || id === undefined) {
            const made = await addMemory(node.ports, { content, userId: USER }).catch(refused);
            if (made !== undefined) expected.set(made.memory.id, made.memory.content);
          } else if (choice < 0.7) {
            const made = await updateMemory(node.ports, { id, content: `${content} ${round} ${i}` }).catch(
              refused,
            );
            if (made !== undefined) expected.set(id, `${content} ${round} ${i}`);
          } else if (choice < 0.85) {
            const made = await deleteMemory(node.ports, { id }).catch(refused);
            if (made !== undefined) expected.delete(id);
          } else {
            const place = { object: `place ${round} ${i}`, validFrom: Math.floor(random() * 1e6) };
            const fact = { subject: "Ada", predicate: "lives in", userId: USER, ...place };
            await recordFact(node.ports, fact).catch(refused);
          }
        };
        for (let round = 0; round < ROUNDS; round += 1) {
          // One after the other: then it is known what must be there. Beside each other: then decisions are overtaken.
          if (round % 2 === 0) for (let i = 0; i < 4; i += 1) await step(i % 2 === 0 ? a : b, round, i);
          else {
            const adds = [0, 1, 2, 3].map(async (i) => {
              const memory = await add(i % 2 === 0 ? a : b, `beside ${round} ${i}`);
              expected.set(memory.id, memory.content);
            });
            await Promise.all(adds);
          }
          for (const node of [a, b]) {
            await node.refresh();
            const { ids } = node.store.catalogue.page({}, { limit: 1_000, offset: 0 });
            expect(new Set(ids)).toEqual(new Set(expected.keys()));
          }
        }
        expect([...refusals].filter((code) => !["NOT_FOUND", "CONFLICT"].includes(code))).toEqual([]);
        const views = [await view(a), await view(b), await view(await open())];
        expect(views[1]).toEqual(views[0]);
        expect(views[2]).toEqual(views[0]);
        const contents = new Map(views[0]?.memories.map(([id, { content }]) => [id, content]));
        expect(contents).toEqual(expected);
      },
    );
  });
}
