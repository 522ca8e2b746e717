import { createHash } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { invalidRequest, ServiceError, tooLarge, unsupportedMediaType } from "../core/errors.ts";
import { BODY_LIMITS, type CutList, type JsonLimits, PIECE_BYTES, scanJson } from "../schemas/json-limits.ts";
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
  if (request.headers["idempotency-key"] !== undefined) request.bodyHash = await inTurns(hashInSteps(bytes));
  if (bytes.length === 0) {
    if (request.routeOptions.config.optionalBody === true) return null;
    throw invalidRequest("The body is empty: send a JSON object.");
  }
  return parseJson(bytes, BODY_LIMITS[request.routeOptions.config.bodyKind ?? "item"]);
}

function* hashInSteps(bytes: Buffer): Generator<unknown, string> {
  const hash = createHash("sha256");
  for (let at = 0; at < bytes.length; at += PIECE_BYTES)
    yield hash.update(bytes.subarray(at, at + PIECE_BYTES));
  return hash.digest("hex");
}

/**
 * JSON as it stands in the bytes. `__proto__` becomes an ordinary key (JSON.parse pollutes nothing). Others get their turn
 * between the pieces of a long one.
 * @throws {ServiceError} TOO_LARGE, before anything is built; INVALID_REQUEST for what is not JSON, or not UTF-8:
 * replacing bytes would mangle a memory.
 */
export async function parseJson(bytes: Buffer, limits: JsonLimits, what = "The body"): Promise<unknown> {
  const { excess, isBalanced, lists } = await inTurns(scanJson(bytes, limits));
  if (excess !== undefined) throw tooLarge(`${what} ${excess}.`);
  try {
    if (!isBalanced) throw new SyntaxError("brackets do not match");
    if (bytes.length < PIECE_BYTES) return JSON.parse(decodeUtf8(bytes, what));
    return await inTurns(parseInSteps(bytes, lists, what));
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause;
    // The parser's own message quotes the body, which may be private.
    throw invalidRequest(`${what} is not valid JSON.`, { cause });
  }
}

/** Parses what the lists hold piece by piece, and the object around them with the number of each list in its place. */
function* parseInSteps(bytes: Buffer, lists: readonly CutList[], what: string): Generator {
  const text = (from: number, to: number) => decodeUtf8(bytes.subarray(from, to), what);
  const around = lists.map(({ start }, number) => text(lists[number - 1]?.end ?? 0, start + 1) + number);
  around.push(text(lists.at(-1)?.end ?? 0, bytes.length));
  yield;
  const root: unknown = JSON.parse(around.join(""));
  yield;
  const contents: unknown[][] = [];
  for (const { start, cuts, end } of lists) {
    const items: unknown[] = [];
    for (const [i, to] of [...cuts, end].entries()) {
      yield;
      const piece = JSON.parse(`[${text((cuts[i - 1] ?? start) + 1, to)}]`) as unknown[];
      if (piece.length === 0 && cuts.length > 0) throw new SyntaxError("a comma stands alone");
      for (const item of piece) items.push(item);
    }
    contents.push(items);
  }
  if (lists.length > 0)
    for (const list of Object.values(root as object)) {
      // The last of several with one name is what stays of them.
      if (Array.isArray(list)) for (const item of contents[list.pop() as number] ?? []) list.push(item);
    }
  return root;
}

/** @throws {ServiceError} INVALID_REQUEST. */
export function decodeUtf8(bytes: Buffer, what = "The body"): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw invalidRequest(`${what} is not valid UTF-8.`, { cause });
  }
}
