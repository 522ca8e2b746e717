import * as compose from "../memories/compose-memory.ts";
import { mapAtOnce } from "../at-once.ts";
import type { DocumentEmbedding } from "../embedding.ts";
import { conflict, notFound, orRefused, refusedOr, ServiceError, wrongField } from "../errors.ts";
import { CLOCK_STEP_MS, FactDraft } from "../facts/fact-store.ts";
import { endOf, type Fact, isEmpty, objectKey, sameMetadata } from "../facts/fact.ts";
import { removalOf } from "../history/keep-version.ts";
import type { MemoryPorts } from "../memories/memory-ports.ts";
import { checkCycle } from "../memories/supersede.ts";
import { INITIAL_SALIENCE, SECTORS, writerOf } from "../memory.ts";
import { type Change, edgeId, isStoredKind } from "../rows.ts";
import type {
  DocumentTransfer,
  FactTransfer,
  MemoryTransfer,
  TransferRecord,
  WaypointTransfer,
} from "./export-records.ts";

interface RestoreRecordsInput {
  /** In order; an error stands for an item that was refused before, and comes back in its place. */
  readonly items: readonly (TransferRecord | ServiceError)[];
}

interface RestoredRecord {
  /** For a waypoint `source>target:kind`. */
  readonly id: string;
  /** `known`: it was stored before, and is unchanged. */
  readonly outcome: "added" | "known";
}

const EMBEDDED_AT_ONCE = 8;

type Embedded = MemoryTransfer & {
  readonly embedding: DocumentEmbedding;
  readonly hash: string;
  readonly readText: compose.ReadText;
};
/** With the `order` of its first memory, where that is stored. */
type Placed = DocumentTransfer & { readonly order: number | undefined };
type Prepared = FactTransfer | WaypointTransfer | Embedded | Placed | RestoredRecord | ServiceError;

/**
 * Restores the records of `exportRecords`: ids, times, versions, sectors and salience are kept, values derived from texts
 * are remade. Items are judged one by one, without trust in the exporting store; the accepted ones make one record.
 * Repeating it changes nothing. Stored records are never changed: an id that another record has is refused.
 *
 * Memories take their places in the order of adding as they come, whatever their `createdAt`.
 * @returns as many results as items, in the same order.
 * @throws {ServiceError} STORE_FULL, NOT_READY, where it concerns the whole.
 */
export async function restoreRecords(ports: MemoryPorts, { items }: RestoreRecordsInput) {
  for (;;) {
    try {
      return await attempt(ports, await prepare(ports, items));
    } catch (error) {
      if (!(error instanceof RestoredMeanwhile)) throw error;
    }
  }
}

/** Thrown in the synchronous section when an id was taken since it was looked up: look it up again. */
class RestoredMeanwhile extends Error {}

