import { inPieces } from "../at-once.ts";
import type { DocumentRow } from "../documents/document.ts";
import type { Fact } from "../facts/fact.ts";
import type { MemoryPorts } from "../memories/memory-ports.ts";
import type { Memory, OwnerFilter, SeenMemory, Signals } from "../memory.ts";
import type { Catalogue, Selection } from "../ports.ts";
import type { EdgeRow, Waypoint } from "../rows.ts";

/** Bounds memory: rows are read in small groups. */
const ROWS_PER_READ = 100;

/**
 * All matching records: memories oldest first, then their documents, then waypoints, then facts in the order of recording,
 * so that a record follows all that it names; `waypoints` says whether those between exported memories come too. A document is exported if its first memory is, whatever the document's
 * project.
 *
 * With concurrent writes, every memory that exists from beginning to end is exported once, in a state it had in between;
 * memories added after the beginning are not, deleted ones may be. Facts are exported as of the beginning, without those
 * erased since.
 */
export async function* exportRecords(
  { store }: Pick<MemoryPorts, "store">,
  { waypoints, ...filter }: OwnerFilter & { readonly waypoints: boolean },
): AsyncGenerator<TransferRecord> {
  const { catalogue } = store;
  const { facts: book } = catalogue;
  // An empty write waits for the writes it sees: nothing is exported that might still be refused.
  const { selection, ordinals, documentIds, factVersions } = await store.commit(() => {
    const selection = catalogue.select(filter);
    const histories = book.timelines(filter).flatMap((timeline) => timeline.facts);
    histories.sort(
      (a, b) => a.latest.recordedAt - b.latest.recordedAt || (a.latest.id < b.latest.id ? -1 : 1),
    );
    return {
      changes: [],
      result: {
        selection,
        ordinals: selection.list(),
        documentIds: documentsOf(catalogue, selection),
        factVersions: histories.map(({ latest }) => ({ id: latest.id, last: latest.version })),
      },
    };
  });

  for (const some of inPieces(ordinals, ROWS_PER_READ)) {
    const ids = some.flatMap((ordinal) => catalogue.at(ordinal)?.id ?? []);
    const memories = await store.readMemories(ids);
    for (const id of ids) {
      const memory = memories.get(id);
      const signals = catalogue.signalsOf(id);
      if (memory !== undefined && signals !== undefined) yield memoryTransfer(memory, signals);
    }
  }

  for (const id of documentIds) {
    const document = catalogue.documents.byId.get(id);
    if (document === undefined) continue;
    const { order: _order, ...transferred } = document;
    yield { kind: "document", document: transferred };
  }

  if (waypoints) {
    for (const ordinal of ordinals) {
      const id = catalogue.at(ordinal)?.id;
      if (id === undefined) continue;
      for (const edge of catalogue.edgesOf(id)) {
        const target = edge.source === id ? catalogue.find(edge.target)?.ordinal : undefined;
        if (target !== undefined && selection.has(target)) yield { kind: "waypoint", edge };
      }
    }
  }

  for (const { id, last } of factVersions) {
    const versions = book.find(id)?.versions.filter(({ version }: Fact) => version <= last) ?? [];
    if (versions.length > 0) yield { kind: "fact", versions };
  }
}

/** Ids of the documents whose first memory is selected, in the order of those. */
function documentsOf(catalogue: Catalogue, selection: Selection): string[] {
  return [...catalogue.documents.byId.values()]
    .flatMap(({ id, rootMemoryId }) => {
      const ordinal = catalogue.find(rootMemoryId)?.ordinal;
      return ordinal !== undefined && selection.has(ordinal) ? [{ id, ordinal }] : [];
    })
    .sort((a, b) => a.ordinal - b.ordinal)
    .map(({ id }) => id);
}

function memoryTransfer(seen: SeenMemory, signals: Signals): TransferRecord {
  const { salience: _salience, lastSeenAt: _lastSeenAt, order: _order, superseded: _by, ...memory } = seen;
  return { kind: "memory", memory, signals };
}

/** A record of an export: all that reads answer, without derived values. */
export type TransferRecord = MemoryTransfer | DocumentTransfer | FactTransfer | WaypointTransfer;

export interface MemoryTransfer {
  readonly kind: "memory";
  /** The order of the records stands for its `order`. */
  readonly memory: Omit<Memory, "order">;
  /** The stored values: salience as of `lastSeenAt`, not faded. */
  readonly signals: Signals;
}

/** A document's row; its original is exported separately. */
export interface DocumentTransfer {
  readonly kind: "document";
  /** Its `order` is that of its first memory. */
  readonly document: Omit<DocumentRow, "order">;
}

export interface FactTransfer {
  readonly kind: "fact";
  /** All versions of one fact, ascending from 1, at least one. */
  readonly versions: readonly Fact[];
}

/** Exports of earlier versions have waypoints of all kinds. */
export type WaypointTransfer = {
  readonly kind: "waypoint";
  readonly edge: Waypoint & Pick<EdgeRow, "createdAt">;
};
