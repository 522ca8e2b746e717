import multipart from "@fastify/multipart";
import type { FastifyReply, FastifyRequest } from "fastify";
import { conflict, ServiceError } from "../../core/errors.ts";
import type { HeldFile } from "../../core/documents/document-ports.ts";
import type { IngestInput } from "../../core/documents/submit-document.ts";
import * as wire from "../../schemas/document.ts";
import { ingested, jobOf } from "../records.ts";
import { idempotency, WriteHeaders, writer } from "../request-headers.ts";
import { cleanFilename, readUpload, receive, type UploadedFile } from "../upload.ts";
import { route, routes } from "../route.ts";
import { fromWire, present } from "../../schemas/wire.ts";
import { invalid } from "../problem.ts";
import { Type } from "../../schemas/typebox.ts";

/** How long a call waits for its job where it does not say. */
const USUAL_WAIT_MS = 60_000;
/** Longer, and what is between may hang up. */
const LONGEST_WAIT_MS = 600_000;

/** The `wait` of a `Prefer` header, in milliseconds; other preferences are ignored. */
function waitOf(prefer: string | readonly string[] | undefined): number {
  const text = [prefer ?? []].flat().join(",");
  if (/(^|[,;])\s*respond-async\s*($|[,;])/i.test(text)) return 0;
  const seconds = /(?:^|[,;])\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:$|[,;])/i.exec(text)?.[1];
  return seconds === undefined ? USUAL_WAIT_MS : Math.min(Number(seconds) * 1_000, LONGEST_WAIT_MS);
}

const PREFIX = /^data:[^,]{0,1000},/i;
const HINT = "to send text as it is, use POST /ingest with `text`";

/**
 * The bytes of strict base64, but for line breaks, the URL alphabet, missing padding and a `data:` prefix.
 * @throws {ServiceError} INVALID_REQUEST for anything else: other bytes than were meant would be stored.
 */
function decodeBase64(data: string): Buffer {
  const prefix = PREFIX.exec(data)?.[0];
  if (prefix !== undefined && !/;base64,$/i.test(prefix)) throw invalid("/data", `must be base64; ${HINT}`);
  // Each step is native: the text may have 30 million characters, and others wait.
  const plain = data
    .slice(prefix?.length ?? 0)
    .replaceAll("\r", "")
    .replaceAll("\n", "")
    .replaceAll("-", "+")
    .replaceAll("_", "/")
    .trim();
  const digits = plain.replace(/={1,2}$/, "");
  const isPadded = digits.length < plain.length;
  const bytes = Buffer.from(digits, "base64");
  // Bits of the last digit may count for nothing; what the decoder passed over is missing.
  const isStrict =
    bytes.toString("base64").startsWith(digits.slice(0, -1)) && !/[^A-Za-z0-9+/]$/.test(digits);
  if (!isStrict || digits.length % 4 === 1 || (isPadded && plain.length % 4 !== 0))
    throw invalid("/data", `must be base64; ${HINT}`);
  return bytes;
}

declare module "fastify" {
  interface FastifyRequest {
    /** The file of a multipart request. */
    upload: UploadedFile | undefined;
  }
}

const Headers = Type.Object({ ...WriteHeaders.properties, ...wire.IngestHeaders });
const replies = { answer: wire.IngestReply, accepted: wire.JobRecord };
const DESCRIPTION =
  "Answers the result; after 60 seconds, or at once where `Prefer` says so, the job with its address in `Location`. " +
  "A lost connection does not cancel it.";

