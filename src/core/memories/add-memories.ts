import { mapAtOnce } from "../at-once.ts";
import type { AddedMemory, AddMemoryInput, MemoryPorts } from "./memory-ports.ts";
import * as compose from "./compose-memory.ts";
import { conflict, refusedOr, ServiceError } from "../errors.ts";
import { type CommitOnce, goneError, type IdempotentRequest, refusedBefore } from "../idempotency.ts";
import { INITIAL_SALIENCE, type SeenMemory, writerOf } from "../memory.ts";
import { type Change, memoryOf } from "../rows.ts";
import { checkSupersedes, identicalMemory } from "./supersede.ts";

interface AddMemoriesInput {
  /** In order; an error stands for an item that was refused before, and is returned in its place. */
  readonly items: readonly (AddMemoryInput | ServiceError)[];
  readonly idempotency?: IdempotentRequest;
}

/** Items of one batch that wait for the model at a time, so that other callers' adds come in between. */
const EMBEDDED_AT_ONCE = 8;

/** Adds a memory. @throws {ServiceError} MODEL_UNAVAILABLE, RATE_LIMITED; as `MemoryStore.commit`, `RequestLedger`. */
export async function addMemory(
  ports: MemoryPorts,
  { idempotency, ...item }: AddMemoryInput,
): Promise<AddedMemory> {
  const { results } = await addMemories(ports, { items: [item], ...(idempotency && { idempotency }) });
  const [added] = results;
  if (added === undefined || added instanceof ServiceError) throw added ?? goneError();
  return added;
}

/** Adds memories in one record; items are judged one by one. @returns as many as items, in their order. @throws as `addMemory`. */
export async function addMemories(
  ports: MemoryPorts,
  input: AddMemoriesInput,
): Promise<{ readonly results: readonly (AddedMemory | ServiceError)[] }> {
  const { store, requests } = ports;
  return requests.once(
    store,
    input.idempotency,
    async (commit) => {
      const composed = await mapAtOnce(input.items, EMBEDDED_AT_ONCE, async (item) =>
        item instanceof ServiceError ? item : refusedOr(composeMemory(ports, item, input.items.length > 1)),
      );
      return { results: await storeMemories(ports, composed, commit) };
    },
    async (ids) => {
      const memories = await store.readMemories(ids.filter((id) => id !== null));
      return {
        results: input.items.map((item, i) => {
          if (item instanceof ServiceError) return item;
          const id = ids[i];
          if (typeof id !== "string") return refusedBefore();
          const memory = memories.get(id);
          return memory === undefined ? goneError() : { memory, deduplicated: false };
        }),
      };
    },
  );
}

/** A known memory is not embedded once more. */
type Composed = compose.ComposedMemory | Pick<compose.ComposedMemory, "identity" | "hash" | "supersedes">;

/** Embeds and classifies a new memory; an add that repeats a stored one is only recognised. */
async function composeMemory(
  ports: MemoryPorts,
  input: AddMemoryInput,
  isOfMany: boolean,
): Promise<Composed> {
  const { store, sha256, ids, clock, embedder, classify, nextTurn } = ports;
  // A batch of known memories would otherwise never wait, and hold other requests up.
  await nextTurn();
  const identity = compose.identityOf(input);
  const hash = compose.duplicateHash(sha256, identity);
  const supersedes = [...new Set(input.supersedes)];
  checkSupersedes(store.catalogue, identity.userId, supersedes);
  const known = { identity, hash, supersedes };
  if (identicalMemory(store.catalogue, known, isOfMany) !== undefined) return known;
  const id = ids.newId(clock.now());
  const embedding = await embedder.embedDocument(compose.embeddedText(input));
  // The rest takes .1 s and more for a long text: let other requests in between.
  await nextTurn();
  const sectors = compose.sectorsOf(classify, input.content, embedding, input.sector);
  await nextTurn();
  return {
    ...known,
    id,
    embedding,
    sectors,
    ...writerOf(input),
    readText: compose.readText(identity, clock.now()),
  };
}

/** Stores memories in one record, in order; duplicates are found again in the synchronous section. */
async function storeMemories(
  { store, followUps }: MemoryPorts,
  items: readonly (Composed | ServiceError)[],
  commit: CommitOnce,
): Promise<(AddedMemory | ServiceError)[]> {
  if (items.every((item) => item instanceof ServiceError))
    return items.filter((item) => item instanceof ServiceError);
  const { placed, added } = await commit((section) => {
    const changes: Change[] = [];
    const added = new Map<string, SeenMemory>();
    const placed = items.map((item) => {
      if (item instanceof ServiceError) return item;
      const twin = added.get(item.hash)?.id;
      const known = twin ?? identicalMemory(store.catalogue, item, items.length > 1);
      if (known !== undefined) return { id: known, deduplicated: true };
      if (!("embedding" in item)) return deletedMeanwhile();

      const row = compose.newMemoryRow(item, section, section.nextOrder + added.size);
      const seen = { salience: INITIAL_SALIENCE, lastSeenAt: section.now, superseded: null };
      added.set(item.hash, { ...memoryOf(row), ...seen });
      changes.push(
        { table: "memories", id: row.id, row },
        ...compose.embeddingChanges(row.id, row.userId, item.embedding),
      );
      return { id: row.id, deduplicated: false };
    });
    const ids = placed.map((place) => (place instanceof ServiceError ? null : place.id));
    return { changes, ids, result: { placed, added } };
  });

  const memories = new Map<string, SeenMemory>();
  for (const memory of added.values()) {
    memories.set(memory.id, memory);
    followUps.added(memory.id);
  }
  const known = placed.flatMap((place) =>
    place instanceof ServiceError || memories.has(place.id) ? [] : [place.id],
  );
  if (known.length > 0) for (const [id, memory] of await store.readMemories(known)) memories.set(id, memory);
  return placed.map((place) => {
    if (place instanceof ServiceError) return place;
    const memory = memories.get(place.id);
    return memory === undefined ? deletedMeanwhile() : { memory, deduplicated: place.deduplicated };
  });
}

const deletedMeanwhile = (): ServiceError =>
  conflict("The same memory was being deleted at this moment; add it again.", { retryAfterSeconds: 1 });
