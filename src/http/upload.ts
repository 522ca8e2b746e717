/** Multipart bodies: the file goes to the disk while it arrives, the fields become the body that JSON would have been. */
import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import type { DocumentOperations } from "../core/documents/document-operations.ts";
import { ServiceError } from "../core/errors.ts";
import type { HeldFile, IncomingFile } from "../core/documents/file-store.ts";
import { invalid } from "./memory-input.ts";

export interface UploadedFile {
  readonly file: HeldFile;
  readonly filename: string | undefined;
  /** What its part calls it. */
  readonly claimedType: string | undefined;
}

export interface UploadLimits {
  readonly maxUploadBytes: number;
  /** Of all fields together; as of a JSON body. */
  readonly maxFieldBytes: number;
}

/** Fields that hold JSON. */
const JSON_FIELDS = new Set(["metadata", "tags"]);
const MAX_FIELDS = 64;
const MAX_FILENAME = 256;

/**
 * Reads the parts of a request.
 *
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
        fileSize: limits.maxUploadBytes,
        files: 2,
        fields: MAX_FIELDS,
        fieldSize: limits.maxFieldBytes,
      },
    });
    for await (const part of parts) {
      if (part.type === "field") {
        if (Object.hasOwn(body, part.fieldname))
          throw invalid(`/${part.fieldname}`, "must not be given more than once");
        if (typeof part.value === "string") fieldBytes += Buffer.byteLength(part.value);
        if (part.valueTruncated || fieldBytes > limits.maxFieldBytes)
          throw tooLarge("All that is not the file", limits.maxFieldBytes, "MEMORYD_MAX_BODY_BYTES");
        body[part.fieldname] = fieldValue(part.fieldname, part.value);
        continue;
      }
      if (part.fieldname !== "file" || upload !== undefined) {
        throw invalid(
          `/${part.fieldname}`,
          "must be one part named `file`: send each document in a request of its own",
        );
      }
      const filename = cleanFilename(part.filename, "/file");
      upload = {
        file: await receive(await receiveFile(), part.file, limits.maxUploadBytes),
        filename,
        claimedType: part.mimetype === "application/octet-stream" ? undefined : part.mimetype,
      };
    }
  } catch (error) {
    passOver(request);
    upload?.file.release();
    if (error instanceof ServiceError) throw error;
    if (isMultipartError(error)) {
      throw new ServiceError(
        "INVALID_REQUEST",
        "The multipart body could not be read to its end. Send it again.",
        {
          cause: error,
        },
      );
    }
    throw error;
  }
  if (request.headers["idempotency-key"] !== undefined) {
    const identity = JSON.stringify([body, upload?.file.sha256, upload?.filename]);
    request.bodyHash = createHash("sha256").update(identity).digest("hex");
  }
  return { body, upload };
}

/**
 * Takes a file in while it arrives.
 *
 * @throws {ServiceError} TOO_LARGE, STORE_FULL; nothing of it is left then.
 */
export async function receive(
  incoming: IncomingFile,
  stream: AsyncIterable<Buffer> & { readonly truncated?: boolean },
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
      throw tooLarge("The file", maxUploadBytes, "MEMORYD_MAX_UPLOAD_BYTES");
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

/**
 * Without folders and control characters; undefined where nothing is left.
 *
 * @param path of the field that holds it.
 * @throws {ServiceError} INVALID_REQUEST above 256 characters.
 */
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

/** An empty field is one that a form left out. */
function fieldValue(name: string, value: unknown): unknown {
  if (value === "") return null;
  if (!JSON_FIELDS.has(name) || typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    throw invalid(`/${name}`, "must be JSON");
  }
}

export function tooLarge(what: string, limit: number, setting: string): ServiceError {
  return new ServiceError("TOO_LARGE", `${what} is larger than ${limit} bytes (${setting}).`);
}

/** The parser's own errors have no class: they come without a system's code, or with one of the plugin's. */
function isMultipartError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined
    ? !(error instanceof TypeError)
    : code.startsWith("FST_") || code === "ERR_STREAM_PREMATURE_CLOSE";
}
