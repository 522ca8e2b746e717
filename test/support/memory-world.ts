import { createHash } from "node:crypto";
import { FollowUps } from "../../src/core/memories/follow-ups.ts";
import { RequestLedger } from "../../src/core/idempotency.ts";
import type { MemoryPorts } from "../../src/core/memories/memory-ports.ts";
import { UserSummaries } from "../../src/core/users/user-summaries.ts";
import type { UserPorts } from "../../src/core/users/user-operations.ts";
import { createFakeEmbedder, type FakeEmbedder } from "./fake-embedder.ts";
import { createInMemoryStore, type InMemoryStore } from "./in-memory-store.ts";

export interface MemoryWorld {
  readonly ports: MemoryPorts & UserPorts;
  readonly embedder: FakeEmbedder;
  readonly memory: InMemoryStore;
  /** What the clock says; set it at will. */
  now: number;
}

/** Ports without disk, model or time: ids count up, and every text with "feel" is emotional, else semantic. */
export function createMemoryWorld(): MemoryWorld {
  let ids = 0;
  const clock = { now: () => world.now };
  const embedder = createFakeEmbedder();
  const memory = createInMemoryStore(clock);
  const summaries = new UserSummaries({
    store: memory.store,
    facts: memory.store,
    clock,
    nextTurn: async () => {},
  });
  const world: MemoryWorld = {
    now: Date.UTC(2026, 0, 1),
    embedder,
    memory,
    ports: {
      store: memory.store,
      facts: memory.store,
      embedder,
      clock,
      ids: { newId: () => `m${(ids += 1)}` },
      stopJob: async () => {},
      summaries,
      requests: new RequestLedger(),
      followUps: new FollowUps(memory.store, { onPending: () => {}, isBusy: () => false }),
      classify: ({ content }) => {
        const primarySector = content.includes("feel") ? "emotional" : "semantic";
        const none = { semantic: 0, episodic: 0, procedural: 0, emotional: 0, reflective: 0 };
        return { primarySector, sectors: [primarySector], probabilities: { ...none, [primarySector]: 1 } };
      },
      sha256: (text) => createHash("sha256").update(text).digest("hex"),
    },
  };
  return world;
}
