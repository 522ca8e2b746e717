import { readPage } from "../memories/list-memories.ts";
import { unprocessable } from "../errors.ts";
import { type OneRow, owned, visible } from "../owned.ts";
import type { OrderedPage, PageRequest } from "../page-end.ts";
import type { DocumentPorts, HeldFile, IncomingFile } from "./document-ports.ts";
import type { DocumentRow } from "./document.ts";
import type { OwnerFilter } from "../memory.ts";
import { aborted, type IngestJobs, type JobView } from "./ingest-jobs.ts";
import { trashMemory } from "../history/trash.ts";
import { documentDeletion, memoryIdsOf } from "./store-document.ts";
import { type IngestInput, submitDocument } from "./submit-document.ts";

/** The service's operations on documents. */
export type DocumentOperations = ReturnType<typeof bindDocumentOperations>;

/** The operations over the given ports; `jobs` runs what they begin. */
export function bindDocumentOperations(ports: DocumentPorts, jobs: IngestJobs) {
  const { store, files } = ports;
  const { documents } = store.catalogue;
  const visibleDocument = ({ id, userId }: OneRow) => visible("document", documents.byId.get(id), userId);
  const ownedDocument = ({ id, userId }: OneRow) => owned("document", documents.byId.get(id), userId);
  const getJob = ({ id, userId }: OneRow): JobView =>
    jobs.view(visible("job", documents.jobs.get(id), userId));
  return {
    /** Begins to receive an upload. @throws {ServiceError} STORE_FULL, NOT_READY. */
    async receiveFile(): Promise<IncomingFile> {
      await store.assertWritable();
      return files.create();
    },

    /** Begins an ingestion; a lost caller does not end it. @throws as `submitDocument`. */
    async ingest(input: IngestInput): Promise<JobView> {
      const id = await submitDocument(ports, input);
      if (documents.jobs.get(id)?.status === "queued") jobs.enqueue(id);
      return getJob({ id });
    },

    /** The job when it is over, or, if that takes longer, as it is when the signal aborts. */
    async awaitJob(input: OneRow, signal: AbortSignal): Promise<JobView> {
      getJob(input);
      await Promise.race([jobs.ended(input.id), aborted(signal).catch(() => undefined)]);
      return getJob(input);
    },

    getJob,

    listJobs(input: OwnerFilter & PageRequest): OrderedPage<JobView> {
      const { items, ...rest } = documents.pageOfJobs(input, input);
      return { items: items.map((job) => jobs.view(job)), ...rest };
    },

    /** The job after it; one that was over stays as it was. */
    async cancelJob({ id, userId }: OneRow): Promise<JobView> {
      owned("job", documents.jobs.get(id), userId);
      await jobs.cancel(id);
      return getJob({ id });
    },

    /** Each with the ids only of memories that still exist. */
    listDocuments(input: OwnerFilter & PageRequest): OrderedPage<DocumentRow> {
      const { items, ...rest } = documents.pageOfDocuments(input, input);
      return {
        items: items.map((document) => ({ ...document, memoryIds: memoryIdsOf(ports, document) })),
        ...rest,
      };
    },

    /**
     * A document, the ids of its memories that still exist, and a page of its chunks, in order, the root left out; fewer than `limit`
     * when they reached 8 MiB. `hasOriginal`: false where it was restored without. @throws {ServiceError} NOT_FOUND.
     */
    async getDocument({
      limit,
      offset,
      ...input
    }: OneRow & { readonly limit: number; readonly offset: number }) {
      const document = visibleDocument(input);
      const memoryIds = memoryIdsOf(ports, document);
      const all =
        document.strategy === "single" ? memoryIds : memoryIds.filter((id) => id !== document.rootMemoryId);
      const { items: chunks } = await readPage(store, all.slice(offset, offset + limit));
      const hasOriginal = (await files.sizeOf(document.sha256)) !== undefined;
      return { document, hasOriginal, memoryIds, chunks, total: all.length };
    },

    /** Deletes a document, into the trash where asked and kept; answers how many memories. @throws {ServiceError} NOT_FOUND, FORBIDDEN, NOT_READY. */
    async deleteDocument({
      trash = false,
      deletedBy,
      ...input
    }: OneRow & { readonly trash?: boolean; readonly deletedBy?: string }) {
      if (trash && ports.historyMs > 0) {
        const { rootMemoryId: id } = ownedDocument(input);
        const { deleted } = await trashMemory(ports, { id, ...(deletedBy !== undefined && { deletedBy }) });
        return { id: input.id, deleted };
      }
      return store.commit(() => documentDeletion(ports, ownedDocument(input), input.id));
    },

    /** The original of a document, its size in bytes. @throws {ServiceError} NOT_FOUND, DAMAGED. */
    async readOriginal(input: OneRow) {
      const document = visibleDocument(input);
      const size = (await files.sizeOf(document.sha256)) ?? 0;
      return { document, size, bytes: await files.read(document.sha256) };
    },

    /** Gives a document its original back; `file` is released at the end. @throws {ServiceError} NOT_FOUND, FORBIDDEN, UNPROCESSABLE. */
    async restoreOriginal({ file, ...input }: OneRow & { readonly file: HeldFile }): Promise<void> {
      try {
        // No row changes. The commit refuses where the store takes no writes, and keeps a deletion from coming in between.
        await store.commit(() => {
          if (file.sha256 === ownedDocument(input).sha256) return { changes: [], result: undefined };
          throw unprocessable(
            "These are other bytes than the document was made of: their SHA-256 is not the document's.",
          );
        });
      } finally {
        file.release();
      }
    },
  };
}
