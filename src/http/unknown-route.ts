import type { FastifyReply, FastifyRequest, RouteOptions } from "fastify";
import { ServiceError } from "../core/errors.ts";

/**
 * True where nothing answers: also for a path that is written out, but for other methods, when the router took its last
 * part for an id (`GET /memory/add`).
 */
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
  // As the router does: a path that is written out goes before one with a parameter.
  const exact = here.filter(({ url }) => url === path);
  const allowed = new Set((exact.length > 0 ? exact : here).flatMap(({ method }) => method));
  if (allowed.size === 0)
    return new ServiceError(
      "NOT_FOUND",
      "There is nothing at this address. /openapi.json lists what there is.",
    );
  const methods = [...allowed].join(", ");
  reply.header("allow", methods);
  return new ServiceError("NOT_FOUND", `This address answers ${methods} only.`);
}

function pathOf({ url }: FastifyRequest): string {
  return url.split("?", 1)[0] ?? "";
}

function matches(pattern: string, path: string): boolean {
  const [expected, actual] = [pattern.split("/"), path.split("/")];
  return (
    expected.length === actual.length &&
    expected.every((part, i) => (part.startsWith(":") ? actual[i] !== "" : part === actual[i]))
  );
}
