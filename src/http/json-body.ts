import { createHash } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { invalidRequest, ServiceError, tooLarge, unsupportedMediaType } from "../core/errors.ts";
import { BODY_LIMITS, type JsonLimits, roundedInteger, scanJson } from "../schemas/json-limits.ts";
import { inTurns } from "./batch.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** SHA-256 (hex) of the body's bytes; empty unless the request carries an Idempotency-Key. */
    bodyHash: string;
  }
  interface FastifyContextConfig {
    /** The body may be missing or empty, and is read as JSON whatever its content type is. */
    readonly optionalBody?: boolean;
    /** How much the body may hold; `item` where left out. */
    readonly bodyKind?: keyof typeof BODY_LIMITS;
  }
}

const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]+)/i;

/** Makes JSON the one kind of body that is read; any other content type is 415. */
export function readJsonBodies(app: FastifyInstance): void {
  app.decorateRequest("bodyHash", "");
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    "application/json",
    { parseAs: "buffer" },
    async (request: FastifyRequest, bytes: Buffer) => parseBody(request, bytes),
  );
  app.addHook("onRequest", async (request) => {
    if (request.routeOptions.config.optionalBody === true)
      request.headers["content-type"] = "application/json";
  });
}

async function parseBody(request: FastifyRequest, bytes: Buffer): Promise<unknown> {
  const charset = CHARSET.exec(request.headers["content-type"] ?? "")?.[1];
  if (charset !== undefined && !/^utf-?8$/i.test(charset))
    throw unsupportedMediaType(`JSON is read as UTF-8, not as ${charset}.`);
  const encoding = request.headers["content-encoding"] ?? "identity";
  if (encoding !== "identity")
    throw unsupportedMediaType(
      `JSON is read as it is, not as ${encoding}; send it without Content-Encoding.`,
    );
  if (request.headers["idempotency-key"] !== undefined)
    request.bodyHash = createHash("sha256").update(bytes).digest("hex");
  if (bytes.length === 0) {
    if (request.routeOptions.config.optionalBody === true) return null;
    throw invalidRequest("The body is empty: send a JSON object.");
  }
  return parseJson(bytes, BODY_LIMITS[request.routeOptions.config.bodyKind ?? "item"]);
}

/**
 * JSON as it stands in the bytes: 60 ms for the longest body. `__proto__` becomes an ordinary key (JSON.parse pollutes
 * nothing).
 * @throws {ServiceError} TOO_LARGE, before anything is built; INVALID_REQUEST for what is not JSON, or not UTF-8:
 * replacing bytes would mangle a memory.
 */
export async function parseJson(bytes: Buffer, limits: JsonLimits, what = "The body"): Promise<unknown> {
  const excess = await inTurns(scanJson(bytes, limits));
  if (excess !== undefined) throw tooLarge(`${what} ${excess}.`);
  try {
    const text = decodeUtf8(bytes, what);
    const rounded = roundedInteger(text);
    if (rounded !== undefined) throw roundedNumber(what, rounded);
    return JSON.parse(text);
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause;
    // The parser's own message quotes the body, which may be private.
    throw invalidRequest(`${what} is not valid JSON.`, { cause });
  }
}

/** The error for a number that JSON.parse would change. */
export const roundedNumber = (what: string, number: string): ServiceError =>
  invalidRequest(`${what} has the number ${number.slice(0, 40)}, which would be rounded. Send it as text.`);

/** @throws {ServiceError} INVALID_REQUEST. */
export function decodeUtf8(bytes: Buffer, what = "The body"): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw invalidRequest(`${what} is not valid UTF-8.`, { cause });
  }
}
