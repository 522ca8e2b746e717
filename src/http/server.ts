import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import Fastify from "fastify";
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
  type RouteOptions,
} from "fastify";
import type { DocumentOperations } from "../core/documents/document-operations.ts";
import { documentOperationsFor, operationsFor } from "../core/isolation.ts";
import type { Operations } from "../core/operations.ts";
import { BODY_LIMITS } from "../schemas/json-limits.ts";
import { type Access, type AccessOptions, createConsoleSessions, resolveAccess } from "./access.ts";
import { createAuthentication } from "./authentication.ts";
import { callerOf, type Parts, type Served } from "./route.ts";
import {
  answerClientError,
  isUnknown,
  refuseSignIn,
  sendProblem,
  serviceErrorOf,
  unknownRoute,
} from "./problem.ts";
import { answerHeaders, guardRequests, requestIdOf } from "./guards.ts";
import { readJsonBodies } from "./json-body.ts";
import { countRequests } from "./metrics.ts";
import { describeRoutes } from "./openapi.ts";
import { backupRoutes, compactionRoutes, inspectRoutes, modelRoutes, systemRoutes } from "./routes/system.ts";
import { consoleRoutes, sessionRoutes } from "./routes/console.ts";
import { documentRoutes } from "./routes/documents.ts";
import { factReadRoutes, factWriteRoutes } from "./routes/facts.ts";
import { feedRoutes, historyRoutes } from "./routes/changes.ts";
import { mcpRoutes } from "./routes/mcp.ts";
import { ingestRoutes } from "./routes/ingest.ts";
import { keyRoutes, userRoutes } from "./routes/users.ts";
import { memoryReadRoutes, memoryWriteRoutes } from "./routes/memories.ts";
import { transferRoutes } from "./routes/transfer.ts";
import { compileValidator } from "./validation.ts";
import type { IncomingMessage } from "node:http";
import { invalidRequest, type ServiceError } from "../core/errors.ts";
import { pointerStep } from "../schemas/text-rules.ts";

/** How much of a refused body is read before its client is hung up on. */
const MAX_READ_AWAY_BYTES = 256 * 1024 ** 2;

/**
 * Answers any thrown value as a problem. Where that is about the body, the rest of it is read away first:
 * a client that is still sending would have its connection broken before it could read why.
 */
async function answerError(
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { code } = serviceErrorOf(thrown);
  if (code === "TOO_LARGE" || code === "UNSUPPORTED_MEDIA_TYPE") await readAway(request.raw);
  return sendProblem(thrown, request, reply);
}

/** Ends with the body, its connection (also when the request's time is up) or the limit. */
function readAway(message: IncomingMessage): Promise<void> {
  if (message.complete || message.readableEnded || message.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    let bytes = 0;
    message.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_READ_AWAY_BYTES) resolve();
    });
    message
      .once("end", resolve)
      .once("close", resolve)
      .once("error", () => resolve());
  });
}

export const DEFAULT_LIMITS = {
  /** Largest JSON body, bytes. */
  maxJsonBytes: 32 * 1024 ** 2,
  /** Largest document. */
  maxUploadBytes: 100 * 1024 ** 2,
  /** From a request's first byte to its last, ms. */
  requestTimeoutMs: 120_000,
  /** From a connection, or the request before, to the end of the headers, ms. */
  headersTimeoutMs: 20_000,
  /** How long an idle connection stays open, ms. */
  keepAliveTimeoutMs: 72_000,
  /** How long an answer that has begun may stand still because its client does not read on, ms. */
  stalledAnswerTimeoutMs: 60_000,
  /** Open at once; for a further one the longest idle one is closed. */
  maxConnections: 1_024,
};

/** How often Node looks for requests that are too slow, at least; timeouts are that much less exact. */
const TIMEOUT_CHECK_INTERVAL_MS = 5_000;
/** A user id of 256 characters, each 4 bytes of UTF-8, percent-encoded. */
const MAX_PARAM_LENGTH = 256 * 4 * 3;