async function attempt(ports: MemoryPorts, prepared: readonly Prepared[]) {
  const { store, followUps, sha256, clock } = ports;
  const { catalogue } = store;

  const { results, added } = await store.commit((section) => {
    const changes = new Map<string, Change>();
    const put = (change: Change): unknown => changes.set(`${change.table}/${change.id}`, change);
    const added = new Map<string, Embedded & { readonly order: number }>();
    const findMemory = (id: string): CutMemory | undefined => {
      const memory = added.get(id)?.memory;
      if (memory === undefined) return catalogue.find(id);
      return { userId: memory.userId, documentId: memory.source?.documentId ?? null };
    };
    const ownerOf = (id: string) => findMemory(id)?.userId;
    const findDocument = (id: string) => {
      const staged = changes.get(`documents/${id}`);
      return staged?.table === "documents" && staged.row !== null
        ? staged.row
        : catalogue.documents.byId.get(id);
    };
    const draft = new FactDraft(catalogue.facts, section, clock);
    const latestAllowed = section.now + CLOCK_STEP_MS;

    /** A stored waypoint gets the larger weight of the two, or 0 if either was rejected, and the earlier time. */
    const restoreWaypoint = ({ edge }: WaypointTransfer): RestoredRecord => {
      const id = edgeId(edge);
      const owner = ownerOf(edge.source);
      if (owner === undefined || ownerOf(edge.target) !== owner || edge.source === edge.target)
        throw notFound("A waypoint joins two memories of one user, and they are not both here.");
      const staged = changes.get(`edges/${id}`);
      const known =
        staged?.table === "edges"
          ? staged.row
          : catalogue.edgesOf(edge.source).find((other) => edgeId(other) === id);
      const isRejected = edge.weight === 0 || known?.weight === 0;
      const weight = isRejected ? 0 : Math.max(edge.weight, known?.weight ?? 0);
      const createdAt = Math.min(edge.createdAt, known?.createdAt ?? section.now);
      if (edge.weight === 0 && edge.kind !== "updates") throw wrong("/weight", "must be above 0");
      const { kind } = edge;
      if (!isStoredKind(kind)) return { id, outcome: "known" };
      if (known?.weight === weight && known.createdAt === createdAt) return { id, outcome: "known" };
      put({ table: "edges", id, row: { ...edge, kind, weight, createdAt } });
      return { id, outcome: "added" };
    };

    const restore = (item: Prepared): RestoredRecord => {
      if (item instanceof ServiceError) throw item;
      if ("outcome" in item) return item;
      switch (item.kind) {
        case "memory": {
          const { id } = item.memory;
          checkMemory(item, latestAllowed);
          const twin = added.get(id)?.memory;
          if (twin !== undefined) {
            if (!isSame(sha256, twin, item.memory)) throw takenId();
            return { id, outcome: "known" };
          }
          if (catalogue.find(id) !== undefined) throw new RestoredMeanwhile();
          checkCycle(
            item.memory.supersedes,
            id,
            (older) => (added.get(older)?.memory ?? catalogue.find(older))?.supersedes,
          );
          const order = section.nextOrder + added.size;
          const row = compose.withDerived({ ...item.memory, order, duplicateHash: item.hash }, item.readText);
          put({ table: "memories", id, row });
          compose.embeddingChanges(id, row.userId, item.embedding).forEach(put);
          // It takes the place of what the trash has under its id.
          removalOf(catalogue.versions.of(id)).forEach(put);
          const { salience, lastSeenAt } = item.signals;
          if (salience !== INITIAL_SALIENCE || lastSeenAt !== row.createdAt)
            put({ table: "signals", id, row: item.signals });
          added.set(id, { ...item, order });
          return { id, outcome: "added" };
        }
        case "document": {
          const { id, rootMemoryId } = item.document;
          const document = restoreDocument(item, findDocument(id), findMemory, latestAllowed);
          if (document === undefined) return { id, outcome: "known" };
          const order = added.get(rootMemoryId)?.order ?? item.order;
          if (order === undefined) throw new RestoredMeanwhile();
          put({ table: "documents", id, row: { ...document, order } });
          return { id, outcome: "added" };
        }
        case "fact":
          return restoreFact(draft, item, ownerOf, latestAllowed);
        case "waypoint":
          return restoreWaypoint(item);
      }
    };

    return {
      result: { results: prepared.map((item) => orRefused(() => restore(item))), added },
      changes: [...changes.values(), ...draft.changes],
    };
  });

  for (const { memory } of added.values()) if (memory.source === null) followUps.added(memory.id);
  return { results };
}

/** Embeds the memories that are not stored yet. */
async function prepare(
  { store, embedder, sha256, nextTurn }: Pick<MemoryPorts, "store" | "embedder" | "sha256" | "nextTurn">,
  items: RestoreRecordsInput["items"],
): Promise<Prepared[]> {
  const ids = items.flatMap((item) => {
    if (item instanceof ServiceError) return [];
    if (item.kind === "document") return [item.document.rootMemoryId];
    return item.kind === "memory" ? [item.memory.id] : [];
  });
  const here = await store.readMemories(ids);
  return mapAtOnce(items, EMBEDDED_AT_ONCE, async (item): Promise<Prepared> => {
    if (item instanceof ServiceError) return item;
    if (item.kind === "document") return { ...item, order: here.get(item.document.rootMemoryId)?.order };
    if (item.kind !== "memory") return item;
    await nextTurn();
    const { memory } = item;
    const known = here.get(memory.id);
    if (known !== undefined)
      return isSame(sha256, memory, known) ? { id: memory.id, outcome: "known" } : takenId();
    const embedding = await refusedOr(embedder.embedDocument(compose.embeddedText(memory)));
    if (embedding instanceof ServiceError) return embedding;
    await nextTurn();
    const hash = compose.duplicateHash(sha256, memory);
    return { ...item, embedding, hash, readText: compose.readText(memory, memory.createdAt) };
  });
}

