/** LangGraph's store on a real daemon: the same calls as on LangGraph's own store in memory, and in a graph. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Annotation, END, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";
import { type BaseStore, InMemoryStore, type Operation } from "@langchain/langgraph-checkpoint";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createClient, type MemorydClient } from "../../../src/client/client.ts";
import { MemorydStore } from "../../../src/client/frameworks/langgraph.ts";
import { type DaemonProcess, startDaemonProcess } from "../../support/daemon-process.ts";

const folder = mkdtempSync(join(tmpdir(), "memoryd-langgraph-"));
let daemon: DaemonProcess;
let client: MemorydClient;
beforeAll(async () => {
  daemon = await startDaemonProcess(folder);
  client = createClient({ url: daemon.baseUrl, clientName: "langgraph" });
});
afterAll(async () => {
  await daemon.stop();
  rmSync(folder, { recursive: true, force: true });
});

let users = 0;
let userId: string;
let store: MemorydStore;
const newStore = () => {
  users += 1;
  userId = `user-${users}`;
  store = new MemorydStore({ client, userId });
};
beforeEach(newStore);

const LABELS = [
  "users",
  "Users",
  "ada",
  "a/b",
  "a",
  "b",
  "a%2Fb",
  "?",
  "#",
  "日本",
  "emoji 🌷",
  "langgraph ",
  "*",
  "x".repeat(300),
];
const label = fc.constantFrom(...LABELS);
/** Often refused. */
const odd = fc.constantFrom("", "a.b", "a:b", "nul\0", "langgraph");
const namespaceOf = (part: fc.Arbitrary<string>) => fc.array(part, { minLength: 1, maxLength: 3 });
const namespace = fc.oneof(
  { weight: 9, arbitrary: namespaceOf(label) },
  { weight: 1, arbitrary: namespaceOf(odd) },
);
const key = fc.constantFrom("k", "K", "k?", "k/#", "", " ", "ключ", "y".repeat(300));
const scalar = fc.constantFrom("tea", "Tea", "", 0, 1, 2.5, -3, true, null);
const value = fc.record(
  { kind: scalar, n: scalar, deep: fc.constantFrom({ list: [1, { a: "b" }] }, [], "x") },
  { requiredKeys: [] },
);
const relation = fc.constantFrom("$eq", "$ne", "$gt", "$gte", "$lt", "$lte");
const wanted = fc.oneof(
  scalar,
  fc.dictionary(relation, scalar, { maxKeys: 2 }),
  fc.record({ $in: fc.array(scalar, { maxLength: 3 }) }),
  fc.record({ $nin: fc.array(scalar, { maxLength: 3 }) }),
  fc.constant({ list: 1 }),
);
const filter = fc.dictionary(fc.constantFrom("kind", "n", "deep", "none"), wanted, { maxKeys: 2 });
const path = fc.array(fc.oneof(label, fc.constant("*")), { maxLength: 2 });

type Call =
  | { op: "put"; namespace: string[]; key: string; value: Record<string, unknown> }
  | { op: "get"; namespace: string[]; key: string }
  | { op: "delete"; namespace: string[]; key: string }
  | {
      op: "search";
      namespace: string[];
      filter: Record<string, unknown> | undefined;
      limit: number;
      offset: number;
    }
  | { op: "list"; prefix?: string[]; suffix?: string[]; maxDepth?: number; limit?: number; offset?: number }
  | { op: "batch"; operations: Operation[] };
const put = fc.record({ op: fc.constant("put" as const), namespace, key, value });
const call: fc.Arbitrary<Call> = fc.oneof(
  { weight: 5, arbitrary: put },
  fc.record({ op: fc.constant("get" as const), namespace, key }),
  fc.record({ op: fc.constant("delete" as const), namespace, key }),
  fc.record({
    op: fc.constant("search" as const),
    namespace: fc.oneof(fc.constant<string[]>([]), namespace),
    filter: fc.option(filter, { nil: undefined }),
    limit: fc.constantFrom(1000, 0),
    offset: fc.constant(0),
  }),
  fc.record(
    {
      op: fc.constant("list" as const),
      prefix: path,
      suffix: path,
      maxDepth: fc.constantFrom(1, 2, 3),
      limit: fc.constantFrom(1, 3, 100),
      offset: fc.constantFrom(0, 1),
    },
    { requiredKeys: ["op"] },
  ),
  fc.record({
    op: fc.constant("batch" as const),
    operations: fc.array(
      fc.oneof(
        fc.record({ namespace, key, value: fc.oneof(value, fc.constant(null)) }),
        fc.record({ namespace, key }),
        fc.record({ namespacePrefix: namespace, limit: fc.constant(1000) }),
      ) as fc.Arbitrary<Operation>,
      { maxLength: 5 },
    ),
  }),
);