export const ingestRoutes = routes((served, app) => {
  const { documentsOf, limits } = served;
  // Answers what became of an ingestion, in time.
  async function answer(request: FastifyRequest, reply: FastifyReply, input: IngestInput) {
    const documents = documentsOf(request);
    const begun = await documents.ingest({
      ...input,
      ...writer(request),
      ...idempotency(request, input.userId),
    });
    const job = await documents.awaitJob(
      { id: begun.id },
      AbortSignal.timeout(waitOf(request.headers.prefer)),
    );
    if (job.problem !== undefined) throw new ServiceError(job.problem.code, job.problem.message);
    if (job.status === "cancelled") throw conflict("The job was cancelled before it was done.");
    if (job.result !== undefined) return ingested(job.result);
    if (job.status === "succeeded")
      throw new ServiceError("GONE", "The document was deleted right after it was made.");
    reply.code(202).header("location", `/jobs/${job.id}`);
    return jobOf(job, request.id);
  }
  const keepBytes = async (request: FastifyRequest, bytes: Uint8Array): Promise<HeldFile> =>
    receive(await documentsOf(request).receiveFile(), [bytes], limits.maxUploadBytes);
  const formRoutes = routes((_served, scope) => {
    scope.register(multipart, { throwFileSizeLimit: false });
    scope.decorateRequest("upload", undefined);
    scope.addHook("preValidation", async (request) => {
      if (!request.isMultipart()) return;
      const { body, upload } = await readUpload(request, () => documentsOf(request).receiveFile(), limits);
      request.body = body;
      request.upload = upload;
    });
    // A request that is refused after its file came keeps nothing of it; releasing twice does nothing.
    scope.addHook("onResponse", async (request) => request.upload?.file.release());

    return {
      ingest: route("write POST /ingest", "Ingest a text, a file or a web page", {
        takesUpload: true,
        bodyKind: "document",
        description: DESCRIPTION,
        headers: Headers,
        body: wire.IngestBody,
        ...replies,
        handle: async (request, reply) => {
          const { text, url, ...fields } = request.body;
          const { upload } = request;
          const given = [text, url, upload].filter((each) => each !== undefined && each !== null);
          if (given.length !== 1)
            throw invalid("", "must have exactly one of `text`, `url` and, as multipart, `file`");
          const common = commonInput(fields);
          if (typeof url === "string") return answer(request, reply, { original: { url }, ...common });
          if (typeof text === "string") {
            const file = await keepBytes(request, Buffer.from(text));
            // The kind follows from the filename; without one it is plain text.
            const claim = common.filename === undefined ? { claimedType: "txt" } : {};
            return answer(request, reply, { original: { file }, ...claim, ...common });
          }
          if (upload === undefined) throw new TypeError("one of the three is there");
          const { file, filename, claimedType } = upload;
          return answer(request, reply, {
            original: { file },
            ...common,
            ...present({ filename, claimedType }),
          });
        },
      }),
    };
  });
  app.register(formRoutes, served);
  return {
    ingestBytes: route("write POST /memory/ingest", "Ingest a document sent as base64", {
      bodyKind: "document",
      description: DESCRIPTION,
      headers: Headers,
      body: wire.IngestBytesBody,
      ...replies,
      handle: async (request, reply) => {
        const { content_type: claimedType, data, ...fields } = request.body;
        const bytes = decodeBase64(data);
        const file = await keepBytes(request, bytes);
        return answer(request, reply, { original: { file }, claimedType, ...commonInput(fields) });
      },
    }),
    ingestUrl: route("write POST /memory/ingest/url", "Fetch and ingest a web page or a document", {
      description: DESCRIPTION,
      headers: Headers,
      body: wire.IngestUrlBody,
      ...replies,
      handle: async (request, reply) => {
        const { url, ...fields } = request.body;
        return answer(request, reply, { original: { url }, ...commonInput(fields) });
      },
    }),
  };
});

function commonInput(
  fields: Pick<wire.IngestFields, "metadata" | "tags" | "user_id" | "project" | "language">,
) {
  const { language: _language, text: _text, url: _url, ...input } = fromWire(wire.IngestBody, fields);
  const named = fields.metadata?.["filename"];
  const filename = typeof named === "string" ? cleanFilename(named, "/metadata/filename") : undefined;
  return { ...input, ...present({ metadata: withLanguage(fields), filename }) };
}

/** A language given by itself is metadata like one given there. */
function withLanguage({ metadata, language }: Pick<wire.IngestFields, "metadata" | "language">) {
  if (language === undefined || language === null) return metadata;
  const inMetadata = metadata?.["language"] ?? language;
  if (inMetadata !== language)
    throw invalid("/language", "must be the same as `metadata.language`, or left out");
  return { ...metadata, language };
}
