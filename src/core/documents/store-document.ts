import { CHUNKING_VERSION } from "./chunking.ts";
import type { DocumentReads } from "./document-index.ts";
import type { DocumentRow, IngestRequest, JobRow } from "./document.ts";
import type { DocumentPlan } from "./plan-document.ts";
import { sourceRemoval } from "../facts/erase-fact.ts";
import { removalOf } from "../history/keep-version.ts";
import { embeddingChanges, newMemoryRow, type ComposedMemory } from "../memories/compose-memory.ts";
import type { MemoryPorts } from "../memories/memory-ports.ts";
import { removeEdges } from "../memories/waypoints.ts";
import type { Memory, Metadata } from "../memory.ts";
import type { Decision, Steps, WriteSection } from "../ports.ts";
import { type Change, edgeId } from "../rows.ts";
import { ownerOf, writerOf } from "../memory.ts";

/** Memories composed for places of a plan; places that are still stored have none. */
export type ComposedPlaces = ReadonlyMap<number, ComposedMemory>;

/** Weight of the waypoint between neighbours in a document; the same as in a session. */
const SAME_DOCUMENT_WEIGHT = 1;
const CHARACTERS_PER_TOKEN = 4;

/** The changes that store a document whole; remade memories take the places of deleted ones. */
export function* documentChanges(
  section: WriteSection,
  parts: {
    readonly id: string;
    readonly existing: DocumentRow | undefined;
    readonly job: Pick<JobRow, "userId" | "project">;
    readonly request: IngestRequest;
    readonly file: { readonly sha256: string; readonly bytes: number };
    readonly mediaType: string;
    readonly plan: DocumentPlan;
    readonly composed: ComposedPlaces;
  },
): Steps<Change[]> {
  const { id, existing, job, request, file, plan, composed } = parts;
  const changes: Change[] = [];
  let order = section.nextOrder;
  for (const memory of composed.values()) {
    const row = newMemoryRow(memory, section, order);
    changes.push({ table: "memories", id: row.id, row });
    changes.push(...embeddingChanges(row.id, row.userId, memory.embedding));
    order += 1;
    yield;
  }
  const memoryIds = plan.memories.map(
    (_, place) => composed.get(place)?.id ?? existing?.memoryIds[place] ?? "",
  );
  changes.push(...chain(memoryIds, composed, section.now));
  const [rootMemoryId = ""] = memoryIds;
  const chars = plan.memories.reduce((sum, { content }) => sum + content.length, 0);
  const row: DocumentRow = existing
    ? {
        ...asSentAgain(existing, request),
        rootMemoryId,
        memoryIds,
        chunkingVersion: CHUNKING_VERSION,
      }
    : {
        id,
        sha256: file.sha256,
        bytes: file.bytes,
        filename: request.filename,
        mediaType: parts.mediaType,
        url: request.url,
        ...ownerOf(job),
        tags: request.tags,
        metadata: request.metadata,
        extraction: plan.account,
        strategy: plan.strategy,
        rootMemoryId,
        memoryIds,
        totalTokens: Math.ceil(chars / CHARACTERS_PER_TOKEN),
        chunkingVersion: CHUNKING_VERSION,
        ...writerOf(request),
        createdAt: section.now,
        fetchedAt: request.fetchedAt,
        order: section.nextOrder,
      };
  changes.push({ table: "documents", id, row });
  return changes;
}

/** Waypoints along the document, from the root on; only those that leave or reach a new memory. */
function chain(memoryIds: readonly string[], composed: ComposedPlaces, createdAt: number): Change[] {
  return documentChain(memoryIds, createdAt).filter((_, i) => composed.has(i) || composed.has(i + 1));
}

/** The waypoint from each memory of a document to the next. */
export function documentChain(memoryIds: readonly string[], createdAt: number): Change[] {
  return memoryIds.slice(1).map((target, i): Change => {
    const source = memoryIds[i] as string;
    const row = { source, target, kind: "same-document", weight: SAME_DOCUMENT_WEIGHT, createdAt } as const;
    return { table: "edges", id: edgeId(row), row };
  });
}

type RemovalPorts = Pick<MemoryPorts, "store" | "facts">;

