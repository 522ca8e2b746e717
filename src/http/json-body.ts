import { createHash } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { ServiceError } from "../core/errors.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** SHA-256 (hex) of the body's bytes; empty unless the request carries an Idempotency-Key. */
    bodyHash: string;
  }
  interface FastifyContextConfig {
    /** The body may be missing or empty, and is read as JSON whatever its content type says. */
    readonly optionalBody?: boolean;
  }
}

const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]+)/i;

/** Makes JSON the one kind of body that is read; any other content type is 415. */
export function readJsonBodies(app: FastifyInstance): void {
  app.decorateRequest("bodyHash", "");
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, bytes, done) => {
    try {
      done(null, parseBody(request, bytes as Buffer));
    } catch (error) {
      done(error as Error, undefined);
    }
  });
  app.addHook("onRequest", async (request) => {
    if (request.routeOptions.config.optionalBody === true)
      request.headers["content-type"] = "application/json";
  });
}

function parseBody(request: FastifyRequest, bytes: Buffer): unknown {
  const charset = CHARSET.exec(request.headers["content-type"] ?? "")?.[1];
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
    throw new ServiceError("UNSUPPORTED_MEDIA_TYPE", `JSON is read as UTF-8, not as ${charset}.`);
  }
  if (request.headers["idempotency-key"] !== undefined) {
    request.bodyHash = createHash("sha256").update(bytes).digest("hex");
  }
  if (bytes.length === 0) {
    if (request.routeOptions.config.optionalBody === true) return null;
    throw new ServiceError("INVALID_REQUEST", "The body is empty: send a JSON object.");
  }
  return parseJson(bytes);
}

/**
 * JSON as it stands in the bytes. `__proto__` becomes an ordinary key (JSON.parse pollutes nothing).
 *
 * @throws {ServiceError} INVALID_REQUEST for what is not JSON, or not UTF-8: replacing bytes would mangle a
 *   memory.
 */
function parseJson(bytes: Buffer): unknown {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new ServiceError("INVALID_REQUEST", "The body is not valid UTF-8.", { cause });
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    // The parser's own message quotes the body, which may be somebody's memory.
    throw new ServiceError("INVALID_REQUEST", "The body is not valid JSON.", { cause });
  }
}