/** @throws {ServiceError} INVALID_REQUEST for a record that no store could have given out. */
function checkMemory({ memory, signals }: MemoryTransfer, latestAllowed: number): void {
  const { createdAt, updatedAt, primarySector, sectors } = memory;
  if (updatedAt < createdAt) throw wrong("/updated_at", "must not be before created_at");
  if (Math.max(updatedAt, signals.lastSeenAt) > latestAllowed)
    throw wrong("/updated_at", "must not be in the future, nor last_seen_at");
  if (sectors[0] !== primarySector) throw wrong("/sectors", "must begin with primary_sector");
  if (new Set(sectors).size !== sectors.length || !sectors.every((sector) => SECTORS.includes(sector)))
    throw wrong("/sectors", "must not repeat one");
}

/** True if equal but for signals, order and the document's name. */
function isSame(
  sha256: MemoryPorts["sha256"],
  a: MemoryTransfer["memory"],
  b: MemoryTransfer["memory"],
): boolean {
  const rest = ({ createdAt, updatedAt, version, sectors, source, ...memory }: typeof a) =>
    JSON.stringify([createdAt, updatedAt, version, writerOf(memory), sectors, source?.section]);
  return compose.duplicateHash(sha256, a) === compose.duplicateHash(sha256, b) && rest(a) === rest(b);
}

const takenId = (): ServiceError =>
  conflict("Another memory, or another version of it, has this id here; it was left as it is.");

const wrong = (path: string, message: string) => wrongField("The record is not valid", path, message);

/** Owner and document of a memory that a document names. */
type CutMemory = { readonly userId: string | null; readonly documentId: string | null };

/** A document without its `order`. */
type UnplacedDocument = DocumentTransfer["document"];

/**
 * The document to store; undefined where it is stored already. Its first memory must exist; all its existing memories must
 * have been cut from it, while deleted ones may still be named. `known`, and what `findMemory` finds, is stored or restored by
 * the same write.
 * @throws {ServiceError} INVALID_REQUEST for a document that no store could have; NOT_FOUND where its first memory is
 *   missing; CONFLICT where the id, or a memory that it names, belongs to something else.
 */
function restoreDocument(
  { document }: DocumentTransfer,
  known: UnplacedDocument | undefined,
  findMemory: (id: string) => CutMemory | undefined,
  latestAllowed: number,
): UnplacedDocument | undefined {
  checkDocument(document, latestAllowed);
  if (known !== undefined) {
    if (isSameDocument(document, known)) return undefined;
    throw conflict("Another document has this id here; it was left as it is.");
  }
  if (findMemory(document.rootMemoryId) === undefined)
    throw notFound("The document's first memory is not here; import the memories before their documents.");
  const isForeign = ({ documentId, userId }: CutMemory): boolean =>
    documentId !== document.id || userId !== document.userId;
  if (document.memoryIds.flatMap((id) => findMemory(id) ?? []).some(isForeign))
    throw conflict("The document names a memory here that was not cut from it.");
  return document;
}

/** The same bytes, ingested for the same owner at the same time; later changes may differ. */
function isSameDocument(a: UnplacedDocument, b: UnplacedDocument): boolean {
  return (
    a.sha256 === b.sha256 && a.userId === b.userId && a.project === b.project && a.createdAt === b.createdAt
  );
}

