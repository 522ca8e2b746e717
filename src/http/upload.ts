/** Multipart bodies: the file goes to the disk while it arrives, the fields become the body that JSON would have been. */
import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { DocumentOperations } from "../core/documents/document-operations.ts";
import { invalidRequest, ServiceError, tooLarge } from "../core/errors.ts";
import type { HeldFile, IncomingFile } from "../core/documents/document-ports.ts";
import { BODY_LIMITS } from "../schemas/json-limits.ts";
import { parseJson } from "./json-body.ts";
import { invalid } from "./problem.ts";

export interface UploadedFile {
  readonly file: HeldFile;
  readonly filename: string | undefined;
  /** The media type that the part states. */
  readonly claimedType: string | undefined;
}

export interface UploadLimits {
  readonly maxUploadBytes: number;
  /** Limit of all fields together; the same as of a JSON body. */
  readonly maxFieldBytes: number;
}

/** Fields that hold JSON. */
const JSON_FIELDS = new Set(["metadata", "tags"]);
const MAX_FIELDS = 64;
const BYTES = "application/octet-stream";
const MAX_FILENAME = 256;
/** What forms write for the signs that would end a name (multipart/form-data in the HTML standard); they escape nothing else. */
const FORM_ESCAPE = /%(?:22|0D|0A)/g;

/**
 * Reads the parts of a request.
 * @returns the fields as a body, and the file, held, if there was one.
 * @throws {ServiceError} INVALID_REQUEST, TOO_LARGE, STORE_FULL; nothing of the upload is left then.
 */
export async function readUpload(
  request: FastifyRequest,
  receiveFile: DocumentOperations["receiveFile"],
  limits: UploadLimits,
): Promise<{ readonly body: Record<string, unknown>; readonly upload: UploadedFile | undefined }> {
  const body: Record<string, unknown> = {};
  let upload: UploadedFile | undefined;
  let fieldBytes = 0;
  try {
    const parts = request.parts({
      limits: {
        fileSize: Math.max(limits.maxUploadBytes, limits.maxFieldBytes),
        files: MAX_FIELDS,
      },
      // Also fields: the plugin would parse those that call themselves JSON before they are counted.
      isPartAFile: () => true,
    });
    for await (const part of parts) {
      if (part.type === "field") continue;
      if (part.filename === undefined && part.mimetype !== BYTES) {
        if (Object.hasOwn(body, part.fieldname))
          throw invalid(`/${part.fieldname}`, "must not be given more than once");
        const isJson = part.mimetype === "application/json" || JSON_FIELDS.has(part.fieldname);
        const value = await readSome(part.file, limits.maxFieldBytes - fieldBytes);
        fieldBytes += value.length;
        if (fieldBytes > limits.maxFieldBytes)
          throw tooManyBytes("All that is not the file", limits.maxFieldBytes);
        // An empty field is one that a form left out.
        if (value.length === 0) body[part.fieldname] = null;
        else if (isJson)
          body[part.fieldname] = await parseJson(value, BODY_LIMITS.item, `/${part.fieldname}`);
        else body[part.fieldname] = value.toString();
        continue;
      }
      if (part.fieldname !== "file" || upload !== undefined)
        throw invalid(
          `/${part.fieldname}`,
          "must be one part named `file`: send each document in a request of its own",
        );
      const filename = cleanFilename(part.filename?.replaceAll(FORM_ESCAPE, decodeURIComponent), "/file");
      upload = {
        file: await receive(await receiveFile(), part.file, limits.maxUploadBytes),
        filename,
        claimedType: part.mimetype === BYTES ? undefined : part.mimetype,
      };
    }
  } catch (error) {
    passOver(request);
    upload?.file.release();
    if (error instanceof ServiceError) throw error;
    if (isMultipartError(error))
      throw invalidRequest("The multipart body could not be read to its end. Send it again.", {
        cause: error,
      });
    throw error;
  }
  if (request.headers["idempotency-key"] !== undefined) {
    const identity = JSON.stringify([body, upload?.file.sha256, upload?.filename]);
    request.bodyHash = createHash("sha256").update(identity).digest("hex");
  }
  return { body, upload };
}

/** Stores a file as it arrives. @throws {ServiceError} TOO_LARGE, STORE_FULL; nothing of it is left then. */
export async function receive(
  incoming: IncomingFile,
  stream: (AsyncIterable<Uint8Array> | Iterable<Uint8Array>) & { readonly truncated?: boolean },
  maxUploadBytes: number,
): Promise<HeldFile> {
  let bytes = 0;
  try {
    for await (const chunk of stream) {
      bytes += chunk.length;
      if (bytes > maxUploadBytes) break;
      await incoming.write(chunk);
    }
    if (bytes > maxUploadBytes || stream.truncated === true)
      throw tooManyBytes("The file", maxUploadBytes, "MEMORYD_MAX_UPLOAD_BYTES");
    return await incoming.keep();
  } finally {
    await incoming.discard();
  }
}

/** Reads on to the end of a refused body: until then the connection takes no other request. */
export function passOver({ raw }: FastifyRequest): void {
  raw.unpipe();
  raw.resume();
}

/** Without folders and control characters. @throws {ServiceError} INVALID_REQUEST above 256 characters. */
export function cleanFilename(name: string | undefined, path: string): string | undefined {
  const clean = (name ?? "")
    .replace(/^.*[/\\]/s, "")
    .replaceAll(/\p{Cc}/gu, "")
    .trim();
  if (clean === "" || clean === "." || clean === "..") return undefined;
  if (Array.from(clean).length > MAX_FILENAME)
    throw invalid(path, `must have a name of at most ${MAX_FILENAME} characters`);
  return clean;
}

/** The bytes of a part, up to the first that are too many. */
async function readSome(stream: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > maxBytes) break;
  }
  return Buffer.concat(chunks);
}

function tooManyBytes(what: string, limit: number, setting?: string): ServiceError {
  const where = setting === undefined ? "" : ` (${setting})`;
  return tooLarge(`${what} is larger than ${limit} bytes${where}.`);
}

/** The parser's own errors have no class: they come without a system's code, or with one of the plugin's. */
function isMultipartError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined
    ? !(error instanceof TypeError)
    : code.startsWith("FST_") || code === "ERR_STREAM_PREMATURE_CLOSE";
}
