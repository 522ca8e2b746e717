import { Readable } from "node:stream";
import * as wire from "../../schemas/document.ts";
import { DeletionBody, DeletionQuery, OwnerBody, OwnerQuery } from "../../schemas/memory.ts";
import { fromWire } from "../../schemas/wire.ts";
import { documentOf, jobOf, seen } from "../records.ts";
import { deletion, inScope, targetOf, uuidOf } from "../request-fields.ts";
import { pageOf, pageReply } from "../page.ts";
import { refuseOtherBodies, route, routes } from "../route.ts";
import { passOver, receive } from "../upload.ts";

const DEFAULT_CHUNKS = 1_000;
const ORIGINAL_MEDIA_TYPE = "application/octet-stream";

export const documentRoutes = routes((served, app) => {
  const { documentsOf, places } = served;
  app.register(originalRoutes, served);
  return {
    listJobs: route("read GET /jobs", "List jobs, newest first", {
      description: "Those that are over are kept for a day.",
      querystring: wire.ListDocumentsQuery,
      answer: wire.ListJobsReply,
      handle: async (request) => {
        const page = pageOf(request.query, places);
        const filter = inScope(fromWire(wire.ListDocumentsQuery, request.query));
        const jobs = documentsOf(request).listJobs({ ...filter, ...page });
        return pageReply(page, jobs, places, (job) => jobOf(job, request.id));
      },
    }),
    getJob: route("read GET /jobs/:id", "How far a job is, or what came of it", {
      params: wire.JobParams,
      querystring: OwnerQuery,
      answer: wire.JobRecord,
      handle: async (request) => jobOf(documentsOf(request).getJob(targetOf(request, "job")), request.id),
    }),
    cancelJob: route("write DELETE /jobs/:id", "Cancel a job", {
      description: "One that is over stays as it is.",
      params: wire.JobParams,
      querystring: OwnerQuery,
      body: OwnerBody,
      answer: wire.JobRecord,
      handle: async (request) =>
        jobOf(await documentsOf(request).cancelJob(targetOf(request, "job")), request.id),
    }),
    listDocuments: route("read GET /documents", "List documents, newest first", {
      querystring: wire.ListDocumentsQuery,
      answer: wire.ListDocumentsReply,
      handle: async (request) => {
        const page = pageOf(request.query, places);
        const filter = inScope(fromWire(wire.ListDocumentsQuery, request.query));
        const documents = documentsOf(request).listDocuments({ ...filter, ...page });
        return pageReply(page, documents, places, documentOf);
      },
    }),
    getDocument: route("read GET /documents/:id", "Read a document's account and its chunks", {
      params: wire.DocumentParams,
      querystring: wire.GetDocumentQuery,
      answer: wire.GetDocumentReply,
      handle: async (request) => {
        const { l: limit = DEFAULT_CHUNKS, u: offset = 0 } = request.query;
        const input = { ...targetOf(request, "document"), limit, offset };
        const found = await documentsOf(request).getDocument(input);
        return {
          ...documentOf(found.document, found.memoryIds),
          hasOriginal: found.hasOriginal,
          chunks: found.chunks.map(seen),
          chunkTotal: found.total,
        };
      },
    }),
    deleteDocument: route("write DELETE /documents/:id", "Delete a document with its memories and original", {
      params: wire.DocumentParams,
      querystring: DeletionQuery,
      body: DeletionBody,
      answer: wire.DeleteDocumentReply,
      handle: async (request) => {
        const id = uuidOf(request.params.id, "document");
        const { deleted } = await documentsOf(request).deleteDocument({ id, ...deletion(request) });
        return { ok: true as const, id, deleted };
      },
    }),
    downloadDocument: route("read GET /documents/:id/file", "The original bytes", {
      answers: ORIGINAL_MEDIA_TYPE,
      description: "Always as a download, never as what it says it is.",
      params: wire.DocumentParams,
      querystring: OwnerQuery,
      handle: async (request, reply) => {
        const target = targetOf(request, "document");
        const { document, size, bytes } = await documentsOf(request).readOriginal(target);
        return reply
          .headers({
            "content-length": size,
            "content-disposition": disposition(document.filename ?? document.id),
            "content-security-policy": "sandbox; default-src 'none'",
          })
          .type(ORIGINAL_MEDIA_TYPE)
          .send(Readable.from(bytes, { objectMode: false }));
      },
    }),
  };
});

const originalRoutes = routes(({ documentsOf, limits: { maxUploadBytes } }, app) => {
  refuseOtherBodies(app, "the bytes of the original", ORIGINAL_MEDIA_TYPE);
  app.addContentTypeParser(ORIGINAL_MEDIA_TYPE, (_request, stream, done) => done(null, stream));
  return {
    restoreOriginal: route("write PUT /documents/:id/file", "Give an imported document its original back", {
      takes: ORIGINAL_MEDIA_TYPE,
      description: "Only the very bytes that it was made of are taken.",
      params: wire.DocumentParams,
      querystring: OwnerQuery,
      answer: wire.RestoreOriginalReply,
      handle: async (request) => {
        const target = targetOf(request, "document");
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
        await documents.restoreOriginal({ ...target, file });
        return { ok: true as const, id: target.id };
      },
    }),
  };
});

/** Quoted ASCII for old clients, the name itself for all others (RFC 6266). */
function disposition(filename: string): string {
  const ascii = filename.replaceAll(/[^\x20-\x7e]|["\\%]/g, "_");
  const encoded = encodeURIComponent(filename.replaceAll(/\p{Cs}/gu, "_")).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16)}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
