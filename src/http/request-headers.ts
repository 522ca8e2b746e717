/** What headers say beside the body: who writes, which version must be current, whether this is a repeat. */
import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { ServiceError } from "../core/errors.ts";
import type { IdempotentRequest } from "../core/idempotency.ts";

const MAX_CLIENT_NAME = 256;

/**
 * Who writes: `x-memoryd-client`, else the name of the caller's key.
 *
 * @throws {ServiceError} INVALID_REQUEST for a name that is too long or not printable.
 */
export function createdBy(request: FastifyRequest): { createdBy?: string } {
  const header = request.headers["x-memoryd-client"];
  if (typeof header !== "string" || header === "") {
    const name = request.caller?.name ?? undefined;
    return name === undefined ? {} : { createdBy: name };
  }
  // Node hands over header bytes as Latin-1.
  const name = Buffer.from(header, "latin1").toString("utf8");
  if (/[\p{Cc}\uFFFD]/u.test(name) || Array.from(name).length > MAX_CLIENT_NAME) {
    throw headerError("x-memoryd-client", `must be at most ${MAX_CLIENT_NAME} printable characters in UTF-8`);
  }
  return { createdBy: name };
}

/** The version in `If-Match`; nothing where any will do. A weak tag counts as its version. */
export function ifVersion(request: FastifyRequest): { ifVersion?: number } {
  const header = request.headers["if-match"]?.trim();
  if (header === undefined || header === "*") return {};
  const match = /^(?:W\/)?"(\d{1,15})"$|^(\d{1,15})$/.exec(header);
  if (match === null) throw headerError("if-match", 'must be one version as in the ETag, like "3", or *');
  return { ifVersion: Number(match[1] ?? match[2]) };
}

/** What makes a POST repeatable, if it has an Idempotency-Key; that belongs to caller, route and user. */
export function idempotency(
  request: FastifyRequest,
  userId: string | undefined,
): { idempotency?: IdempotentRequest } {
  const key = request.headers["idempotency-key"];
  if (typeof key !== "string") return {};
  const { caller, routeOptions } = request;
  const user = userId ?? caller?.userId ?? null;
  const parts = [caller?.id ?? null, routeOptions.url, user, key];
  return {
    idempotency: {
      key: createHash("sha256").update(JSON.stringify(parts)).digest("hex"),
      bodyHash: request.bodyHash,
    },
  };
}

function headerError(path: string, message: string): ServiceError {
  return new ServiceError("INVALID_REQUEST", `A header is not valid: ${path} ${message}.`, {
    fields: [{ path: `/${path}`, message }],
  });
}