/** Ids of a document's memories that still exist, in order. */
export function memoryIdsOf({ store }: Pick<MemoryPorts, "store">, document: DocumentRow): string[] {
  // The row also names deleted memories, and that of a restored document may name foreign ones.
  return document.memoryIds.filter((id) => store.catalogue.find(id)?.documentId === document.id);
}

/** The changes that remove a memory and all rows of it, earlier versions too. Facts that name it as their source stay, without a source. */
export function memoryRemoval(ports: RemovalPorts, id: string): Change[] {
  return [...presentRemoval(ports, id), ...removalOf(ports.store.catalogue.versions.of(id))];
}

/** As `memoryRemoval`, but for its earlier versions. */
export function presentRemoval({ store, facts }: RemovalPorts, id: string): Change[] {
  // Edges first: the catalogue finds their ends by the memories' ids.
  return [
    ...removeEdges(store.catalogue.edgesOf(id)),
    ...sourceRemoval(facts.book, id),
    { table: "signals", id, row: null },
    { table: "tokens", id, row: null },
    { table: "vectors", id, row: null },
    { table: "memories", id, row: null },
  ];
}

/** The changes that remove a document, its memories, also those in the trash, and its jobs; and the number of the present ones. */
export function* documentRemoval(
  ports: RemovalPorts,
  document: DocumentRow,
): Steps<{ readonly changes: Change[]; readonly deleted: number }> {
  const { catalogue } = ports.store;
  const memories = memoryIdsOf(ports, document);
  const present: Change[] = [];
  for (const id of memories) {
    present.push(...presentRemoval(ports, id));
    yield;
  }
  return {
    changes: [
      ...present,
      ...removalOf(catalogue.versions.ofDocument(document.id)),
      ...documentRowsRemoval(ports, document.id),
    ],
    deleted: memories.length,
  };
}

/** Decides on the removal of a document, which is asked for by an id: of its own or of its root. */
export function* documentDeletion(
  ports: RemovalPorts,
  document: DocumentRow,
  id: string,
): Steps<Decision<{ readonly id: string; readonly deleted: number }>> {
  const { changes, deleted } = yield* documentRemoval(ports, document);
  return { changes, result: { id, deleted } };
}

/** The changes that remove the row of a document and those of its jobs. */
export function documentRowsRemoval({ store }: Pick<MemoryPorts, "store">, id: string): Change[] {
  const jobs = [...store.catalogue.documents.allJobs()].filter(({ documentId }) => documentId === id);
  return [
    { table: "documents", id, row: null },
    ...jobs.map((job): Change => ({ table: "jobs", id: job.id, row: null })),
  ];
}

/** A memory as reads answer it: its source has the document's current name. */
export function citedAsNow(memory: Memory, documents: Pick<DocumentReads, "findDocument">): Memory {
  const { source } = memory;
  const document = source === null ? undefined : documents.findDocument(source.documentId);
  if (source === null || document === undefined || document.filename === source.filename) return memory;
  return { ...memory, source: { ...source, filename: document.filename } };
}

/** Paths kept per document; the oldest are dropped first. */
const MAX_PATHS = 100;

/** A document whose bytes were sent again: with the new name, and the new path beside the known ones. */
export function asSentAgain<Sent extends Pick<DocumentRow, "filename" | "metadata">>(
  document: Sent,
  { filename, metadata }: Pick<DocumentRow, "filename" | "metadata">,
): Sent {
  const [known, path] = [pathsIn(document.metadata), metadata["path"]];
  // A document without a path belongs to no file, and gets none.
  const isNew = known.length > 0 && typeof path === "string" && !known.includes(path);
  return {
    ...document,
    filename: filename ?? document.filename,
    ...(isNew && { metadata: { ...document.metadata, path: [...known, path].slice(-MAX_PATHS) } }),
  };
}

/** The paths of the files a document was ingested from: several where files hold the same bytes. */
function pathsIn({ path }: Metadata): string[] {
  return [path].flat().filter((each) => typeof each === "string");
}

/** The change that `asSentAgain` makes to a stored document; none where nothing changes. */
export function sentAgain(
  id: string,
  document: DocumentRow,
  sent: Pick<DocumentRow, "filename" | "metadata">,
): Change[] {
  const row = asSentAgain(document, sent);
  const isSame = row.filename === document.filename && row.metadata === document.metadata;
  return isSame ? [] : [{ table: "documents", id, row }];
}
