/** Every failure on its way out: as `application/problem+json` (RFC 9457). */
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { ServiceError, type ErrorCode } from "../core/errors.ts";

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

export interface ProblemDetails {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: ErrorCode;
  error: string;
  errors?: { path: string; message: string }[];
  request_id: string;
}

/** What is wrong with one field of a request. @param path JSON pointer. */
export function invalid(path: string, message: string): ServiceError {
  return new ServiceError("INVALID_REQUEST", `The request is not valid: ${path} ${message}.`, {
    fields: [{ path, message }],
  });
}

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
  if (error.code === "INTERNAL") request.log.error({ err: error.cause ?? error }, "request failed");
  else if (problem.status >= 500) request.log.warn({ err: error }, "request not served");
  else request.log.debug({ code: error.code }, "request refused");

  if (error.code === "UNAUTHORIZED") reply.header("www-authenticate", "Bearer");
  if (error.retryAfterSeconds !== undefined)
    reply.header("retry-after", Math.max(1, Math.ceil(error.retryAfterSeconds)));
  // As bytes: a route's own serializer has no say in how an error looks, and its type gets no charset.
  return reply
    .code(problem.status)
    .type(PROBLEM_MEDIA_TYPE)
    .send(Buffer.from(JSON.stringify(problem)));
}

/** Any thrown value in our own terms: Fastify's refusals by their status, everything unknown as INTERNAL. */
export function serviceErrorOf(thrown: unknown, bodyLimit?: number): ServiceError {
  if (thrown instanceof ServiceError) return thrown;
  const { code, statusCode } = (
    typeof thrown === "object" && thrown !== null ? thrown : {}
  ) as Partial<FastifyError>;
  switch (code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return new ServiceError(
        "TOO_LARGE",
        `The body is larger than ${bodyLimit} bytes. Send it in smaller parts.`,
        { cause: thrown },
      );
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return new ServiceError(
        "UNSUPPORTED_MEDIA_TYPE",
        "Send the body as JSON, with content-type: application/json.",
        {
          cause: thrown,
        },
      );
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return new ServiceError("INVALID_REQUEST", "The body is not as long as its content-length says.", {
        cause: thrown,
      });
    case "FST_ERR_BAD_URL":
      return new ServiceError("INVALID_REQUEST", "The address is not valid: check its percent-encoding.", {
        cause: thrown,
      });
    case "FST_ERR_MAX_PARAM_LENGTH":
      return new ServiceError("NOT_FOUND", "There is nothing at this address.", { cause: thrown });
    default:
      break;
  }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new ServiceError("INVALID_REQUEST", "The request could not be read.", { cause: thrown });
  }
  return new ServiceError("INTERNAL", "unexpected error", { cause: thrown });
}
