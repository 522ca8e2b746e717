/** Every failure on its way out: as `application/problem+json` (RFC 9457). */
import type { FastifyError, FastifyReply, FastifyRequest, RouteOptions } from "fastify";
import { internal, invalidRequest, notFound, ServiceError, storeFull, wrongField } from "../core/errors.ts";
import type { ErrorCode } from "../core/errors.ts";
import type { Problem } from "../schemas/page.ts";
import type { Static } from "typebox";
import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { answerHeaders } from "./guards.ts";

/** A Record over the union: a new ErrorCode does not compile until it has a status. */
export const STATUS_BY_CODE: Readonly<Record<ErrorCode, number>> = {
  INVALID_REQUEST: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  GONE: 410,
  VERSION_MISMATCH: 412,
  TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  UNPROCESSABLE: 422,
  RATE_LIMITED: 429,
  DAMAGED: 500,
  INTERNAL: 500,
  FETCH_FAILED: 502,
  NOT_READY: 503,
  MODEL_UNAVAILABLE: 503,
  STORE_FULL: 503,
  STORE_UNUSABLE: 503,
  FETCH_TIMEOUT: 504,
};

export const PROBLEM_MEDIA_TYPE = "application/problem+json";

export type ProblemDetails = Static<typeof Problem>;

/** An error in one field of a request. @param path JSON pointer. */
export const invalid = (path: string, message: string): ServiceError =>
  wrongField("The request is not valid", path, message);

/** The problem as it goes over the wire; an internal error's message is left out. */
export function problemOf(error: ServiceError, requestId: string): ProblemDetails {
  const name = error.code.toLowerCase();
  const words = name.replaceAll("_", " ");
  return {
    type: `urn:memoryd:problem:${name.replaceAll("_", "-")}`,
    title: words.charAt(0).toUpperCase() + words.slice(1),
    status: STATUS_BY_CODE[error.code],
    detail:
      error.code === "INTERNAL"
        ? "Something went wrong inside memoryd. Its log has more under this request id."
        : error.message,
    code: error.code,
    error: name,
    ...(error.fields.length > 0 && { errors: error.fields.map(({ path, message }) => ({ path, message })) }),
    request_id: requestId,
  };
}

/** Answers any thrown value as a problem, and logs it: a bug with its stack, the rest as its code. */
export function sendProblem(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = serviceErrorOf(thrown, request.routeOptions.bodyLimit);
  const problem = problemOf(error, request.id);
  const { complete, destroyed } = request.raw;
  if (destroyed && !complete) request.log.debug({ code: error.code }, "client went away");
  else if (error.code === "INTERNAL") request.log.error({ err: error.cause ?? error }, "request failed");
  else if (problem.status >= 500) request.log.warn({ err: error }, "request not served");
  else request.log.debug({ code: error.code }, "request refused");

  if (error.code === "UNAUTHORIZED") reply.header("www-authenticate", 'Bearer realm="memoryd"');
  if (error.retryAfterSeconds !== undefined)
    reply.header("retry-after", Math.max(1, Math.ceil(error.retryAfterSeconds)));
  // Sent as bytes, so that a route's own serializer is not used and the type gets no charset.
  return reply
    .code(problem.status)
    .type(PROBLEM_MEDIA_TYPE)
    .send(Buffer.from(JSON.stringify(isSignIn(request) ? asOAuthError(problem) : problem)));
}

/** With the sentence where a client of OAuth reads it. */
const asOAuthError = (problem: ProblemDetails) => ({ ...problem, error_description: problem.detail });

/** Where clients of MCP look for a sign-in, also below or above the path of the server. */
const SIGN_IN =
  /^(?:\/mcp)?\/(?:\.well-known\/(?:oauth-protected-resource|oauth-authorization-server|openid-configuration)(?:\/mcp)?|register|authorize|token)$/;

/** True for an address of OAuth, which memoryd does not have. */
const isSignIn = (request: FastifyRequest): boolean => SIGN_IN.test(pathOf(request));

/** Answers an attempt to sign in at once: before a key is asked for, which would start another. */
export function refuseSignIn(request: FastifyRequest): void {
  if (isSignIn(request))
    throw notFound(
      "memoryd has no sign-in (OAuth). It takes a key in the header: `Authorization: Bearer KEY`. Make one with " +
        "`memoryd keys create`, and give it to the agent as docs/agents.md says.",
    );
}

