import type { ServerOptions } from "../../src/http/server.ts";
import type { Backup } from "../../src/storage/copies/backups.ts";
import type { AddedMemory, AddMemoryInput } from "../../src/core/memories/memory-ports.ts";
import { orRefused, ServiceError } from "../../src/core/errors.ts";
import { FACT_OPERATIONS } from "../../src/core/facts/fact-operations.ts";
import { SECTORS, type SeenMemory } from "../../src/core/memory.ts";
import { memoryOf } from "../../src/core/rows.ts";
import type { Operations } from "../../src/core/operations.ts";
import type { UserSummary } from "../../src/core/users/user-summary.ts";
import type { ServiceStatus } from "../../src/core/status.ts";
import { bindAll } from "../../src/core/operations.ts";
import { createFakeFactPorts } from "./in-memory-fact-store.ts";
import { memoryRow } from "./memory-row.ts";

export const FAKE_NOW = Date.UTC(2026, 10, 21, 10, 15);

export interface FakeOperations {
  readonly operations: Operations;
  /** Every call, oldest first. */
  readonly calls: { readonly name: keyof Operations; readonly input: unknown }[];
  /** What the last call of an operation was given. */
  readonly lastInput: <K extends keyof Operations>(name: K) => Parameters<Operations[K]>[0];
}

/**
 * Operations over a Map: enough of their promises to test the ways in, without models, ranking or a disk. Those on facts
 * are the real ones, over facts in memory.
 */