export interface ServerOptions extends Parts {
  /** The operations for a caller, by its id. */
  readonly operations: (callerId: string) => Operations;
  readonly documents: DocumentOperations;
  readonly access: AccessOptions;
  /** Certificate and key in PEM; left out: plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string };
  readonly limits?: Partial<typeof DEFAULT_LIMITS>;
  readonly log?: FastifyBaseLogger;
}

/** Groups of routes, in the order of the description of the API. */
const GROUPS = [
  memoryWriteRoutes,
  memoryReadRoutes,
  historyRoutes,
  factWriteRoutes,
  factReadRoutes,
  feedRoutes,
  transferRoutes,
  ingestRoutes,
  documentRoutes,
  compactionRoutes,
  backupRoutes,
  modelRoutes,
  inspectRoutes,
  userRoutes,
  mcpRoutes,
  keyRoutes,
  consoleRoutes,
  sessionRoutes,
  systemRoutes,
];

/** Builds the server; `listen` opens it. @throws {ServiceError} INVALID_REQUEST for settings that leave it open. */
export function buildServer(options: ServerOptions): FastifyInstance {
  const { operations, documents, access: accessOptions, tls, limits: changed, log, ...parts } = options;
  const { clock = { now: Date.now } } = accessOptions;
  const sessions = createConsoleSessions(clock);
  const resolved = resolveAccess(accessOptions);
  const access: Access = {
    ...resolved,
    callerOf: (key) => sessions.callerOf(key) ?? resolved.callerOf(key),
    isCurrent: (caller) => sessions.isCurrent(caller) ?? resolved.isCurrent(caller),
  };
  const limits = { ...DEFAULT_LIMITS, ...changed };
  const http = {
    headersTimeout: limits.headersTimeoutMs,
    connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_INTERVAL_MS, limits.headersTimeoutMs),
    // Refused by our own guard, as a problem.
    requireHostHeader: false,
  };
  const app = Fastify({
    ...(log === undefined ? { logger: false } : { loggerInstance: log }),
    // Ours is shorter and leaves out the address, which may hold tags and names.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "request_id" }),
    genReqId: requestIdOf,
    bodyLimit: limits.maxJsonBytes,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    ...(tls === undefined
      ? { http }
      : { https: { ...http, cert: tls.cert, key: tls.key, handshakeTimeout: limits.headersTimeoutMs } }),
    // A request that a connection still brings while the daemon stops is served.
    return503OnClosing: false,
    routerOptions: {
      maxParamLength: MAX_PARAM_LENGTH,
      querystringParser: parseQueryString,
    },
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => {
      reply.headers(answerHeaders(request.id));
      sendProblem(error, request, reply);
    },
  }).withTypeProvider<TypeBoxTypeProvider>();
  app.decorate("maxConnections", limits.maxConnections);

  const routes: RouteOptions[] = [];
  app.addHook("onRoute", (route) => {
    if (route.config?.scope === undefined) throw new TypeError(`${route.url} names no scope`);
    // Larger ones are read as streams, by routes that count for themselves.
    route.bodyLimit = Math.min(limits.maxJsonBytes, BODY_LIMITS[route.config.bodyKind ?? "item"].bytes);
    routes.push(route);
  });

  app.setValidatorCompiler(compileValidator);
  // Not by schema: a generated serializer drops and converts what it was not told of, metadata above all.
  app.setSerializerCompiler(() => (data) => JSON.stringify(data));
  app.setErrorHandler(answerError);

  const authenticate = createAuthentication(access, accessOptions);
  guardRequests(app, access, async (request, reply) => {
    refuseSignIn(request);
    await authenticate(request, reply);
  });
  app.addHook("onRequest", async (request, reply) => {
    // Before the body: what nobody will read need not be well-formed.
    if (isUnknown(request, routes)) throw unknownRoute(request, reply, routes);
  });
  readJsonBodies(app);
  app.addHook("preValidation", async (request) => readQuery(request));
  app.addHook("onSend", async (_request, reply) => {
    // Only now: a request may take as long as its texts need to be embedded.
    reply.raw.setTimeout(limits.stalledAnswerTimeoutMs, () => reply.raw.destroy());
  });
  app.addHook("onResponse", async (request, reply) => {
    // The log of a daemon in the background is a file: what happens all the time must not fill the disk.
    request.log[reply.statusCode < 500 ? "debug" : "warn"](
      {
        method: request.method,
        route: request.routeOptions.url,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
      },
      "request answered",
    );
  });

