import { CHUNKING_VERSION } from "./chunking.ts";
import { embeddingChanges, newMemoryRow, type ComposedMemory } from "../memories/compose-memory.ts";
import { asSentAgain } from "./document-name.ts";
import type { DocumentRow, IngestRequest, JobRow } from "./document.ts";
import type { MemoryPorts } from "../memories/memory-ports.ts";
import type { DocumentPlan } from "./plan-document.ts";
import type { WriteSection } from "../ports.ts";
import { type Change, edgeId } from "../rows.ts";
import { ownerOf, writerOf } from "../memory.ts";

/** Memories composed for places of a plan; places that are still stored have none. */
export type ComposedPlaces = ReadonlyMap<number, ComposedMemory>;

/** How strongly neighbours in a document are tied: as those in a session. */
const SAME_DOCUMENT_WEIGHT = 1;
const CHARACTERS_A_TOKEN = 4;

/**
 * The changes that store a document whole: its memories with vectors and waypoints, and its row. Where it is stored
 * already, the memories that were made again take the places of those that were deleted.
 */
export function documentChanges(
  embedder: Pick<MemoryPorts["embedder"], "stamp">,
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
): Change[] {
  const { id, existing, job, request, file, plan, composed } = parts;
  const changes: Change[] = [];
  let order = section.nextOrder;
  for (const memory of composed.values()) {
    const row = newMemoryRow(memory, section, order);
    changes.push({ table: "memories", id: row.id, row });
    changes.push(...embeddingChanges(row.id, row.userId, memory.embedding, embedder.stamp));
    order += 1;
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
        totalTokens: Math.ceil(chars / CHARACTERS_A_TOKEN),
        chunkingVersion: CHUNKING_VERSION,
        ...writerOf(request),
        createdAt: section.now,
        fetchedAt: request.fetchedAt,
        order: section.nextOrder,
      };
  changes.push({ table: "documents", id, row });
  return changes;
}

/** Waypoints along the document, from the root to the first chunk and on; only those that reach a new memory. */
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
