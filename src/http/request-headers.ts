/** Request headers for the writer, the expected version and the idempotency key. */
import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { invalidRequest, type ServiceError } from "../core/errors.ts";
import type { IdempotentRequest } from "../core/idempotency.ts";
import type { Given, Written } from "../core/memory.ts";
import { Type } from "../schemas/typebox.ts";

/** Visible ASCII. */
const VISIBLE_PATTERN = "^[!-~]+$";

export const WriteHeaders = Type.Object({
  "x-memoryd-client": Type.Optional(
    Type.String({
      description: "Names the writer for `created_by`: at most 256 printable characters, in UTF-8.",
      examples: ["notes-import"],
    }),
  ),
  "idempotency-key": Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      pattern: VISIBLE_PATTERN,
      description: "Repeating the request within 24 hours answers what the first one made. Visible ASCII.",
      examples: ["5f1c2c6e-import-0042"],
    }),
  ),
});

export const RepeatHeaders = Type.Object({ "idempotency-key": WriteHeaders.properties["idempotency-key"] });

export const IfMatchHeaders = Type.Object({
  "if-match": Type.Optional(
    Type.String({
      description: 'The version that must still be current, as in the `ETag`: `"3"`; `*` for any.',
      examples: ['"3"'],
    }),
  ),
});

const MAX_CLIENT_NAME = 256;

/** The writer: `x-memoryd-client`, else the key's name. @throws {ServiceError} INVALID_REQUEST. */
export function writer(request: FastifyRequest): Given<Written> {
  const name = clientNameIn(request) ?? request.caller?.name ?? undefined;
  return name === undefined ? {} : { createdBy: name };
}

/** The name in `x-memoryd-client`; undefined without it. @throws as `writer`. */
export function clientNameIn({ headers }: FastifyRequest): string | undefined {
  const header = headers["x-memoryd-client"];
  if (typeof header !== "string" || header === "") return undefined;
  // Node hands over header bytes as Latin-1.
  const name = Buffer.from(header, "latin1").toString("utf8");
  if (/[\p{Cc}\uFFFD]/u.test(name) || Array.from(name).length > MAX_CLIENT_NAME)
    throw headerError("x-memoryd-client", `must be at most ${MAX_CLIENT_NAME} printable characters in UTF-8`);
  return name;
}

/** The version in `If-Match`; nothing where any will do. A weak tag counts as its version. */
export function ifVersion(request: FastifyRequest): { ifVersion?: number } {
  const header = request.headers["if-match"]?.trim();
  if (header === undefined || header === "*") return {};
  const match = /^(?:W\/)?"(\d{1,15})"$|^(\d{1,15})$/.exec(header);
  if (match === null) throw headerError("if-match", 'must be one version as in the ETag, like "3", or *');
  return { ifVersion: Number(match[1] ?? match[2]) };
}

/** The idempotency key of a POST, if it has one; it belongs to caller, route and user. */
export function idempotency(request: FastifyRequest, userId?: string): { idempotency?: IdempotentRequest } {
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

const headerError = (path: string, message: string): ServiceError =>
  invalidRequest(`A header is not valid: ${path} ${message}.`, { fields: [{ path: `/${path}`, message }] });
