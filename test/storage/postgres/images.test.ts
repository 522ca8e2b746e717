import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { addMemories, addMemory } from "../../../src/core/memories/add-memories.ts";
import { reinforceMemory } from "../../../src/core/memories/reinforce-memory.ts";
import { updateMemory } from "../../../src/core/memories/update-memory.ts";
import { restoreFromTrash } from "../../../src/core/history/restore-from-trash.ts";
import { deleteMemory } from "../../../src/core/operations.ts";
import { deleteUserMemories } from "../../../src/core/users/delete-user-memories.ts";
import { storeImage } from "../../../src/storage/postgres/user-image.ts";
import { createFakeEmbedder } from "../../support/fake-embedder.ts";
import { hasPostgres, type PostgresServer, startPostgres } from "../../support/postgres-server.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { times } from "../../support/stress.ts";
import { openSwallowingProxy } from "../../support/swallowing-proxy.ts";
import { openTestNode, type TestNode } from "../../support/user-stores.ts";

const STORING = "insert into memoryd.image";
const LARGE = 20;

describe.skipIf(!hasPostgres)("the image of a user's indexes", () => {
  let server: PostgresServer;
  let address: string;
  beforeAll(async () => {
    server = await startPostgres();
    address = await server.database("images");
  });
  afterAll(() => server.stop());

  let node: TestNode;
  let user: string;
  /** Nodes of this test, closed at its end. */
  let opened: TestNode[];
  const open = async (options: Parameters<typeof openTestNode>[1] = {}, at = address) => {
    const made = await openTestNode(at, { imageFrom: LARGE, ...options });
    opened.push(made);
    return made;
  };
  beforeEach(async () => {
    opened = [];
    user = randomUUID();
    node = await open();
  });
  afterEach(async () => {
    for (const each of opened) await each.close();
  });

  const fill = async () => {
    const items = Array.from({ length: LARGE }, (_, i) => ({
      content: `tea ${i} in the garden with Ann`,
      userId: user,
      ...(i % 3 === 0 && { sessionId: "walk", tags: ["green"], metadata: { cup: i } }),
    }));
    await addMemories(await node.portsOf(user), { items });
    return (await node.portsOf(user)).store.catalogue.page({}, { limit: LARGE, offset: 0 }).ids.toReversed();
  };
  /** What a node that opens the user now finds; ordinals may be others. */
  const findings = async (options?: Parameters<typeof openTestNode>[1]) => {
    const fresh = await open(options);
    const { store, embedder } = await fresh.portsOf(user);
    const { ids, total } = store.catalogue.page({}, { limit: 1_000, offset: 0 });
    const { vector } = await embedder.embedQuestion("tea in the garden");
    const meaning = store.scoreVectors(vector);
    const words = store.scoreWords(
      ["tea", "garden", "kettl", "coffe"].map((term) => ({ term, weight: 1 })),
      5,
    );
    const memories = await store.readMemories(ids);
    const found = ids.map((id) => {
      const entry = store.catalogue.find(id);
      const ordinal = entry?.ordinal ?? -1;
      return {
        ...entry,
        ordinal: null,
        // It fades while the test runs.
        salience: entry?.salience.toFixed(3),
        content: memories.get(id)?.content,
        meaning: meaning.of(ordinal),
        words: words.of(ordinal),
        edges: store.catalogue.edgesOf(id),
        versions: store.catalogue.versions.of(id).length,
        next: store.catalogue.idAt(store.catalogue.around(ordinal)[2] ?? -1),
      };
    });
    return { total, found, warnings: fresh.warnings };
  };
  const fromRows = () => findings({ imageFrom: Infinity });
  /** What the database has; the version tells whether it was written again. */
  const imageOf = async () => {
    const [row] = await node.database.query<[string, string, Buffer, string]>(
      "select sequence, key, content, xmin::text from memoryd.image where owner = $1",
      [user],
    );
    if (row === undefined) return undefined;
    const [sequence, key, content, version] = row;
    return { sequence: Number(sequence), key, content, version };
  };
  const setImage = (set: string, ...values: unknown[]) =>
    node.database.query(`update memoryd.image set ${set} where owner = $1`, [user, ...values]);
  const headOf = async () => {
    const [row] = await node.database.query<[string, string]>(
      "select sequence, token from memoryd.owner where owner = $1",
      [user],
    );
    return { sequence: Number(row?.[0]), token: row?.[1] ?? "" };
  };
  /** Rows with an unusable image beside them: what `findings` must be equal to. */
  const withoutImage = async () => {
    const known = await imageOf();
    await setImage("key = 'of another program'");
    const found = await fromRows();
    await setImage("key = $2", known?.key);
    return found;
  };

  it("is stored by a load of many memories, and read by the next with what came since", async () => {
    const ids = await fill();
    expect(await imageOf()).toBeUndefined();
    const first = await findings();
    const stored = await imageOf();
    expect(stored).toMatchObject({ sequence: 1 });
    expect(await findings()).toEqual(first);
    const ports = await node.portsOf(user);
    await addMemory(ports, { content: "a kettle for the garden", userId: user, supersedes: [ids[2] ?? ""] });
    await updateMemory(ports, { id: ids[0] ?? "", content: "coffee with \ud800 Bob", tags: ["\udc00"] });
    await reinforceMemory(ports, { id: ids[3] ?? "", boost: 0.2 });
    await deleteMemory(ports, { id: ids[4] ?? "", trash: true });
    await deleteMemory(ports, { id: ids[5] ?? "", trash: true });
    await restoreFromTrash(ports, { id: ids[4] ?? "" });
    const later = await findings();
    expect(later.total).toBe(LARGE);
    expect(later).toEqual(await withoutImage());
    expect(later.warnings).toEqual([]);
  });

  it("is not made of few memories", async () => {
    await addMemory(await node.portsOf(user), { content: "tea", userId: user });
    await findings();
    expect(await imageOf()).toBeUndefined();
  });

  it.each(Array.from({ length: times(3) }, (_, seed) => seed))(
    "answers as the rows do after random work (%i)",
    async (seed) => {
      const random = seededRandom(seed);
      const live = new Set(await fill());
      const trash: string[] = [];
      await findings();
      for (let round = 0; round < 6; round += 1) {
        const ports = await node.portsOf(user);
        for (let i = 0; i < 6; i += 1) {
          const id = [...live][Math.floor(random() * live.size)] ?? "";
          const content = `tea ${round} ${i} with coffee`;
          const choice = random();
          if (choice < 0.4) live.add((await addMemory(ports, { content, userId: user })).memory.id);
          else if (choice < 0.6) await updateMemory(ports, { id, content });
          else if (choice < 0.7) await reinforceMemory(ports, { id, boost: 0.1 });
          else if (choice < 0.9) {
            await deleteMemory(ports, { id, trash: true });
            live.delete(id);
            trash.push(id);
          } else {
            const back = trash.pop();
            if (back === undefined) continue;
            await restoreFromTrash(ports, { id: back });
            live.add(back);
          }
        }
        const found = await findings();
        expect(found.total).toBe(live.size);
        if ((await imageOf())?.content.length !== 0) expect(found).toEqual(await withoutImage());
      }
    },
  );

  describe("loses its content in the transaction of a final deletion,", () => {
    const terms = async () => (await imageOf())?.content.toString("latin1") ?? "";

    it("which moving to the trash is not", async () => {
      await fill();
      const { memory } = await addMemory(await node.portsOf(user), { content: "xylophone", userId: user });
      await findings();
      expect(await terms()).toContain("xylophon");
      await deleteMemory(await node.portsOf(user), { id: memory.id, trash: true });
      expect(await terms()).toContain("xylophon");
      const { store } = await node.portsOf(user);
      const kept = store.catalogue.versions.of(memory.id);
      await store.commit(() => ({
        changes: kept.map(({ id }) => ({ table: "versions", id, row: null })),
        result: undefined,
      }));
      expect(await terms()).toBe("");
      expect((await findings()).found).toEqual((await fromRows()).found);
      expect(await terms()).not.toBe("");
      expect(await terms()).not.toContain("xylophon");
    });

    it.each([
      [
        "of a memory",
        (ports: Awaited<ReturnType<TestNode["portsOf"]>>, id: string) => deleteMemory(ports, { id }),
      ],
      [
        "of an earlier text",
        (ports: Awaited<ReturnType<TestNode["portsOf"]>>, id: string) =>
          updateMemory({ ...ports, historyMs: 0 }, { id, content: "tea" }),
      ],
      [
        "of a user",
        (ports: Awaited<ReturnType<TestNode["portsOf"]>>) =>
          deleteUserMemories(
            { ...ports, stopJob: async () => {}, noteErasure: async () => {} },
            { userId: user, keepsDocuments: false, includesFacts: true },
          ),
      ],
    ])("%s", async (_, remove) => {
      const [id = ""] = await fill();
      await findings();
      const before = await imageOf();
      expect(before?.content.length).toBeGreaterThan(0);
      await remove(await node.portsOf(user), id);
      expect(await imageOf()).toMatchObject({ sequence: (await headOf()).sequence, key: "" });
      expect((await imageOf())?.content.length).toBe(0);
    });

    it("and a node that loaded the user before it stores no image of before", async () => {
      const [id = ""] = await fill();
      const slow = await openSwallowingProxy(server.port);
      const loading = await open({}, address.replace(`:${server.port}/`, `:${slow.port}/`));
      const release = slow.holdBefore(STORING);
      const loaded = loading.portsOf(user);
      await release.held;
      await deleteMemory(await node.portsOf(user), { id });
      release.go();
      expect((await loaded).store.catalogue.size).toBe(LARGE);
      expect((await loading.portsOf(user)).store.catalogue.size).toBe(LARGE - 1);
      expect((await imageOf())?.content.length).toBe(0);
      await slow.close();
    });
  });

  it("is passed over and made anew where it is damaged or cut", async () => {
    await fill();
    const first = await findings();
    const whole = (await imageOf())?.content ?? Buffer.alloc(0);
    for (const at of [0, 10, 200, whole.length >> 1, whole.length - 1])
      for (const damaged of [Buffer.from(whole), whole.subarray(0, at)]) {
        if (damaged.length > at) damaged[at] = (damaged[at] ?? 0) ^ 1;
        await setImage("content = $2", damaged);
        const found = await findings();
        expect(found).toEqual({ ...first, warnings: ["the image of a user is damaged and made anew"] });
        expect((await imageOf())?.content.equals(whole)).toBe(true);
      }
  });

  it.each([
    ["another program made it", () => setImage("key = 'of another program'")],
    [
      "removed rows since it are forgotten",
      () => node.database.query("update memoryd.owner set floor = sequence + 1 where owner = $1", [user]),
    ],
    [
      "much was written since",
      async () => {
        const items = Array.from({ length: 400 }, (_, i) => ({ content: `note ${i}`, userId: user }));
        await addMemories(await node.portsOf(user), { items });
      },
    ],
  ])("is passed over where %s, and made anew", async (_, spoil) => {
    await fill();
    await findings();
    await spoil();
    const before = await imageOf();
    expect((await findings()).found).toEqual((await fromRows()).found);
    const after = await imageOf();
    expect(after?.version).not.toBe(before?.version);
    expect(after?.sequence).toBe((await headOf()).sequence);
  });

  it("is not stored of a state that the database has lost, nor in the place of a later one", async () => {
    await fill();
    const { stamp } = createFakeEmbedder();
    const image = Buffer.from("an image");
    const { sequence, token } = await headOf();
    await storeImage(node.database, user, { sequence, token: "of another history" }, { image, stamp });
    expect(await imageOf()).toBeUndefined();
    await addMemory(await node.portsOf(user), { content: "coffee", userId: user });
    await findings();
    const later = await imageOf();
    await storeImage(node.database, user, { sequence, token }, { image, stamp });
    expect(await imageOf()).toEqual(later);
  });

  it("is whole where two nodes store it at once, and both have loaded the user", async () => {
    await fill();
    const rows = await fromRows();
    for (let round = 0; round < times(3); round += 1) {
      await node.database.query("delete from memoryd.image");
      const [here, there] = await Promise.all([findings(), findings()]);
      expect(here).toEqual(rows);
      expect(there).toEqual(rows);
      const image = await imageOf();
      expect(await findings()).toEqual(rows);
      expect((await imageOf())?.version).toBe(image?.version);
    }
  });

  describe("of a node that dies", () => {
    it.each([
      ["before the statement that stores it", false],
      ["before the answer to that", true],
    ])("%s is not there, or is whole", async (_, isSent) => {
      await fill();
      const rows = await fromRows();
      const proxy = await openSwallowingProxy(server.port);
      const dying = await open({}, address.replace(`:${server.port}/`, `:${proxy.port}/`));
      if (isSent) proxy.swallowAfter(STORING, true);
      else void proxy.holdBefore(STORING).held.then(() => proxy.cut());
      // What it would answer nobody hears.
      await dying.portsOf(user);
      expect(dying.warnings).toEqual(["image of a user not stored"]);
      if (!isSent) expect(await imageOf()).toBeUndefined();
      expect(await findings()).toEqual(rows);
      expect((await imageOf())?.content.length).toBeGreaterThan(0);
      expect(await findings()).toEqual(rows);
      await proxy.close();
    });

    it("while it waits for the database is not there", async () => {
      await fill();
      const rows = await fromRows();
      const holder = await node.database.begin();
      await holder.query("lock table memoryd.image in share mode");
      const dying = await open();
      const loaded = dying.portsOf(user);
      await expect
        .poll(() =>
          server.run(
            `select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and query like '${STORING}%'`,
          ),
        )
        .toEqual([[true]]);
      await loaded;
      await holder.end();
      expect(dying.warnings).toEqual(["image of a user not stored"]);
      expect(await imageOf()).toBeUndefined();
      expect(await findings()).toEqual(rows);
    });
  });
});
