import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { FactMeanings } from "../../src/core/facts/fact-meanings.ts";
import { FollowUps } from "../../src/core/memories/follow-ups.ts";
import { RequestLedger } from "../../src/core/idempotency.ts";
import { readWordFrequencies } from "../../src/core/text/stop-words.ts";
import type { OperationPorts } from "../../src/core/operations.ts";
import "./languages.ts";
import { createFakeEmbedder, type FakeEmbedder } from "./fake-embedder.ts";
import { createInMemoryStore, type InMemoryStore } from "./in-memory-store.ts";

/** Those that ship. */
export const WORD_FREQUENCIES = readWordFrequencies(
  readFileSync(new URL("../../data/word-frequencies.txt", import.meta.url), "utf8"),
);

export interface MemoryWorld {
  readonly ports: OperationPorts;
  readonly embedder: FakeEmbedder;
  readonly memory: InMemoryStore;
  readonly followUps: FollowUps;
  /** What the clock says; set it at will. */
  now: number;
}

/** Ports without disk, model or time: ids count up, and every text with "feel" is emotional, else semantic. */
export function createMemoryWorld(): MemoryWorld {
  let ids = 0;
  const clock = { now: () => world.now };
  const embedder = createFakeEmbedder();
  const memory = createInMemoryStore(clock);
  const followUps = new FollowUps(memory.store, {
    onPending: () => {},
    isBusy: () => false,
    nextTurn: async () => {},
  });
  const world: MemoryWorld = {
    followUps,
    now: Date.UTC(2026, 0, 1),
    embedder,
    memory,
    ports: {
      store: memory.store,
      meanings: new FactMeanings(embedder, WORD_FREQUENCIES),
      embedder,
      clock,
      timeZone: "UTC",
      historyMs: 30 * 24 * 3_600_000,
      ids: { newId: () => `m${(ids += 1)}` },
      stopJob: async () => {},
      noteErasure: async () => {},
      feed: memory.feed,
      requests: new RequestLedger(),
      followUps,
      classify: ({ content }) => {
        const primarySector = content.includes("feel") ? "emotional" : "semantic";
        const none = { semantic: 0, episodic: 0, procedural: 0, emotional: 0, reflective: 0 };
        return { primarySector, sectors: [primarySector], probabilities: { ...none, [primarySector]: 1 } };
      },
      frequencies: WORD_FREQUENCIES,
      nextTurn: async () => {},
      sha256: (text) => createHash("sha256").update(text).digest("hex"),
    },
  };
  return world;
}
