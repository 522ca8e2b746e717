import type { FastifyRequest } from "fastify";
import { ServiceError } from "../core/errors.ts";

/**
 * Refuses a `user_id` in the query of a write or a question that reads it from the body alone. Other unknown parameters
 * are ignored, but a user who is overlooked would be everybody, or nobody.
 *
 * @throws {ServiceError} INVALID_REQUEST.
 */
export function refuseStrayUser({ method, query, routeOptions }: FastifyRequest): void {
  if (method !== "POST" || !Object.hasOwn(query as object, "user_id")) return;
  const { properties = {} } = (routeOptions.schema?.querystring ?? {}) as { properties?: object };
  if (Object.hasOwn(properties, "user_id")) return;
  const message = "is read from the body here; send it there";
  throw new ServiceError("INVALID_REQUEST", `The query is not valid: /user_id ${message}.`, {
    fields: [{ path: "/user_id", message }],
  });
}