/** Without times, and searches in one order; a refusal by its message. */
async function answer(to: BaseStore, each: Call): Promise<unknown> {
  const plain = (item: unknown): unknown => {
    if (Array.isArray(item)) {
      const all = item.map(plain);
      const isItems = all.some((one) => typeof one === "object" && one !== null && "key" in one);
      return isItems ? all.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : all;
    }
    if (typeof item !== "object" || item === null || !("createdAt" in item)) return item ?? null;
    const { namespace, key, value } = item as unknown as { namespace: string[]; key: string; value: object };
    return { namespace, key, value };
  };
  try {
    if (each.op === "put") return plain(await to.put(each.namespace, each.key, each.value));
    if (each.op === "delete") return plain(await to.delete(each.namespace, each.key));
    if (each.op === "list") return await to.listNamespaces(each);
    if (each.op === "batch") return ((await to.batch(each.operations)) as unknown[]).map(plain);
    if (each.op === "get") return plain(await to.get(each.namespace, each.key));
    const { filter, limit, offset } = each;
    return plain(await to.search(each.namespace, { ...(filter && { filter }), limit, offset }));
  } catch (error) {
    return (error as Error).message;
  }
}

/** LangGraph's goes on listing a namespace whose last item was deleted. */
function forgetEmpty(reference: InMemoryStore): void {
  const { data } = reference as unknown as { data: Map<string, Map<string, unknown>> };
  for (const [name, items] of data) if (items.size === 0) data.delete(name);
}

it("answers random calls as LangGraph's own store does", { timeout: 300_000 }, async () => {
  const messageWithoutSeparator = (text: unknown) =>
    typeof text === "string" ? text.replace(/, the InMemoryStore path separator/, "") : text;
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 10, maxLength: 40 }), async (calls) => {
      newStore();
      const reference = new InMemoryStore();
      for (const each of calls) {
        const expected = await answer(reference, each);
        forgetEmpty(reference);
        expect({ each, answer: await answer(store, each) }).toEqual({
          each,
          answer: messageWithoutSeparator(expected),
        });
      }
    }),
    { numRuns: 25 },
  );
});

describe("an item", () => {
  it("is a memory: a put is a version, a delete moves it to the trash, people see it", async () => {
    await store.put(["users", "ada"], "tea", { text: "Ada drinks tea." });
    const first = await store.get(["users", "ada"], "tea");
    await store.put(["users", "ada"], "tea", { text: "Ada drinks coffee." });
    const second = await store.get(["users", "ada"], "tea");
    expect(second?.createdAt).toEqual(first?.createdAt);
    expect(second?.updatedAt.getTime()).toBeGreaterThan(first?.updatedAt.getTime() ?? Infinity);
    const [memory] = (await client.memories.page({ user_id: userId })).items;
    expect(memory).toMatchObject({
      content: "Ada drinks coffee.",
      version: 2,
      created_by: "langgraph",
      tags: ["langgraph", "langgraph/users", "langgraph/users/ada", "langgraph/users/ada?tea"],
      metadata: {
        langgraph: { namespace: ["users", "ada"], key: "tea", value: { text: "Ada drinks coffee." } },
      },
    });
    await store.delete(["users", "ada"], "tea");
    expect(await store.get(["users", "ada"], "tea")).toBeNull();
    expect(await client.trash.page({ user_id: userId })).toMatchObject({ total: 1 });
  });

  it("keeps the tags and metadata that people give it", async () => {
    await store.put(["a"], "k", { n: 1 });
    const [memory] = (await client.memories.page({ user_id: userId })).items;
    if (memory === undefined) throw new Error("nothing was put");
    await client.memories.update(memory.id, { tags: [...memory.tags, "mine"], user_id: userId });
    await store.put(["a"], "k", { n: 2 });
    expect((await client.memories.get(memory.id)).tags).toContain("mine");
  });

  it("is one, also where two programs make it at once", async () => {
    const other = new MemorydStore({ client, userId });
    await Promise.all([store.put(["a"], "k", { from: 1 }), other.put(["a"], "k", { from: 2 })]);
    expect(await client.memories.page({ user_id: userId })).toMatchObject({ total: 1 });
    expect(await store.search(["a"])).toHaveLength(1);
  });

  it("of another user or project is not there", async () => {
    await store.put(["a"], "k", { n: 1 });
    const others = [
      new MemorydStore({ client, userId: "other" }),
      new MemorydStore({ client, userId, project: "atlas" }),
    ];
    for (const other of others) {
      expect(await other.get(["a"], "k")).toBeNull();
      expect(await other.search([], { query: "1" })).toEqual([]);
      expect(await other.listNamespaces()).toEqual([]);
      await other.put(["a"], "k", { n: 2 });
      await other.delete(["a"], "k");
    }
    expect((await store.get(["a"], "k"))?.value).toEqual({ n: 1 });
  });

  it("of a namespace with more labels than tags can hold is refused", async () => {
    const deep = Array.from({ length: 60 }, (_, i) => `${i}`);
    await store.put(deep, "k", { n: 1 });
    expect(await store.search(deep.slice(0, 59))).toHaveLength(1);
    await expect(store.put([...deep, "60"], "k", { n: 1 })).rejects.toThrow("at most 60 labels");
  });
});

