import type { AddedMemory, AddMemoryInput } from "./added-memory.ts";
import {
  type ComposedMemory,
  duplicateHash,
  embeddingChanges,
  identityOf,
  meanWindow,
  newMemoryRow,
  readText,
  sectorsOf,
} from "./compose-memory.ts";
import { ServiceError } from "../errors.ts";
import { type IdempotentRequest, requestChanges } from "../idempotency.ts";
import type { MemoryPorts } from "./memory-ports.ts";
import { INITIAL_SALIENCE, type SeenMemory, writerOf } from "../memory.ts";
import { type Change, memoryOf } from "../rows.ts";
import { checkSupersedes, identicalMemory } from "./supersede.ts";
import { nextWaypoint, type Predecessor } from "./waypoints.ts";

/** An add that found its memory there already, before anything was embedded. */
export interface KnownDuplicate {
  readonly hash: string;
  readonly input: AddMemoryInput;
}

export type Composed = ComposedMemory | KnownDuplicate;

/** Embeds and classifies what is to be added, unless it is there already. The id is drawn first. */
export async function composeMemory(ports: MemoryPorts, input: AddMemoryInput): Promise<Composed> {
  // Of many that are there already, none waits for the model.
  await ports.nextTurn();
  const identity = identityOf(input);
  const hash = duplicateHash(ports.sha256, identity);
  const { catalogue } = ports.store;
  const supersedes = input.supersedes ?? [];
  checkSupersedes(catalogue, identity.userId, supersedes);
  if (identicalMemory(catalogue, hash, supersedes) !== undefined) return { hash, input };
  return embedNew(ports, input, hash);
}

async function embedNew(ports: MemoryPorts, input: AddMemoryInput, hash: string): Promise<ComposedMemory> {
  const id = ports.ids.newId(ports.clock.now());
  const embedding = await ports.embedder.embedDocument(input.content);
  const identity = identityOf(input);
  // What is left of a long text takes .1 s and more: others get their turn in between.
  await ports.nextTurn();
  const direction = meanWindow(embedding.windows);
  const sectors = sectorsOf(ports.classify, input.content, direction, input.sector);
  await ports.nextTurn();
  return {
    id,
    identity,
    hash,
    embedding,
    direction,
    sectors,
    ...writerOf(input),
    supersedes: [...new Set(input.supersedes)],
    readText: readText(identity, ports.clock.now()),
  };
}

/** Raised inside the synchronous section when a duplicate seen before is gone by now. */
class DuplicateGone extends Error {}

/**
 * Stores memories in one record, in order: all of them or none. Duplicates, of what is stored and among themselves, are
 * found again in the synchronous section.
 *
 * @param items undefined where there is nothing to store.
 * @returns as many as were given, in the same order.
 */
export async function storeMemories(
  ports: MemoryPorts,
  items: readonly (Composed | undefined)[],
  request: IdempotentRequest | undefined,
): Promise<(AddedMemory | undefined)[]> {
  if (items.every((item) => item === undefined)) return [];
  try {
    return await attempt(ports, items, request);
  } catch (error) {
    if (!(error instanceof DuplicateGone)) throw error;
    // Deleted between the look and the write: then it is new, and embedded after all.
    const fresh = items.map(async (item) =>
      item !== undefined && "input" in item ? await embedNew(ports, item.input, item.hash) : item,
    );
    return attempt(ports, await Promise.all(fresh), request);
  }
}

interface Placed {
  readonly id: string;
  /** Undefined where the memory was there before this write. */
  readonly memory: SeenMemory | undefined;
  readonly deduplicated: boolean;
}

async function attempt(
  { store, embedder, followUps }: MemoryPorts,
  items: readonly (Composed | undefined)[],
  request: IdempotentRequest | undefined,
): Promise<(AddedMemory | undefined)[]> {
  const placed = await store.commit((section) => {
    const changes: Change[] = [];
    const added = new Map<string, SeenMemory>();
    const lastOfSeries = new Map<string, Predecessor>();
    const result = items.map((item): Placed | undefined => {
      if (item === undefined) return undefined;
      const own = added.get(item.hash);
      if (own !== undefined) return { id: own.id, memory: own, deduplicated: true };
      const supersedes = ("input" in item ? item.input.supersedes : item.supersedes) ?? [];
      const duplicate = identicalMemory(store.catalogue, item.hash, supersedes);
      if (duplicate !== undefined) return { id: duplicate, memory: undefined, deduplicated: true };
      if ("input" in item) throw new DuplicateGone();

      const row = newMemoryRow(item, section, section.nextOrder + added.size);
      const memory: SeenMemory = {
        ...memoryOf(row),
        salience: INITIAL_SALIENCE,
        lastSeenAt: section.now,
        superseded: null,
      };
      added.set(item.hash, memory);
      changes.push(
        { table: "memories", id: row.id, row },
        ...embeddingChanges(row.id, row.userId, item.embedding, embedder.stamp),
      );
      const series = JSON.stringify([row.userId, row.sessionId]);
      const before = lastOfSeries.get(series) ?? store.catalogue.latest(row.userId, row.sessionId);
      changes.push(...nextWaypoint(before, row));
      lastOfSeries.set(series, row);
      return { id: row.id, memory, deduplicated: false };
    });
    changes.push(
      ...requestChanges(
        request,
        result.map((place) => place?.id ?? null),
        section.now,
      ),
    );
    return { changes, result };
  });

  items.forEach((item, i) => {
    const place = placed[i];
    if (item !== undefined && !("input" in item) && place?.memory !== undefined && !place.deduplicated) {
      followUps.added(item.id, place.memory.version, item.direction);
    }
  });

  const missing = placed.flatMap((place) =>
    place !== undefined && place.memory === undefined ? [place.id] : [],
  );
  const known = missing.length === 0 ? new Map<string, SeenMemory>() : await store.readMemories(missing);
  return placed.map((place) => {
    if (place === undefined) return undefined;
    const { id, memory = known.get(id), deduplicated } = place;
    if (memory === undefined) {
      throw new ServiceError("CONFLICT", "The same memory was being deleted at this moment; add it again.", {
        retryAfterSeconds: 1,
      });
    }
    return { memory, deduplicated };
  });
}
