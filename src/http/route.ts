import type {
  FastifyContextConfig,
  FastifyInstance,
  FastifyPluginAsync,
  FastifyReply,
  FastifyRequest,
} from "fastify";
import type { Static, TSchema, TUnknown } from "typebox";
import { compileValidator } from "./validation.ts";
import { unsupportedMediaType } from "../core/errors.ts";
import { present } from "../schemas/wire.ts";
import type { Served } from "./served.ts";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
type Scope = NonNullable<FastifyContextConfig["scope"]>;
type Address = `${Scope} ${Method} /${string}`;

/** The schemas of what a route takes and answers, its handler, and what else Fastify is told of it. */
interface RouteParts<
  Params extends TSchema,
  Query extends TSchema,
  Body extends TSchema,
  Answer extends TSchema,
> extends Omit<FastifyContextConfig, "scope" | "optionalBody"> {
  readonly description?: string;
  readonly params?: Params;
  readonly querystring?: Query;
  readonly headers?: TSchema;
  /** Optional where the schema allows null, and where a DELETE or a POST takes none. */
  readonly body?: Body;
  /** With the status 200. */
  readonly answer?: Answer;
  /** With the status 202. */
  readonly accepted?: TSchema;
  readonly handle: (
    request: FastifyRequest<{
      Params: Static<Params>;
      Querystring: Static<Query>;
      Body: Static<Body>;
    }>,
    reply: FastifyReply,
  ) => Promise<Static<Answer> | FastifyReply>;
}

/** Adds a route under its operation id. */
type Route = (app: FastifyInstance, id: string) => unknown;

/** A route: who may call what, one line on it, and the rest. */
export function route<
  const Params extends TSchema = TUnknown,
  const Query extends TSchema = TUnknown,
  const Body extends TSchema = TUnknown,
  const Answer extends TSchema = TUnknown,
>(address: Address, summary: string, parts: RouteParts<Params, Query, Body, Answer>): Route {
  const [scope, method = "", url = ""] = address.split(" ");
  const { description, params, querystring, headers, body, answer, accepted, handle, ...config } = parts;
  const isBodyless = body === undefined && config.takes === undefined && method !== "GET";
  const isOptional = isBodyless || isNullable(body);
  const schemaOf = (operationId: string) => ({
    operationId,
    summary,
    ...present({ description, params, querystring, headers, body }),
    ...((answer ?? accepted) && { response: present({ 200: answer, 202: accepted }) }),
  });
  return (app, id) =>
    app.route({
      method,
      url,
      config: { ...config, scope: scope as Scope, ...(isOptional && { optionalBody: true }) },
      schema: schemaOf(id),
      ...(config.bodyKind === "batch" && {
        validatorCompiler: (part) =>
          compileValidator({ ...part, schema: withoutItems(part.schema as TSchema) }),
      }),
      handler: handle as (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
    });
}

/**
 * A group of routes, by their operation ids, in the order of the description of the API.
 * @param needed parts without which the group is left out.
 */
export function routes<Needed extends keyof Served = never>(
  needed: readonly Needed[],
  make: (
    served: Served & { readonly [Part in Needed]: NonNullable<Served[Part]> },
    app: FastifyInstance,
  ) => Readonly<Record<string, Route>>,
): FastifyPluginAsync<Served> {
  return async (app, served) => {
    if (needed.some((part) => served[part] === undefined)) return;
    const group = make(served as Parameters<typeof make>[0], app);
    for (const [id, add] of Object.entries(group)) add(app, id);
  };
}

/** The schema with lists of anything: a route that takes a batch judges the items one by one. */
function withoutItems(schema: TSchema): TSchema {
  const { properties = {} } = schema as { readonly properties?: Readonly<Record<string, object>> };
  const lists = Object.entries(properties).map(([name, list]) => [
    name,
    "items" in list ? { ...list, items: {} } : list,
  ]);
  return { ...schema, properties: Object.fromEntries(lists) };
}

function isNullable(schema: TSchema | undefined): boolean {
  return [schema === undefined ? undefined : Reflect.get(schema, "type")].flat().includes("null");
}

/** Makes a body 415 in this scope, but for types that a parser is added for afterwards. @param sent what the body should be. */
export function refuseOtherBodies(
  scope: Pick<FastifyInstance, "removeAllContentTypeParsers" | "addContentTypeParser">,
  sent: string,
  mediaType: string,
): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("*", (_request, _body, done) =>
    done(unsupportedMediaType(`Send ${sent}, with content-type: ${mediaType}.`)),
  );
}
