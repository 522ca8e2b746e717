import type {
  FastifyContextConfig,
  FastifyInstance,
  FastifyPluginAsync,
  FastifyReply,
  FastifyRequest,
} from "fastify";
import type { Static, TSchema, TUnknown } from "typebox";
import type { KeyRing } from "../core/access/key-ring.ts";
import type { AgentCall } from "../core/agent-call.ts";
import type { DocumentOperations } from "../core/documents/document-operations.ts";
import { unsupportedMediaType } from "../core/errors.ts";
import type { Operations } from "../core/operations.ts";
import type { Places } from "../core/ports.ts";
import type { ServiceStatus } from "../core/status.ts";
import type { ToolChoice } from "../schemas/agent-tools.ts";
import type * as backups from "../schemas/backups.ts";
import type { ListModelsReply, LogsQuery, LogsReply, SettingsReply } from "../schemas/system.ts";
import { type ForWire, present, toWire } from "../schemas/wire.ts";
import type { Access, Caller, ConsoleSessions } from "./access.ts";
import type { UploadLimits } from "./upload.ts";
import { compileValidator } from "./validation.ts";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
type Scope = NonNullable<FastifyContextConfig["scope"]>;
type Address = `${Scope} ${Method} /${string}`;

/** The schemas of what a route takes and answers, its handler, and what else Fastify is told of it. */
interface RouteParts<
  Params extends TSchema,
  Query extends TSchema,
  Body extends TSchema,
  Answer extends TSchema,
  Accepted extends TSchema,
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
  readonly accepted?: Accepted;
  /** Answers a record, which is written as the schema of its status has it, or has answered by itself. */
  readonly handle: (
    request: FastifyRequest<{ Params: Static<Params>; Querystring: Static<Query>; Body: Static<Body> }>,
    reply: FastifyReply,
  ) => Promise<ForWire<Static<Answer>> | ForWire<Static<Accepted>> | FastifyReply>;
}

/** Adds a route under its operation id. */
type Route = (app: FastifyInstance, id: string) => unknown;

/** A route: who may call what, one line on it, and the rest. */
export function route<
  const Params extends TSchema = TUnknown,
  const Query extends TSchema = TUnknown,
  const Body extends TSchema = TUnknown,
  const Answer extends TSchema = TUnknown,
  const Accepted extends TSchema = TUnknown,
>(address: Address, summary: string, parts: RouteParts<Params, Query, Body, Answer, Accepted>): Route {
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
      async handler(request, reply) {
        const record: unknown = await handle(request as Parameters<typeof handle>[0], reply);
        const schema: TSchema | undefined = reply.statusCode === 202 ? accepted : answer;
        // Undefined: it was answered, and is over.
        return schema === undefined || record === undefined ? record : toWire(schema, record);
      },
    });
}

/** A group of routes, by their operation ids, in the order of the description of the API. */
export function routes(
  make: (served: Served, app: FastifyInstance) => Readonly<Record<string, Route>>,
): FastifyPluginAsync<Served> {
  return async (app, served) => {
    for (const [id, add] of Object.entries(make(served, app))) add(app, id);
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

/** A record that the schema describes, named as in the core. */
type Shown<S extends TSchema> = ForWire<Static<S>>;
type Answers<S extends TSchema> = Promise<Shown<S>>;

/** Parts that a server is given. */
export interface Parts {
  readonly compaction: {
    start(options?: { readonly renewsBackups: boolean }): boolean;
    purgeWithBackups(): Answers<typeof backups.BackupCopiesRecord>;
    status(): Shown<typeof backups.CompactionRecord>;
  };
  readonly backups: {
    start(options: {
      readonly name?: string;
      readonly folder?: string;
    }): Promise<Omit<Shown<typeof backups.StartBackupReply>, "status">>;
    list(): Answers<typeof backups.ListBackupsReply>;
    copies(): Answers<typeof backups.BackupCopiesRecord>;
    verify(name: string): Answers<typeof backups.BackupRecord>;
    remove(name: string): Promise<void>;
  };
  readonly models: {
    list(): Answers<typeof ListModelsReply>;
    use(name: string): Answers<typeof ListModelsReply>;
  };
  readonly inspect: Shown<typeof SettingsReply> & {
    /** The last lines of the log; reads a bounded part of its end. */
    readLog(which: Required<Pick<Static<typeof LogsQuery>, "l" | "level">>): Answers<typeof LogsReply>;
  };
  readonly places: Places;
  /** Answers agents at `/mcp`. */
  readonly mcp: (call: AgentCall<ToolChoice>) => Promise<Response>;
  /** Folder of the console's build, served at `/`: `index.html` and `assets/`. */
  readonly consoleFolder: string;
  /** The Markdown pages of the documentation. */
  readonly docsFolder: string;
  /** Asked at every request that needs it. */
  readonly status: () => ServiceStatus;
  /** Answers a challenge so that the command line knows who listens here; see `proofOf`. */
  readonly prove: (challenge: string) => string;
  /** Refreshes `addsRefused` of the status. */
  readonly lookAtDiskSpace: () => Promise<void>;
  /** Ends the process as a signal would. */
  readonly requestStop: () => void;
  /** Aborted before the server closes: answers that have no end of their own end. */
  readonly stopping: AbortSignal;
}

export interface Served extends Parts {
  /** The operations as the caller of a request may use them. Routes have no other access to them. */
  readonly operationsOf: (request: FastifyRequest) => Operations;
  readonly documentsOf: (request: FastifyRequest) => DocumentOperations;
  readonly keys: KeyRing;
  readonly access: Access;
  readonly sessions: ConsoleSessions;
  readonly limits: UploadLimits;
  /** The requests so far, for Prometheus. */
  readonly requestMetrics: () => string;
  /** The finished description of all routes. */
  readonly openapi: () => object;
}

/** The caller of a request. @throws {TypeError} for a route that needs no key. */
export function callerOf({ caller, routeOptions }: FastifyRequest): Caller {
  // An open route may be called by anybody: one that reached the operations would answer for everybody.
  if (caller === undefined) throw new TypeError(`${routeOptions.url} needs no key, so it has no operations`);
  return caller;
}
