import { Readable } from "node:stream";
import type { FastifyPluginAsync } from "fastify";
import {
  DeleteDocumentReply,
  DocumentParams,
  GetDocumentQuery,
  GetDocumentReply,
  JobParams,
  JobRecord,
  ListDocumentsQuery,
  ListDocumentsReply,
  ListJobsReply,
  RestoreOriginalReply,
} from "../../schemas/document.ts";
import { DeletionBody, DeletionQuery, OwnerBody, OwnerQuery } from "../../schemas/memory.ts";
import { fromWire } from "../../schemas/wire.ts";
import type { DocumentsOf } from "../caller-operations.ts";
import { documentRecord, documentWithChunks, jobRecord } from "../document-record.ts";
import { deletion, inScope, ownerOf, uuidOf } from "../memory-input.ts";
import { pageOf, pageReply } from "../page.ts";
import { refuseOtherBodies, routeAdder, routes } from "../route.ts";
import { passOver, receive } from "../upload.ts";

const DEFAULT_CHUNKS = 1_000;
const ORIGINAL_MEDIA_TYPE = "application/octet-stream";

export interface DocumentRoutesOptions {
  readonly documentsOf: DocumentsOf;
  readonly maxUploadBytes: number;
}

export const documentRoutes = routes<DocumentRoutesOptions>(
  async (route, { documentsOf, maxUploadBytes }, app) => {
    route(
      {
        id: "listJobs",
        at: "GET /jobs",
        scope: "read",
        summary: "List jobs, newest first",
        description: "Those that are over are kept for a day.",
      },
      { querystring: ListDocumentsQuery, answer: ListJobsReply },
      async (request) => {
        const page = pageOf(request.query);
        const filter = inScope(fromWire(ListDocumentsQuery, request.query));
        const { items, ...rest } = documentsOf(request).listJobs({ ...filter, ...page });
        return pageReply(
          page,
          items.map((job) => jobRecord(job, request.id)),
          rest,
        );
      },
    );

    route(
      { id: "getJob", at: "GET /jobs/:id", scope: "read", summary: "How far a job is, or what came of it" },
      { params: JobParams, querystring: OwnerQuery, answer: JobRecord },
      async (request) => {
        const id = uuidOf(request.params.id, "job");
        return jobRecord(documentsOf(request).getJob({ id, ...ownerOf(request.query, null) }), request.id);
      },
    );

    route(
      {
        id: "cancelJob",
        at: "DELETE /jobs/:id",
        scope: "write",
        summary: "Cancel a job",
        description: "One that is over stays as it is.",
      },
      { params: JobParams, querystring: OwnerQuery, body: OwnerBody, answer: JobRecord },
      async (request) => {
        const id = uuidOf(request.params.id, "job");
        const job = await documentsOf(request).cancelJob({ id, ...ownerOf(request.query, request.body) });
        return jobRecord(job, request.id);
      },
    );

    route(
      { id: "listDocuments", at: "GET /documents", scope: "read", summary: "List documents, newest first" },
      { querystring: ListDocumentsQuery, answer: ListDocumentsReply },
      async (request) => {
        const page = pageOf(request.query);
        const filter = inScope(fromWire(ListDocumentsQuery, request.query));
        const { items, ...rest } = documentsOf(request).listDocuments({ ...filter, ...page });
        return pageReply(
          page,
          items.map((document) => documentRecord(document)),
          rest,
        );
      },
    );

    route(
      {
        id: "getDocument",
        at: "GET /documents/:id",
        scope: "read",
        summary: "Read a document's account and its chunks",
      },
      { params: DocumentParams, querystring: GetDocumentQuery, answer: GetDocumentReply },
      async (request) => {
        const id = uuidOf(request.params.id, "document");
        const { l: limit = DEFAULT_CHUNKS, u: offset = 0 } = request.query;
        const owner = ownerOf(request.query, null);
        return documentWithChunks(await documentsOf(request).getDocument({ id, limit, offset, ...owner }));
      },
    );

    route(
      {
        id: "deleteDocument",
        at: "DELETE /documents/:id",
        scope: "write",
        summary: "Delete a document with its memories and its original",
      },
      { params: DocumentParams, querystring: DeletionQuery, body: DeletionBody, answer: DeleteDocumentReply },
      async (request) => {
        const id = uuidOf(request.params.id, "document");
        const { deleted } = await documentsOf(request).deleteDocument({ id, ...deletion(request) });
        return { ok: true as const, id, deleted };
      },
    );

    route(
      {
        id: "downloadDocument",
        at: "GET /documents/:id/file",
        scope: "read",
        answers: ORIGINAL_MEDIA_TYPE,
        summary: "The original bytes",
        description: "Always as a download, never as what it says it is.",
      },
      { params: DocumentParams, querystring: OwnerQuery },
      async (request, reply) => {
        const id = uuidOf(request.params.id, "document");
        const owner = ownerOf(request.query, null);
        const { document, size, bytes } = await documentsOf(request).readOriginal({ id, ...owner });
        return reply
          .headers({
            "content-length": size,
            "content-disposition": disposition(document.filename ?? document.id),
            "content-security-policy": "sandbox; default-src 'none'",
          })
          .type(ORIGINAL_MEDIA_TYPE)
          .send(Readable.from(bytes, { objectMode: false }));
      },
    );

    const originals: FastifyPluginAsync = async (scope) => {
      refuseOtherBodies(scope, "the bytes of the original", ORIGINAL_MEDIA_TYPE);
      scope.addContentTypeParser(ORIGINAL_MEDIA_TYPE, (_request, stream, done) => done(null, stream));
      routeAdder(scope)(
        {
          id: "restoreOriginal",
          at: "PUT /documents/:id/file",
          scope: "write",
          takes: ORIGINAL_MEDIA_TYPE,
          summary: "Give an imported document its original back",
          description: "Only the very bytes that it was made of are taken.",
        },
        { params: DocumentParams, querystring: OwnerQuery, answer: RestoreOriginalReply },
        async (request) => {
          const id = uuidOf(request.params.id, "document");
          const documents = documentsOf(request);
          // Too large a body is refused before it has all come.
          const stream = (request.body as Readable).iterator({ destroyOnReturn: false });
          const file = await documents
            .receiveFile()
            .then((incoming) => receive(incoming, stream, maxUploadBytes))
            .catch((error: unknown) => {
              passOver(request);
              throw error;
            });
          await documents.restoreOriginal({ id, file, ...ownerOf(request.query, null) });
          return { ok: true as const, id };
        },
      );
    };
    await app.register(originals);
  },
);

/** Quoted ASCII for old clients, the name itself for all others (RFC 6266). */
function disposition(filename: string): string {
  const ascii = filename.replaceAll(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(filename.replaceAll(/\p{Cs}/gu, "_")).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16)}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
