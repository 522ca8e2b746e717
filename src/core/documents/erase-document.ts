import { memoryIdsOf } from "./document-chunks.ts";
import type { DocumentRow } from "./document.ts";
import { sourceErasure } from "../facts/erase-fact.ts";
import type { MemoryPorts } from "../memories/memory-ports.ts";
import type { Change } from "../rows.ts";
import { removeEdges } from "../memories/waypoints.ts";

type ErasurePorts = Pick<MemoryPorts, "store" | "facts">;

/** The changes that remove a memory and all that hangs on it. Facts that name it as their source stay, and name none. */
export function memoryErasure({ store, facts }: ErasurePorts, id: string): Change[] {
  // Edges first: the catalogue finds their ends by the memories' ids.
  return [
    ...removeEdges(store.catalogue.edgesOf(id)),
    ...sourceErasure(facts.book, id),
    { table: "signals", id, row: null },
    { table: "tokens", id, row: null },
    { table: "vectors", id, row: null },
    { table: "memories", id, row: null },
  ];
}

/** The changes that remove a document, its memories and what its jobs answer; and how many memories those are. */
export function documentErasure(
  ports: ErasurePorts,
  document: DocumentRow,
): { readonly changes: Change[]; readonly deleted: number } {
  const { catalogue } = ports.store;
  const memories = memoryIdsOf(ports, document);
  return {
    changes: [
      ...memories.flatMap((id) => memoryErasure(ports, id)),
      { table: "documents", id: document.id, row: null },
      ...catalogue.documents.jobsOf(document.id).map(({ id }): Change => ({ table: "jobs", id, row: null })),
    ],
    deleted: memories.length,
  };
}
