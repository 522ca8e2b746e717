import { Readable } from "node:stream";
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import type { Static } from "typebox";
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
import { OwnerBody, OwnerQuery } from "../../schemas/memory.ts";
import { DEFAULT_PAGE_LIMIT } from "../../schemas/page.ts";
import type { DocumentsOf } from "../caller-operations.ts";
import { readCursor, writeCursor } from "../cursor.ts";
import { documentRecord, documentWithChunks, jobRecord } from "../document-record.ts";
import { uuidOf } from "../memory-id.ts";
import { invalid, ownerOf, present } from "../memory-input.ts";
import { refuseOtherBodies } from "../refuse-other-bodies.ts";
import { passOver, receive } from "../upload.ts";

const DEFAULT_CHUNKS = 1_000;

export interface DocumentRoutesOptions {
  readonly documentsOf: DocumentsOf;
  readonly maxUploadBytes: number;
}

const ORIGINAL_MEDIA_TYPE = "application/octet-stream";

export const documentRoutes: FastifyPluginAsyncTypebox<DocumentRoutesOptions> = async (
  app,
  { documentsOf, maxUploadBytes },
) => {
  app.get(
    "/jobs",
    {
      config: { scope: "read" },
      schema: {
        operationId: "listJobs",
        summary: "List jobs, newest first",
        description: "Those that are over are kept for a day.",
        querystring: ListDocumentsQuery,
        response: { 200: ListJobsReply },
      },
    },
    async (request) => {
      const { skipped, ...input } = pageInput(request.query);
      const { items, total, nextBefore } = documentsOf(request).listJobs(input);
      return {
        items: items.map((job) => jobRecord(job, request.id)),
        ...pageOutput(input.limit, skipped, items.length, total, nextBefore),
      };
    },
  );

  app.get(
    "/jobs/:id",
    {
      config: { scope: "read" },
      schema: {
        operationId: "getJob",
        summary: "How far a job is, or what came of it",
        params: JobParams,
        querystring: OwnerQuery,
        response: { 200: JobRecord },
      },
    },
    async (request) => {
      const id = uuidOf(request.params.id, "job");
      return jobRecord(documentsOf(request).getJob({ id, ...ownerOf(request.query, null) }), request.id);
    },
  );

  app.delete(
    "/jobs/:id",
    {
      config: { scope: "write", optionalBody: true },
      schema: {
        operationId: "cancelJob",
        summary: "Cancel a job",
        description: "One that is over stays as it is.",
        params: JobParams,
        querystring: OwnerQuery,
        body: OwnerBody,
        response: { 200: JobRecord },
      },
    },
    async (request) => {
      const id = uuidOf(request.params.id, "job");
      const job = await documentsOf(request).cancelJob({ id, ...ownerOf(request.query, request.body) });
      return jobRecord(job, request.id);
    },
  );

  app.get(
    "/documents",
    {
      config: { scope: "read" },
      schema: {
        operationId: "listDocuments",
        summary: "List documents, newest first",
        querystring: ListDocumentsQuery,
        response: { 200: ListDocumentsReply },
      },
    },
    async (request) => {
      const { skipped, ...input } = pageInput(request.query);
      const { items, total, nextBefore } = documentsOf(request).listDocuments(input);
      return {
        items: items.map((document) => documentRecord(document)),
        ...pageOutput(input.limit, skipped, items.length, total, nextBefore),
      };
    },
  );

  app.get(
    "/documents/:id",
    {
      config: { scope: "read" },
      schema: {
        operationId: "getDocument",
        summary: "Read a document's account and its chunks",
        params: DocumentParams,
        querystring: GetDocumentQuery,
        response: { 200: GetDocumentReply },
      },
    },
    async (request) => {
      const id = uuidOf(request.params.id, "document");
      const { l: limit = DEFAULT_CHUNKS, u: offset = 0 } = request.query;
      return documentWithChunks(
        await documentsOf(request).getDocument({ id, limit, offset, ...ownerOf(request.query, null) }),
      );
    },
  );

  app.delete(
    "/documents/:id",
    {
      config: { scope: "write", optionalBody: true },
      schema: {
        operationId: "deleteDocument",
        summary: "Delete a document with its memories and its original",
        params: DocumentParams,
        querystring: OwnerQuery,
        body: OwnerBody,
        response: { 200: DeleteDocumentReply },
      },
    },
    async (request) => {
      const id = uuidOf(request.params.id, "document");
      const { deleted } = await documentsOf(request).deleteDocument({
        id,
        ...ownerOf(request.query, request.body),
      });
      return { ok: true as const, id, deleted };
    },
  );

  app.get(
    "/documents/:id/file",
    {
      config: { scope: "read", answers: ORIGINAL_MEDIA_TYPE },
      schema: {
        operationId: "downloadDocument",
        summary: "The original bytes",
        description: "Always as a download, never as what it says it is.",
        params: DocumentParams,
        querystring: OwnerQuery,
      },
    },
    async (request, reply) => {
      const id = uuidOf(request.params.id, "document");
      const { document, size, bytes } = await documentsOf(request).readOriginal({
        id,
        ...ownerOf(request.query, null),
      });
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

  const takesOriginals: FastifyPluginAsyncTypebox = async (scope) => {
    refuseOtherBodies(scope, "the bytes of the original", ORIGINAL_MEDIA_TYPE);
    scope.addContentTypeParser(ORIGINAL_MEDIA_TYPE, (_request, stream, done) => done(null, stream));
    scope.put(
      "/documents/:id/file",
      {
        config: { scope: "write", takes: ORIGINAL_MEDIA_TYPE },
        schema: {
          operationId: "restoreOriginal",
          summary: "Give an imported document its original back",
          description: "Only the very bytes that it was made of are taken.",
          params: DocumentParams,
          querystring: OwnerQuery,
          response: { 200: RestoreOriginalReply },
        },
      },
      async (request) => {
        const id = uuidOf(request.params.id, "document");
        const documents = documentsOf(request);
        // What is too large is answered while it still comes.
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
  await app.register(takesOriginals);
};

function pageInput(query: Static<typeof ListDocumentsQuery>) {
  const { u: offset = 0, cursor, project } = query;
  const page = cursor === undefined ? undefined : readCursor(cursor);
  if (page !== undefined && offset > 0) throw invalid("/u", "must be left out where `cursor` is given");
  return {
    limit: query.l ?? DEFAULT_PAGE_LIMIT,
    offset,
    skipped: page?.skipped ?? offset,
    ...present({
      before: page?.before,
      userId: query.user_id,
      projects: project === undefined ? undefined : [project === "" ? null : project],
    }),
  };
}

function pageOutput(
  limit: number,
  offset: number,
  count: number,
  total: number,
  nextBefore: number | undefined,
) {
  const next = nextBefore === undefined ? null : writeCursor({ before: nextBefore, skipped: offset + count });
  return { total, limit, offset, next_cursor: next };
}

/** Quoted ASCII for old clients, the name itself for all others (RFC 6266). */
function disposition(filename: string): string {
  const ascii = filename.replaceAll(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(filename.replaceAll(/\p{Cs}/gu, "_")).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16)}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