export function createFakeOperations(overrides: Partial<Operations> = {}): FakeOperations {
  const memories = new Map<string, SeenMemory>();
  const calls: FakeOperations["calls"] = [];

  const factPorts = createFakeFactPorts(FAKE_NOW, fakeId, (id) => memories.get(id)?.userId);

  function add(input: AddMemoryInput): AddedMemory {
    const order = memories.size + 1;
    const { idempotency: _key, sector = "semantic", ...given } = input;
    const memory: SeenMemory = {
      ...memoryOf(
        memoryRow({
          id: fakeId(order),
          ...given,
          primarySector: sector,
          sectors: [sector],
          createdAt: FAKE_NOW,
          updatedAt: FAKE_NOW,
          order,
        }),
      ),
      lastSeenAt: FAKE_NOW,
      salience: 0.5,
      superseded: null,
    };
    memories.set(memory.id, memory);
    return { memory, deduplicated: false };
  }

  function find(id: string, userId: string | undefined, otherOwner: "NOT_FOUND" | "FORBIDDEN"): SeenMemory {
    const memory = memories.get(id);
    if (memory === undefined) throw new ServiceError("NOT_FOUND", "There is no memory with this id.");
    if (userId !== undefined && memory.userId !== userId)
      throw new ServiceError(otherOwner, "It belongs to somebody else.");
    return memory;
  }

  function checkVersion(memory: SeenMemory, ifVersion: number | undefined): void {
    if (ifVersion !== undefined && ifVersion !== memory.version) {
      throw new ServiceError("VERSION_MISMATCH", `The memory is at version ${memory.version} by now.`);
    }
  }

  const newestFirst = () => [...memories.values()].toSorted((a, b) => b.order - a.order);

  const facts = bindAll(FACT_OPERATIONS, factPorts);
  const fake: Operations = {
    addMemory: async (input) => add(input),
    addMemories: async ({ items }) => ({
      results: items.map((item) => (item instanceof ServiceError ? item : add(item))),
    }),
    composeContext: async ({ maxTokens }) => ({
      text: newestFirst()
        .map(({ content }) => content)
        .join("\n"),
      items: newestFirst().map(({ id, content: text, createdAt: at, project }) => ({
        kind: "fact" as const,
        id,
        text,
        at,
        project,
      })),
      tokens: maxTokens,
    }),
    queryMemory: async ({ limit, snippetChars, explain, includeFacts }) => ({
      relevant: Math.min(limit, memories.size),
      plausible: Math.min(limit, memories.size),
      ...(includeFacts === true && {
        facts: (await facts.findFacts({ limit: 10 })).facts.map((fact) => ({ ...fact, score: 0.5 })),
      }),
      hits: newestFirst()
        .slice(0, limit)
        .map((memory) => ({
          memory,
          score: 0.5,
          level: "answer" as const,
          path: [memory.id],
          ...(snippetChars !== undefined && { snippet: memory.content.slice(0, snippetChars) }),
          ...(explain === true && { explain: { words: 0.5 } }),
        })),
    }),
    countMemories: async () => ({
      items: [{ key: null, count: 1, firstAt: FAKE_NOW, lastAt: FAKE_NOW }],
      total: 1,
    }),
    updateMemory: async ({ id, userId, ifVersion, ...changes }) => {
      const memory = find(id, userId, "FORBIDDEN");
      checkVersion(memory, ifVersion);
      const changed = { ...memory, ...changes, version: memory.version + 1 };
      memories.set(id, changed);
      return changed;
    },
    tagMemories: async ({ memories: tagged, add, remove, userId }) => ({
      results: tagged.map(({ id, ifVersion }) =>
        orRefused(() => {
          const memory = find(id, userId, "NOT_FOUND");
          checkVersion(memory, ifVersion);
          const tags = [...new Set([...memory.tags, ...add])].filter((tag) => !remove.includes(tag));
          const changed = tags.join() !== memory.tags.join();
          const version = memory.version + Number(changed);
          memories.set(id, { ...memory, tags, version });
          return { id, tags, version, changed };
        }),
      ),
    }),
    memoryHistory: async ({ id, userId }) => {
      const memory = find(id, userId, "NOT_FOUND");
      const { updatedAt: changedAt, createdBy: changedBy } = memory;
      return { items: [{ memory, changedAt, changedBy, change: "created" }], total: 1 };
    },
    restoreVersion: async ({ id, userId }) => find(id, userId, "FORBIDDEN"),
    eraseHistory: async ({ id }) => ({ id, deleted: 2 }),
    listTrash: async () => ({ items: [], total: 0 }),
    restoreFromTrash: async ({ id }) => find(id, undefined, "NOT_FOUND"),
    eraseFromTrash: async ({ id }) => ({ id, deleted: 1 }),
    emptyTrash: async () => ({ deleted: 0 }),
    undoChanges: async () => [],
    deleteMemory: async ({ id, userId, ifVersion }) => {
      checkVersion(find(id, userId, "FORBIDDEN"), ifVersion);
      memories.delete(id);
      return { id, deleted: 1 };
    },
    listMemories: async ({ filter, limit, offset, before = Number.POSITIVE_INFINITY }) => {
      const { createdBy, createdFrom = 0, idEnd = "" } = filter;
      const matching = newestFirst().filter(
        (memory) =>
          memory.order < before &&
          memory.createdAt >= createdFrom &&
          memory.id.endsWith(idEnd) &&
          (createdBy === undefined || memory.createdBy === createdBy),
      );
      const items = matching.slice(offset, offset + limit);
      const last = items.at(-1);
      const more = last !== undefined && matching.length > offset + limit;
      return { items, total: memories.size, ...(more && { nextBefore: last.order }) };
    },
    listSuperseded: async ({ offset, limit }) => {
      const [newer, older] = newestFirst();
      const items = newer === undefined || older === undefined ? [] : [{ older, newer }];
      return { items: items.slice(offset, offset + limit), total: items.length };
    },
    listComing: async ({ limit }) =>
      [...memories.values()].slice(0, limit).map((memory) => ({ on: "2026-12-24", memory })),
    getMemory: async ({ id, userId }) => find(id, userId, "NOT_FOUND"),
    reinforceMemory: async ({ id, boost, userId }) => {
      const memory = find(id, userId, "FORBIDDEN");
      const salience = memory.salience + boost * (1 - memory.salience);
      memories.set(id, { ...memory, salience });
      return { id, salience };
    },
    relatedMemories: async ({ id, userId }) => ({ nodes: [find(id, userId, "NOT_FOUND")], edges: [] }),
    listUsers: async () => ({ items: [], total: 0, isMore: false }),
    userSummary: async ({ userId }) => fakeSummary(userId),
    deleteUserMemories: async ({ userId }) => {
      const own = [...memories.values()].filter((memory) => memory.userId === userId);
      for (const { id } of own) memories.delete(id);
      return { deleted: own.length, deletedDocuments: 0, deletedFacts: 0 };
    },
    listChanges: async () => ({ items: [], next: 0, reset: false }),
    followChanges: async () => (async function* () {})(),
    listSectors: async () =>
      SECTORS.map((name) => ({ name, description: `What is ${name}.`, count: memories.size })),
    exportRecords: async () =>
      (async function* () {
        for (const {
          salience,
          lastSeenAt,
          order: _order,
          superseded: _by,
          ...memory
        } of newestFirst().reverse())
          yield { kind: "memory", memory, signals: { salience, lastSeenAt } };
      })(),
    restoreRecords: async ({ items }) => ({
      results: items.map((item) => {
        if (item instanceof ServiceError) return item;
        if (item.kind !== "memory") return { id: "x", outcome: "added" };
        const outcome = memories.has(item.memory.id) ? "known" : "added";
        memories.set(item.memory.id, {
          ...item.memory,
          ...item.signals,
          superseded: null,
          order: memories.size + 1,
        });
        return { id: item.memory.id, outcome };
      }),
    }),
    ...facts,
    ...overrides,
  };

  const operations = new Proxy(fake, {
    get: (target, name: keyof Operations) => (input: never) => {
      calls.push({ name, input });
      return (target[name] as (input: never) => unknown)(input);
    },
  });
  return {
    operations,
    calls,
    lastInput(name) {
      const call = calls.findLast((each) => each.name === name);
      if (call === undefined) throw new Error(`${name} was not called`);
      return call.input;
    },
  };
}

