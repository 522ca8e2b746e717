import type {
  FastifyContextConfig,
  FastifyInstance,
  FastifyPluginAsync,
  FastifyReply,
  FastifyRequest,
} from "fastify";
import type { Static, TSchema } from "typebox";
import { compileValidator } from "./validation.ts";
import { ServiceError } from "../core/errors.ts";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** A route as the description of the API names it. */
interface About extends FastifyContextConfig {
  readonly id: string;
  readonly at: `${Method} /${string}`;
  readonly scope: NonNullable<FastifyContextConfig["scope"]>;
  readonly summary: string;
  readonly description?: string;
}

/** The schemas of what a route takes and answers. */
interface Wire {
  readonly params?: TSchema;
  readonly querystring?: TSchema;
  readonly headers?: TSchema;
  readonly body?: TSchema;
  /** With the status 200. */
  readonly answer?: TSchema;
  /** With the status 202. */
  readonly accepted?: TSchema;
}

type Part<W, Name extends keyof Wire> =
  W extends Readonly<Record<Name, infer S extends TSchema>> ? Static<S> : unknown;
type RequestOf<W> = FastifyRequest<{
  Params: Part<W, "params">;
  Querystring: Part<W, "querystring">;
  Body: Part<W, "body">;
}>;
type Handler<W> = (
  request: RequestOf<W>,
  reply: FastifyReply,
) => Promise<(W extends { readonly answer: infer S extends TSchema } ? Static<S> : unknown) | FastifyReply>;

/** Adds one route. Its body is optional where the schema allows null, and where a DELETE or a POST takes none. */
export type AddRoute = <const W extends Wire>(about: About, wire: W, handler: Handler<W>) => void;

/** A group of routes. */
export function routes<Options extends object>(
  add: (route: AddRoute, options: Options, app: FastifyInstance) => Promise<void> | void,
): FastifyPluginAsync<Options> {
  return async (app, options) => {
    await add(routeAdder(app), options, app);
  };
}

export function routeAdder(app: FastifyInstance): AddRoute {
  return ({ id, at, summary, description, ...config }, { answer, accepted, ...parts }, handler) => {
    const [method = "", url = ""] = at.split(" ");
    const isBodyless = parts.body === undefined ? config.takes === undefined && method !== "GET" : false;
    const optionalBody = isBodyless || isNullable(parts.body);
    app.route({
      method,
      url,
      config: { ...config, ...(optionalBody && { optionalBody }) },
      schema: {
        operationId: id,
        summary,
        ...(description !== undefined && { description }),
        ...parts,
        ...((answer ?? accepted) && {
          response: { ...(answer && { 200: answer }), ...(accepted && { 202: accepted }) },
        }),
      },
      ...(config.bodyKind === "batch" && {
        validatorCompiler: (part) =>
          compileValidator({ ...part, schema: withoutItems(part.schema as TSchema) }),
      }),
      handler: handler as (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
    });
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
    done(new ServiceError("UNSUPPORTED_MEDIA_TYPE", `Send ${sent}, with content-type: ${mediaType}.`)),
  );
}