  let description: object | undefined;
  const served: Served = {
    ...parts,
    operationsOf(request) {
      const { id, userId } = callerOf(request);
      return operationsFor(userId, operations(id));
    },
    documentsOf: (request) => documentOperationsFor(callerOf(request).userId, documents),
    keys: accessOptions.keys,
    access,
    sessions,
    limits: { maxUploadBytes: limits.maxUploadBytes, maxFieldBytes: limits.maxJsonBytes },
    requestMetrics: countRequests(app),
    openapi: () => (description ??= describeRoutes(routes, parts.status().version)),
  };
  for (const group of GROUPS) app.register(group, served);
  return app;
}

/** No route knows half as many. */
const MAX_PARAMETERS = 64;

/** Other names of parameters. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ["limit", "l"],
  ["offset", "u"],
]);
/** Balancers and supervisors ask these with parameters of their own. */
const TAKES_ANY: ReadonlySet<string> = new Set(["/livez", "/readyz", "/health"]);

/** Kept as it is for `readQuery`: the router calls this outside of any error handling. */
const parseQueryString = (text: string): Record<string, unknown> => ({ text });

type Properties = Readonly<Record<string, { readonly type?: unknown }>>;
const propertiesOf = (schema: unknown): Properties =>
  (schema as { properties?: Properties } | undefined)?.properties ?? {};

/**
 * Makes the query of a request an object of the parameters that its schema knows, in the types that this asks for; what does
 * not convert stays text, to be refused.
 * @throws {ServiceError} INVALID_REQUEST for a parameter that is given twice, cannot be decoded or is not known: a
 * condition that is passed over answers too much. Routes that only tell whether the daemon is well take any.
 */
function readQuery(request: FastifyRequest): void {
  const { url = "", schema } = request.routeOptions;
  const { text } = request.query as { readonly text: string };
  const known = propertiesOf(schema?.querystring);
  const values: Record<string, unknown> = Object.create(null);
  request.query = values;
  const pairs = text.split("&", MAX_PARAMETERS + 1);
  if (pairs.length > MAX_PARAMETERS)
    throw refusal("", `must not have more than ${MAX_PARAMETERS} parameters`);
  for (const pair of pairs) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const given = decode(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? "" : decode(pair.slice(equals + 1));
    const path = `/${pointerStep(given ?? pair)}`;
    if (given === undefined || value === undefined) throw refusal(path, "must be percent-encoded UTF-8");
    const name = TAKES_ANY.has(url)
      ? given
      : [given, ALIASES.get(given)].find((each) => each !== undefined && Object.hasOwn(known, each));
    if (name === undefined) {
      const names = Object.keys(known);
      throw Object.hasOwn(propertiesOf(schema?.body), given)
        ? refusal(path, "is read from the body here; send it there")
        : refusal(path, "is not known here", names.length === 0 ? "" : ` Known are ${names.join(", ")}.`);
    }
    if (known[name]?.type === "array") {
      values[name] = [...((values[name] as string[] | undefined) ?? []), value];
      continue;
    }
    if (name in values) throw refusal(path, "must not be given more than once");
    values[name] = convert(value, known[name]?.type);
  }
}

function refusal(path: string, message: string, more = ""): ServiceError {
  const what = path === "" ? "it" : path;
  return invalidRequest(`The query is not valid: ${what} ${message}.${more}`, {
    fields: [{ path, message }],
  });
}

function convert(text: string, type: unknown): unknown {
  if (type === "integer" && /^[+-]?\d{1,16}$/.test(text)) return Number(text);
  if (type === "number" && /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text)) return Number(text);
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true";
  return text;
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}