export function fakeId(order: number): string {
  return `019aa5a0-6c1e-7c3a-9d0f-${order.toString(16).padStart(12, "0")}`;
}

export const FAKE_STATUS: ServiceStatus = {
  version: "0.1.0",
  instanceId: "instance-1",
  startedAt: FAKE_NOW,
  notReady: [],
  repairs: [],
  memoryCount: 3,
  documents: { count: 1, jobsWaiting: 0, jobsRunning: 0 },
  sandbox: "bubblewrap",
  embedding: { model: "all-MiniLM-L6-v2", dimensions: 384, modelSha256: "ab".repeat(32) },
  store: {
    dataDir: "/data",
    format: 1,
    storeId: "store-1",
    position: "1.7",
    checkpoint: "1.5",
    pendingRows: 2,
    pendingBytes: 900,
    diskBytes: 12_000,
    journalBytes: 2_000,
    checkpoints: 5,
    unerased: 0,
    readOnly: false,
    addsRefused: null,
  },
  embeddingQueue: { waiting: 0, workers: 1 },
};

function fakeSummary(userId: string): UserSummary {
  return {
    userId,
    text: "Likes tea.",
    highlights: [{ memoryId: fakeId(1), text: "Likes tea." }],
    keyPhrases: ["tea"],
    facts: [],
    factCount: 0,
    memories: 1,
    sectors: { semantic: 1, episodic: 0, procedural: 0, emotional: 0, reflective: 0 },
    topTags: [],
    firstMemoryAt: FAKE_NOW,
    lastMemoryAt: FAKE_NOW,
    updatedAt: FAKE_NOW,
  };
}

/** Backups of which there is one, `one`. */
export function createFakeBackups(): ServerOptions["backups"] {
  const one: Backup = {
    name: "one",
    createdAt: 1,
    storeId: "store-1",
    position: "1.1",
    memories: 1,
    bytes: 10,
    addedBytes: 5,
    sharesDisk: true,
    verifiedAt: 1,
  };
  return {
    start: async ({ name = "two" }) => ({ name, startedAt: 1, done: 0, total: 0 }),
    list: async () => ({ folder: "/backups", items: [one], damaged: [], running: null, last: null }),
    copies: async () => ({ made: null, removed: 0, remaining: 1 }),
    verify: async () => one,
    remove: async () => {},
  };
}
