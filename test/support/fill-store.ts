import { existsSync, readFileSync } from "node:fs";
import { embeddingChanges, newMemoryRow, readText } from "../../src/core/memories/compose-memory.ts";
import {
  type DocumentEmbedding,
  EMBEDDING_DIMENSIONS,
  type EmbeddingStamp,
  TOKEN_DIMENSIONS,
} from "../../src/core/embedding.ts";
import type { Embedder, MemoryStore } from "../../src/core/ports.ts";
import { type Change, edgeId } from "../../src/core/rows.ts";
import { bytesOf } from "../../src/storage/catalogue/overlay.ts";
import { nodeDisk } from "../../src/storage/files/disk.ts";
import { openStore } from "../../src/storage/open-store.ts";
import { sha256, systemClock, uuidSource } from "../../src/daemon/system.ts";
import "./languages.ts";
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
  readonly count: number;
  readonly stamp: EmbeddingStamp;
  /** Memories belong to this many users in turn; 1 in a hundred of them has the tag "rare". */
  readonly users?: number;
  /** Of a user by number. */
  readonly nameOf?: (user: number) => string;
  /** Links from each memory to ones before it; none if left out. */
  readonly waypoints?: number;
  /** Of the stamp; without one, vectors are random and have nothing to do with the words. */
  readonly embedder?: Pick<Embedder, "embedDocument">;
  /** The texts by number, instead of drawn words. */
  readonly textOf?: (turn: number) => string;
}

/**
 * Fills a store in a directory as `fillOpenStore` does.
 *
 * @returns about what the rows weigh, and what this process wrote meanwhile (NaN where there is no `/proc`).
 */
export async function fillStore({
  directory,
  ...options
}: FillOptions & { readonly directory: string }): Promise<{
  readonly bytesOfRows: number;
  readonly bytesWritten: number;
}> {
  const writtenBefore = bytesWrittenSoFar();
  await nodeDisk.makeDirectory(directory);
  const { store, checkpointer } = await openStore({
    disk: nodeDisk,
    directory,
    clock: systemClock,
    stamp: () => options.stamp,
    log: quiet,
  });
  const bytesOfRows = await fillOpenStore(store, options);
  await checkpointer.flush();
  await store.close();
  return { bytesOfRows, bytesWritten: bytesWrittenSoFar() - writtenBefore };
}

/**
 * Fills a store with given texts, or with made-up sentences of a vocabulary of 20 000 words, through its own write path.
 *
 * @returns about what the rows weigh.
 */
export async function fillOpenStore(
  store: Pick<MemoryStore, "commit">,
  {
    count,
    stamp,
    users = 100,
    nameOf = (user) => `user${user}`,
    waypoints = 0,
    embedder,
    textOf,
  }: FillOptions,
): Promise<number> {
  let bytesOfRows = 0;
  const random = seededRandom(count);
  const vectors = drawnVectors(random);
  const pick = (list: readonly string[]) => list[Math.floor(random() * list.length)] ?? "";
  // Squared, so that some words are common and most are rare.
  const word = () => `w${Math.floor(random() ** 2 * 20_000)}`;
  const contentOf = (i: number) =>
    textOf?.(i) ?? `${pick(SUBJECTS)} ${pick(VERBS)} ${Array.from({ length: 14 }, word).join(" ")} (${i})`;
  const embed = async (content: string): Promise<DocumentEmbedding> =>
    (await embedder?.embedDocument(content)) ?? {
      windows: [vectors.embedding()],
      tokens: { vectors: vectors.tokens() },
      stamp,
    };
  const ids: string[] = [];
  for (let first = 0; first < count; first += ROWS_PER_RECORD) {
    const texts: { readonly content: string; readonly embedding: DocumentEmbedding }[] = [];
    for (let i = first; i < Math.min(first + ROWS_PER_RECORD, count); i += 1) {
      const content = contentOf(i);
      texts.push({ content, embedding: await embed(content) });
    }
    await store.commit((section) => {
      const changes: Change[] = [];
      const edges: Change[] = [];
      for (const [at, { content, embedding }] of texts.entries()) {
        const i = first + at;
        const identity = {
          content,
          tags: i % 100 === 0 ? ["rare"] : ["common"],
          metadata: { place: i },
          userId: nameOf(i % users),
          project: null,
          sessionId: i % 3 === 0 ? null : `session${Math.floor(i / (users * 20))}`,
          occurredAt: section.now - (count - i) * 60_000,
        };
        const composed = {
          id: uuidSource.newId(section.now),
          identity,
          hash: sha256(content).slice(0, 32),
          embedding,
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
            kind: "link",
            weight: 0.5,
            createdAt: section.now,
          } as const;
          edges.push({ table: "edges", id: edgeId(edge), row: edge });
        }
        ids.push(row.id);
      }
      const all = changes.concat(edges);
      for (const change of all) bytesOfRows += bytesOf(change);
      return { changes: all, result: undefined };
    });
  }
  return bytesOfRows;
}

function bytesWrittenSoFar(): number {
  if (!existsSync("/proc/self/io")) return Number.NaN;
  return Number(/^write_bytes: (\d+)/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);
}

/** Vectors cut from a million random numbers each: drawing every component anew would take most of the time. */
function drawnVectors(random: () => number) {
  const pool = 2 ** 20;
  const components = Float32Array.from({ length: pool }, () => random() + random() + random() - 1.5);
  const tokens = Int8Array.from({ length: pool }, () => Math.round((random() - 0.5) * 60));
  const cut = <T extends Float32Array | Int8Array>(from: T, length: number) => {
    const first = Math.floor(random() * (pool - length));
    return from.slice(first, first + length) as T;
  };
  return {
    embedding(): Float32Array {
      const vector = cut(components, EMBEDDING_DIMENSIONS);
      const length = Math.sqrt(vector.reduce((sum, component) => sum + component ** 2, 0));
      return vector.map((component) => component / length);
    },
    tokens: (): Int8Array => cut(tokens, TOKENS_PER_MEMORY * TOKEN_DIMENSIONS),
  };
}
