import { embeddingChanges, newMemoryRow, readText } from "../../src/core/memories/compose-memory.ts";
import { EMBEDDING_DIMENSIONS, type EmbeddingStamp, TOKEN_DIMENSIONS } from "../../src/core/embedding.ts";
import { type Change, edgeId } from "../../src/core/rows.ts";
import { nodeDisk } from "../../src/storage/disk.ts";
import { openStore } from "../../src/storage/open-store.ts";
import { sha256, systemClock, uuidSource } from "../../src/daemon/system.ts";
import { seededRandom } from "./seeded-random.ts";

export const SUBJECTS = [
  "Ann",
  "the printer",
  "our landlord",
  "Bob",
  "the team",
  "my sister",
  "the garden",
  "that invoice",
];
const VERBS = [
  "asked about",
  "moved to",
  "paid for",
  "forgot",
  "repaired",
  "wrote down",
  "agreed on",
  "complained about",
];
const TOKENS_PER_MEMORY = 20;
const ROWS_PER_RECORD = 500;
const quiet = { info() {}, warn() {}, error: console.error };

export interface FillOptions {
  readonly directory: string;
  readonly count: number;
  readonly stamp: EmbeddingStamp;
  /** Memories belong to this many users in turn; 1 in a hundred of them has the tag "rare". */
  readonly users?: number;
  /** Links from each memory to ones before it; none if left out. */
  readonly waypoints?: number;
}

/** Fills a store with made-up sentences of a vocabulary of 20 000 words and random vectors, through the store's own write path. */
export async function fillStore({
  directory,
  count,
  stamp,
  users = 100,
  waypoints = 0,
}: FillOptions): Promise<void> {
  await nodeDisk.makeDirectory(directory);
  const { store, checkpointer } = await openStore({
    disk: nodeDisk,
    directory,
    clock: systemClock,
    stamp: () => stamp,
    log: quiet,
  });
  const random = seededRandom(count);
  const pick = (list: readonly string[]) => list[Math.floor(random() * list.length)] ?? "";
  // Squared, so that some words are common and most are rare.
  const word = () => `w${Math.floor(random() ** 2 * 20_000)}`;
  const ids: string[] = [];
  for (let first = 0; first < count; first += ROWS_PER_RECORD) {
    await store.commit((section) => {
      const changes: Change[] = [];
      const edges: Change[] = [];
      for (let i = first; i < Math.min(first + ROWS_PER_RECORD, count); i += 1) {
        const content = `${pick(SUBJECTS)} ${pick(VERBS)} ${Array.from({ length: 14 }, word).join(" ")} (${i})`;
        const identity = {
          content,
          tags: i % 100 === 0 ? ["rare"] : ["common"],
          metadata: { place: i },
          userId: `user${i % users}`,
          project: null,
          sessionId: i % 3 === 0 ? null : `session${Math.floor(i / (users * 20))}`,
          occurredAt: section.now - (count - i) * 60_000,
        };
        const direction = unitVector(random);
        const composed = {
          direction,
          id: uuidSource.newId(section.now),
          identity,
          hash: sha256(content).slice(0, 32),
          embedding: { windows: [direction], tokens: { vectors: tokenVectors(random) }, stamp },
          sectors: { primarySector: "semantic", sectors: ["semantic"] } as const,
          createdBy: null,
          supersedes: [],
          readText: readText(identity, section.now),
        };
        const row = newMemoryRow(composed, section, section.nextOrder + changes.length / 3);
        changes.push(
          { table: "memories", id: row.id, row },
          ...embeddingChanges(row.id, row.userId, composed.embedding),
        );
        for (let back = 1; back <= waypoints; back += 1) {
          const target = ids.at(-back * users);
          if (target === undefined) continue;
          const edge = {
            source: row.id,
            target,
            kind: "similar",
            weight: 0.5,
            createdAt: section.now,
          } as const;
          edges.push({ table: "edges", id: edgeId(edge), row: edge });
        }
        ids.push(row.id);
      }
      return { changes: changes.concat(edges), result: undefined };
    });
  }
  await checkpointer.flush();
  await store.close();
}

function unitVector(random: () => number): Float32Array {
  const vector = new Float32Array(EMBEDDING_DIMENSIONS);
  for (let i = 0; i < vector.length; i += 1) vector[i] = random() + random() + random() - 1.5;
  const length = Math.hypot(...vector);
  return vector.map((component) => component / length);
}

function tokenVectors(random: () => number): Int8Array {
  const vectors = new Int8Array(TOKENS_PER_MEMORY * TOKEN_DIMENSIONS);
  for (let i = 0; i < vectors.length; i += 1) vectors[i] = Math.round((random() - 0.5) * 60);
  return vectors;
}
