import type { OrderedPage, PageRequest } from "./document-index.ts";
import type { DocumentPorts } from "./document-ports.ts";
import type { DocumentFilter, DocumentRow } from "./document.ts";
import type { HeldFile, IncomingFile } from "./file-store.ts";
import {
  type DocumentChunks,
  documentChunks,
  type DocumentChunksInput,
  memoryIdsOf,
} from "./document-chunks.ts";
import type { IngestJobs } from "./ingest-jobs.ts";
import { type JobView, viewJob } from "./job-view.ts";
import { ownedDocument, type OwnedIdInput, ownedJob, visibleDocument, visibleJob } from "./owned-document.ts";
import { type IngestInput, submitDocument } from "./submit-document.ts";
import { documentErasure } from "./erase-document.ts";
import type { MemoryPorts } from "../memories/memory-ports.ts";
import { ServiceError } from "../errors.ts";

interface RestoreOriginalInput extends OwnedIdInput {
  /** Let go of at the end; from then on the document keeps it. */
  readonly file: HeldFile;
}

/**
 * Gives a document that came without its original the original back. Repeating it changes nothing.
 *
 * @throws {ServiceError} NOT_FOUND, FORBIDDEN; UNPROCESSABLE for other bytes than the document was made of.
 */
async function restoreOriginal(
  { store }: Pick<MemoryPorts, "store">,
  { id, userId, file }: RestoreOriginalInput,
): Promise<void> {
  try {
    // No row changes, but nothing may be done to a store that takes no writes; and no deletion comes in between.
    await store.commit(() => {
      const { sha256 } = ownedDocument({ store }, id, userId);
      if (file.sha256 === sha256) return { changes: [], result: undefined };
      throw new ServiceError(
        "UNPROCESSABLE",
        "These are other bytes than the document was made of: their SHA-256 is not the document's.",
      );
    });
  } finally {
    file.release();
  }
}

interface DeletedDocument {
  readonly id: string;
  /** How many memories went with it. */
  readonly deleted: number;
}

/**
 * Deletes a document with all its memories; the stored original goes too when nothing else needs it.
 *
 * @throws {ServiceError} NOT_FOUND, FORBIDDEN, NOT_READY.
 */
function deleteDocument(
  ports: Pick<MemoryPorts, "store" | "facts">,
  { id, userId }: OwnedIdInput,
): Promise<DeletedDocument> {
  return ports.store.commit(() => {
    const { changes, deleted } = documentErasure(ports, ownedDocument(ports, id, userId));
    return { changes, result: { id, deleted } };
  });
}

export interface OriginalFile {
  readonly document: DocumentRow;
  /** How many there are. */
  readonly size: number;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** What the service can do with documents. */
export interface DocumentOperations {
  /**
   * Takes in the bytes of an upload before it is known what becomes of them.
   *
   * @throws {ServiceError} STORE_FULL, NOT_READY, before anything is received.
   */
  receiveFile(): Promise<IncomingFile>;
  /** Begins an ingestion; a lost caller does not end it. */
  ingest(input: IngestInput): Promise<JobView>;
  /** The job when it is over, or, if that takes longer, as it is when the signal aborts. */
  awaitJob(id: string, signal: AbortSignal): Promise<JobView>;
  getJob(input: OwnedIdInput): JobView;
  listJobs(input: DocumentFilter & PageRequest): OrderedPage<JobView>;
  /** The job after it; one that was over stays as it was. */
  cancelJob(input: OwnedIdInput): Promise<JobView>;
  /** With the ids only of memories that are still there. */
  listDocuments(input: DocumentFilter & PageRequest): OrderedPage<DocumentRow>;
  getDocument(input: DocumentChunksInput): Promise<DocumentChunks>;
  deleteDocument(input: OwnedIdInput): Promise<DeletedDocument>;
  readOriginal(input: OwnedIdInput): Promise<OriginalFile>;
  restoreOriginal(input: RestoreOriginalInput): Promise<void>;
}

/** The operations over the given ports; `jobs` runs what they begin. */
export function bindDocumentOperations(ports: DocumentPorts, jobs: IngestJobs): DocumentOperations {
  const { documents } = ports.store.catalogue;
  const view = (input: OwnedIdInput): JobView => viewJob(ports, jobs, visibleJob(ports, input));
  return {
    async receiveFile() {
      await ports.store.assertWritable();
      return ports.files.create();
    },
    async ingest(input) {
      const id = await submitDocument(ports, input);
      if (documents.findJob(id)?.status === "queued") jobs.enqueue(id);
      return view({ id });
    },
    async awaitJob(id, signal) {
      const aborted = new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
      await Promise.race([jobs.ended(id), aborted]);
      return view({ id });
    },
    getJob: view,
    listJobs({ limit, offset, before, ...filter }) {
      const page = { limit, offset, ...(before !== undefined && { before }) };
      const { items, ...rest } = documents.pageOfJobs(filter, page);
      return { items: items.map((job) => viewJob(ports, jobs, job)), ...rest };
    },
    async cancelJob(input) {
      ownedJob(ports, input);
      await jobs.cancel(input.id);
      return view({ id: input.id });
    },
    listDocuments({ limit, offset, before, ...filter }) {
      const page = { limit, offset, ...(before !== undefined && { before }) };
      const { items, ...rest } = documents.pageOfDocuments(filter, page);
      return {
        items: items.map((document) => ({ ...document, memoryIds: memoryIdsOf(ports, document) })),
        ...rest,
      };
    },
    getDocument: (input) => documentChunks(ports, input),
    deleteDocument: (input) => deleteDocument(ports, input),
    async readOriginal({ id, userId }) {
      const document = visibleDocument(ports, id, userId);
      const size = (await ports.files.sizeOf(document.sha256)) ?? 0;
      return { document, size, bytes: await ports.files.read(document.sha256) };
    },
    restoreOriginal: (input) => restoreOriginal(ports, input),
  };
}
