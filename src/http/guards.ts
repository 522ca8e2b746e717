/**
 * Checks before every route: a web page must not be able to reach the daemon, and if a
 * key is needed, no request passes without one.
 *
 * DNS rebinding fails at Host, forms and `no-cors` requests at Origin or Sec-Fetch-Site (and at the content
 * type), WebSocket handshakes at Origin, reading answers at the CORS headers that nobody else gets.
 */
import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type ErrorCode, forbidden, invalidRequest } from "../core/errors.ts";
import type { Scope } from "../core/access/key-ring.ts";
import { type Access, bracketed, type Caller, HTTP_PORT, HTTPS_PORT, splitHost } from "./access.ts";
import type { Authenticate } from "./authentication.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The caller; undefined on routes that need no key. */
    caller: Caller | undefined;
  }
  interface FastifyContextConfig {
    /** The scope that a key needs; `open` needs no key. */
    readonly scope?: Scope | "open";
    /** Besides JSON the route takes a form with a file. */
    readonly takesUpload?: boolean;
    /** Media type of a body that is not JSON. */
    readonly takes?: string;
    /** Errors that do not follow from its input, for the description of the API. */
    readonly errors?: readonly ErrorCode[];
    /** Left out of the description of the API. */
    readonly isUndescribed?: boolean;
    /** Media type of an answer that is not JSON. */
    readonly answers?: string;
    /** Another site may lead a browser here: it holds nobody's data. */
    readonly isPage?: boolean;
  }
}

const PREFLIGHT_MAX_AGE_S = 600;
const CORS_METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE";
const CORS_REQUEST_HEADERS =
  "authorization, content-type, idempotency-key, if-match, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id, " +
  "prefer, x-api-key, x-memoryd-client, x-request-id";
const CORS_ANSWER_HEADERS = "etag, location, mcp-session-id, retry-after, x-request-id";

/** The caller's own request id where it is a harmless one, else a new one. */
export function requestIdOf(request: IncomingMessage): string {
  const id = request.headers["x-request-id"];
  return typeof id === "string" && /^[\w.-]{1,64}$/.test(id) ? id : randomUUID();
}

export const answerHeaders = (requestId: string): Record<string, string> => ({
  "x-request-id": requestId,
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
  server: "memoryd",
  vary: "origin",
});

export function guardRequests(app: FastifyInstance, access: Access, authenticate: Authenticate): void {
  app.decorateRequest("caller", undefined);
  app.addHook("onRequest", async (request, reply) => {
    reply.headers(answerHeaders(request.id));
    checkHost(request, access);
    checkForwarded(request, access);
    checkBrowser(request, reply, access);
    if (request.method === "OPTIONS" && request.headers["access-control-request-method"] !== undefined)
      return answerPreflight(request, reply);
    await authenticate(request, reply);
  });
}

function checkHost(request: FastifyRequest, access: Access): void {
  const { host } = request.headers;
  if (host === undefined || host === "") throw invalidRequest("A Host header is needed.");
  // Node keeps the first of two Host headers; a proxy before it may have looked at the second.
  if ((request.raw.headersDistinct?.host?.length ?? 1) > 1)
    throw invalidRequest("There must be one Host header only.");
  if (!isOwnHost(host, request, access) && !isAllowedHost(host, access))
    throw forbidden(
      "The Host header names another service. Add the name to MEMORYD_ALLOWED_HOSTS if it is yours.",
    );
}

function isOwnHost(host: string, request: FastifyRequest, access: Access): boolean {
  const split = splitHost(host, isSecure(request) ? HTTPS_PORT : HTTP_PORT);
  if (split === undefined) return false;
  // The port is unknown only where there is no socket, as in tests that inject.
  const { localPort = split.port, localAddress } = request.raw.socket;
  if (split.port !== localPort) return false;
  // A page can rebind a name, but not the address that a connection came in on.
  return (
    access.boundNames.has(split.name) ||
    split.name === bracketed((localAddress ?? "").replace(/^::ffff:/, ""))
  );
}

/** Without a port the name means the usual one, of the daemon's scheme or of the proxy's before it. */
function isAllowedHost(host: string, { allowedHosts }: Access): boolean {
  const split = splitHost(host);
  if (split === undefined) return false;
  const ports = /:\d+$/.test(host) ? [split.port] : [HTTP_PORT, HTTPS_PORT];
  return allowedHosts.has(split.name) || ports.some((port) => allowedHosts.has(`${split.name}:${port}`));
}

/** True if this connection is encrypted, not only the one to a proxy in front. */
const isSecure = ({ raw: { socket } }: FastifyRequest): boolean =>
  "encrypted" in socket && socket.encrypted === true;

function checkForwarded(request: FastifyRequest, access: Access): void {
  if (access.isKeyNeeded()) return;
  const forwarded = Object.keys(request.headers).find(
    (name) => name === "forwarded" || name.startsWith("x-forwarded-"),
  );
  if (forwarded !== undefined)
    throw forbidden(
      `The request came through a proxy (${forwarded}), which would open memoryd to others. Make a key with \`memoryd keys create\`, or set MEMORYD_API_KEY, first.`,
    );
}

/** Refuses what another site's page sends, and lets an allowed one read the answer. */
function checkBrowser(request: FastifyRequest, reply: FastifyReply, access: Access): void {
  const { origin } = request.headers;
  if (origin !== undefined) {
    if (access.allowedOrigins.has(origin)) {
      reply.headers({
        "access-control-allow-origin": origin,
        "access-control-expose-headers": CORS_ANSWER_HEADERS,
      });
    } else if (!isOwnOrigin(origin, request, access)) {
      throw forbidden(
        "Web pages of other origins may not call. Add the origin to MEMORYD_ALLOWED_ORIGINS if it is yours.",
      );
    }
    return;
  }
  const site = request.headers["sec-fetch-site"];
  const isPage = request.routeOptions.config.isPage === true;
  if ((site === "cross-site" || site === "same-site") && !isPage)
    throw forbidden("Web pages of other sites may not call.");
}

function isOwnOrigin(origin: string, request: FastifyRequest, access: Access): boolean {
  const match = /^(https?):\/\/([^/]+)$/.exec(origin.toLowerCase());
  if (match?.[2] === undefined) return false;
  const host = match[2];
  const isAddressed = isAllowedHost(host, access) && host === request.headers.host?.toLowerCase();
  const isHttps = match[1] === "https";
  if (isHttps === isSecure(request)) return isAddressed || isOwnHost(host, request, access);
  // Encrypted up to a proxy in front, so only a name that was allowed can be meant.
  return isHttps && isAddressed;
}

function answerPreflight(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.headers({
    "access-control-allow-methods": CORS_METHODS,
    "access-control-allow-headers": CORS_REQUEST_HEADERS,
    "access-control-max-age": PREFLIGHT_MAX_AGE_S,
  });
  if (request.headers["access-control-request-private-network"] === "true")
    reply.header("access-control-allow-private-network", "true");
  return reply.code(204).send();
}