/** @throws {ServiceError} INVALID_REQUEST. */
function checkDocument(
  { rootMemoryId, memoryIds, strategy, createdAt, fetchedAt }: UnplacedDocument,
  latestAllowed: number,
): void {
  if (memoryIds[0] !== rootMemoryId) throw wrongDocument("/memory_ids", "must begin with root_memory_id");
  if (new Set(memoryIds).size !== memoryIds.length) throw wrongDocument("/memory_ids", "must not repeat one");
  if (strategy === "single" && memoryIds.length !== 1)
    throw wrongDocument("/memory_ids", "must be one for `single`");
  if (createdAt > latestAllowed) throw wrongDocument("/created_at", "must not be in the future");
  if ((fetchedAt ?? 0) > latestAllowed) throw wrongDocument("/fetched_at", "must not be in the future");
}

const wrongDocument = (path: string, message: string) =>
  wrongField("The document is not valid", path, message);

/**
 * Restores a fact, unless it is stored already, perhaps with further versions. A source that is no memory of the fact's user
 * is left out.
 * @param ownerOf the memory's user; null without an owner, undefined for an unknown id.
 * @throws {ServiceError} INVALID_REQUEST for a history that no store could have; CONFLICT where the id, the
 *   cardinality or the period is taken by another fact.
 */
function restoreFact(
  draft: FactDraft,
  { versions }: FactTransfer,
  ownerOf: (id: string) => string | null | undefined,
  latestAllowed: number,
): RestoredRecord {
  const latest = checkHistory(versions, latestAllowed);
  const { id, cardinality } = latest;
  if (draft.find(id) !== undefined) {
    if (versions.every((version) => isSameVersion(version, draft.version(version))))
      return { id, outcome: "known" };
    throw conflict("Another fact, or another history of it, has this id here; it was left as it is.");
  }
  const others = draft.timeline(latest, latest.object);
  if ((others.cardinality ?? cardinality) !== cardinality)
    throw conflict("The facts here about this subject and predicate have the other cardinality.");
  if (others.facts.some((other) => excludes(latest, other)))
    throw conflict("A fact here about this subject and predicate holds at the same time.");
  const isKnown = (source: string | null) => source !== null && ownerOf(source) === latest.userId;
  draft.put(
    versions.map((version) =>
      isKnown(version.sourceMemoryId) ? version : { ...version, sourceMemoryId: null },
    ),
  );
  return { id, outcome: "added" };
}

/** The last of the versions. @throws {ServiceError} INVALID_REQUEST. */
function checkHistory(versions: readonly Fact[], latestAllowed: number): Fact {
  const latest = versions.at(-1);
  if (latest === undefined) throw wrongFact("/versions", "must not be empty");
  for (const field of ["subject", "predicate", "object"] as const) {
    if (latest[field].trim() === "") throw wrongFact(`/${field}`, "is empty");
  }
  for (const [i, { updatedAt, validFrom, validTo }] of versions.entries()) {
    const path = `/versions/${i}`;
    // It may be earlier than the version before: the clock may have been set back between the two.
    if (updatedAt > latestAllowed) throw wrongFact(`${path}/updated_at`, "is in the future");
    if (validTo !== null && validTo < validFrom)
      throw wrongFact(`${path}/valid_to`, "must not be before valid_from");
  }
  return latest;
}

/** True where both hold at some moment and only one may. */
function excludes(a: Fact, b: Fact): boolean {
  if (isEmpty(a) || isEmpty(b)) return false;
  if (a.cardinality === "many" && objectKey(a.object) !== objectKey(b.object)) return false;
  return a.validFrom < endOf(b) && b.validFrom < endOf(a);
}

function isSameVersion(restored: Fact, known: Fact | undefined): boolean {
  if (known === undefined) return false;
  const { metadata, sourceMemoryId, supersededBy, derivedFrom, createdBy, ...rest } = restored;
  // Links that a removal cleared here are not restored.
  const isSameLink = (mine: string | null, its: string | null) => its === null || mine === its;
  return (
    sameMetadata(metadata, known.metadata) &&
    isSameLink(sourceMemoryId, known.sourceMemoryId) &&
    isSameLink(supersededBy, known.supersededBy) &&
    isSameLink(derivedFrom, known.derivedFrom) &&
    (createdBy === null || createdBy === known.createdBy) &&
    Object.entries(rest).every(([field, value]) => known[field as keyof Fact] === value)
  );
}

const wrongFact = (path: string, message: string) => wrongField("The fact is not valid", path, message);
