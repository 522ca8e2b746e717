import type { DocumentPorts } from "./document-ports.ts";
import type { DocumentRow } from "./document.ts";
import type { MemoryPorts } from "../memories/memory-ports.ts";
import type { SeenMemory } from "../memory.ts";
import { MAX_PAGE_CHARS } from "../page-end.ts";
import { visibleDocument } from "./owned-document.ts";

export interface DocumentChunksInput {
  readonly id: string;
  readonly userId?: string;
  readonly limit: number;
  readonly offset: number;
}

export interface DocumentChunks {
  readonly document: DocumentRow;
  /** False for one that was restored without its original. */
  readonly hasOriginal: boolean;
  /** Of all its memories that are still there, in order. */
  readonly memoryIds: readonly string[];
  /** In order, the root left out; fewer than `limit` when they reached 8 MiB. */
  readonly chunks: readonly SeenMemory[];
  /** How many there are. */
  readonly total: number;
}

const ROWS_A_READ = 250;

/** A document and a page of what was made of it. @throws {ServiceError} NOT_FOUND. */
export async function documentChunks(
  { store, files }: Pick<DocumentPorts, "store" | "files">,
  { id, userId, limit, offset }: DocumentChunksInput,
): Promise<DocumentChunks> {
  const document = visibleDocument({ store }, id, userId);
  const memoryIds = memoryIdsOf({ store }, document);
  const all = memoryIds.filter(
    (memory) => document.strategy === "single" || memory !== document.rootMemoryId,
  );
  const wanted = all.slice(offset, offset + limit);
  const chunks: SeenMemory[] = [];
  let chars = 0;
  for (let first = 0; first < wanted.length && chars < MAX_PAGE_CHARS; first += ROWS_A_READ) {
    const ids = wanted.slice(first, first + ROWS_A_READ);
    const memories = await store.readMemories(ids);
    for (const memory of ids.flatMap((chunk) => memories.get(chunk) ?? [])) {
      chars += memory.content.length;
      if (chars > MAX_PAGE_CHARS && chunks.length > 0) break;
      chunks.push(memory);
    }
  }
  const hasOriginal = (await files.sizeOf(document.sha256)) !== undefined;
  return { document, hasOriginal, memoryIds, chunks, total: all.length };
}

/** Ids of a document's memories that are still there, in order. */
export function memoryIdsOf({ store }: Pick<MemoryPorts, "store">, document: DocumentRow): string[] {
  // One that was deleted is still named, and by a restored document so may be what is not its own.
  return document.memoryIds.filter((id) => store.catalogue.find(id)?.documentId === document.id);
}