/** Fastify's own refusals in our terms, by its codes; `{limit}`: of the body, bytes. */
const FASTIFY_REFUSALS: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: [
    "TOO_LARGE",
    "The body is larger than {limit} bytes. Send it in smaller parts.",
  ],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    "UNSUPPORTED_MEDIA_TYPE",
    "Send the body as JSON, with content-type: application/json.",
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    "INVALID_REQUEST",
    "The body is not as long as its content-length says.",
  ],
  FST_ERR_BAD_URL: ["INVALID_REQUEST", "The address is not valid: check its percent-encoding."],
  FST_ERR_MAX_PARAM_LENGTH: ["NOT_FOUND", "There is nothing at this address."],
};

/** Any thrown value in our own terms: Fastify's refusals by their status, everything unknown as INTERNAL. */
export function serviceErrorOf(thrown: unknown, bodyLimit?: number): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  const { code, statusCode } = (
    typeof thrown === "object" && thrown !== null ? thrown : {}
  ) as Partial<FastifyError>;
  const refusal = code === undefined ? undefined : FASTIFY_REFUSALS[code];
  if (refusal !== undefined) {
    const [ours, message] = refusal;
    return new ServiceError(ours, message.replace("{limit}", String(bodyLimit)), { cause: thrown });
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return invalidRequest("The request could not be read.", { cause: thrown });
  // Of a small file beside the store, such as the choice of a model: what the store writes has its own sentence.
  if (code === "ENOSPC" || code === "EDQUOT")
    return storeFull("The disk is full, so nothing was changed. Free some space and try again.", {
      cause: thrown,
    });
  return internal("unexpected error", { cause: thrown });
}

const DETAILS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "The headers are too large.",
  ERR_HTTP_REQUEST_TIMEOUT: "The request did not arrive in time.",
};

/** Answers what never became a request (not HTTP, headers too large, too slow) and hangs up. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  // Over TLS nothing can be written before the handshake, and the end of it would be waited for without end.
  const isUnreachable = /^(?:ECONNRESET|EPROTO|ERR_(?:TLS|SSL)_.*)$/.test(error.code ?? "");
  if (isUnreachable || !socket.writable || isAnswering(socket)) {
    socket.destroy();
    return;
  }
  const requestId = randomUUID();
  const refusal = invalidRequest(DETAILS[error.code ?? ""] ?? "What arrived is not a valid HTTP request.");
  const body = JSON.stringify(problemOf(refusal, requestId));
  const headers = {
    ...answerHeaders(requestId),
    "content-type": PROBLEM_MEDIA_TYPE,
    "content-length": String(Buffer.byteLength(body)),
    connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 400 Bad Request\r\n${lines.join("")}\r\n${body}`, () => socket.destroy());
}

/** True while a whole request is being answered: a refusal now would be taken for its answer. */
function isAnswering(socket: Socket): boolean {
  // Node keeps the answer under this name, and its own handler of client errors looks here too.
  const answer = Reflect.get(socket, "_httpMessage") as ServerResponse | null | undefined;
  return answer ? answer.headersSent || answer.req.complete : false;
}

/** True where nothing answers, also where a path with other methods was taken for an id. */
export function isUnknown(request: FastifyRequest, routes: readonly RouteOptions[]): boolean {
  const path = pathOf(request);
  return request.is404 || (request.routeOptions.url !== path && routes.some(({ url }) => url === path));
}

/** Why nothing answers here; where the path exists, with the methods that do, in `Allow` too. */
export function unknownRoute(
  request: FastifyRequest,
  reply: FastifyReply,
  routes: readonly RouteOptions[],
): ServiceError {
  const path = pathOf(request);
  const here = routes.filter(({ url }) => matches(url, path));
  // Same order as the router: an exact path before one with a parameter.
  const exact = here.filter(({ url }) => url === path);
  const allowed = new Set((exact.length > 0 ? exact : here).flatMap(({ method }) => method));
  if (allowed.size === 0)
    return notFound("There is nothing at this address. /openapi.json lists what there is.");
  const methods = [...allowed].join(", ");
  reply.header("allow", methods);
  return notFound(`This address answers ${methods} only.`);
}

const pathOf = ({ url }: FastifyRequest): string => url.split("?", 1)[0] ?? "";

function matches(pattern: string, path: string): boolean {
  const [expected, actual] = [pattern.split("/"), path.split("/")];
  return (
    expected.length === actual.length &&
    expected.every((part, i) => (part.startsWith(":") ? actual[i] !== "" : part === actual[i]))
  );
}