describe("a search", () => {
  beforeEach(async () => {
    await store.put(["users", "ada"], "1", {
      text: "The spare key hangs behind the water meter.",
      kind: "place",
    });
    await store.put(["users", "ada"], "2", {
      text: "Garlic goes into bed three in October.",
      kind: "garden",
    });
    await store.put(["users", "bob"], "3", { text: "Bob's key is in the red drawer.", kind: "place" });
  });

  it("with a text gives what answers it first, of that namespace, with scores", async () => {
    const items = await store.search(["users", "ada"], { query: "where is the key?" });
    expect(items.map(({ key }) => key)).toEqual(["1", "2"]);
    expect(items[0]?.score).toBeGreaterThan(items[1]?.score ?? 0);
    const all = await store.search(["users"], {
      query: "where is Bob's key?",
      filter: { kind: "place" },
      limit: 1,
    });
    expect(all.map(({ key }) => key)).toEqual(["3"]);
    expect(await store.search(["users"], { query: "key", offset: 2 })).toHaveLength(1);
  });

  it("finds items by the texts that `index` names, and by none where it is false", async () => {
    const value = { title: "Compost", parts: [{ text: "It is turned in May." }], secret: "zebra" };
    await store.put(["docs"], "indexed", value, ["title", "parts[*].text"]);
    await store.put(["docs"], "hidden", { title: "Turn compost in May." }, false);
    const { items } = await client.memories.page({ user_id: userId, tag: "langgraph/docs" });
    expect(items.map(({ content }) => content)).toEqual(["hidden", "Compost\nIt is turned in May."]);
    const found = await store.search(["docs"], { query: "when is compost turned?" });
    expect(found.map(({ key, score }) => [key, typeof score])).toEqual([
      ["indexed", "number"],
      ["hidden", "undefined"],
    ]);
    await store.put(["docs"], "\u200B", value, ["title.none", "parts.text"]);
    expect((await client.memories.page({ user_id: userId, tag: "langgraph/docs" })).items[0]?.content).toBe(
      "item",
    );
    const titles = new MemorydStore({ client, userId, fields: ["title"] });
    await titles.put(["docs"], "t", value);
    expect((await client.memories.page({ user_id: userId, tag: "langgraph/docs?t" })).items[0]?.content).toBe(
      "Compost",
    );
  });
});

it("is a graph's memory across threads", async () => {
  const State = Annotation.Root({
    user: Annotation<string>(),
    said: Annotation<string>(),
    answer: Annotation<string>(),
  });
  const graph = new StateGraph(State)
    .addNode("remember", async ({ user, said }, config: LangGraphRunnableConfig) => {
      await config.store?.put(["users", user], said, { text: said });
      return {};
    })
    .addNode("recall", async ({ user, said }, config: LangGraphRunnableConfig) => {
      const [item] = (await config.store?.search(["users", user], { query: said, limit: 1 })) ?? [];
      return { answer: String(item?.value["text"]) };
    })
    .addConditionalEdges(START, ({ said }) => (said.endsWith("?") ? "recall" : "remember"))
    .addEdge("remember", END)
    .addEdge("recall", END)
    .compile({ store });
  await graph.invoke({ user: "ada", said: "The ladder is in the garage." });
  await graph.invoke({ user: "bob", said: "The ladder is at Eve's." });
  const { answer } = await graph.invoke({ user: "ada", said: "Where is the ladder?" });
  expect(answer).toBe("The ladder is in the garage.");
});
