/** The OpenAPI 3.1 description, made from the very schemas that validate. */
import type { RouteOptions } from "fastify";
import type { ErrorCode } from "../core/errors.ts";
import { TOO_LARGE_KEYWORDS } from "../schemas/fields.ts";
import { Problem } from "../schemas/page.ts";
import { present } from "../schemas/wire.ts";
import { PROBLEM_MEDIA_TYPE, STATUS_BY_CODE } from "./problem.ts";

type JsonObject = { [key: string]: unknown };
type SchemaNode = JsonObject & { $id?: string; properties?: Record<string, SchemaNode>; required?: string[] };

interface RouteSchema {
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly params?: SchemaNode;
  readonly querystring?: SchemaNode;
  readonly headers?: SchemaNode;
  readonly body?: SchemaNode;
  readonly response?: Readonly<Record<string, SchemaNode>>;
}

/** Errors of every route; the others follow from a route's input. */
const COMMON_ERRORS: readonly ErrorCode[] = ["INVALID_REQUEST", "FORBIDDEN", "INTERNAL"];
const OPERATION_ERRORS: readonly ErrorCode[] = ["UNAUTHORIZED", "RATE_LIMITED", "NOT_READY"];
const BODY_ERRORS: readonly ErrorCode[] = ["TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"];
const INGEST_ERRORS: readonly ErrorCode[] = ["UNPROCESSABLE", "FETCH_FAILED", "FETCH_TIMEOUT", "STORE_FULL"];
const REPEAT_ERRORS: readonly ErrorCode[] = ["CONFLICT", "GONE", "UNPROCESSABLE"];

/** Describes routes in the order of registering. Schemas with an `$id` become components of that name. */
export function describeRoutes(routes: readonly RouteOptions[], version: string): JsonObject {
  const components: Record<string, unknown> = {};
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) {
    if (route.config?.isUndescribed === true) continue;
    const path = route.url.replace(/:(\w+)/g, "{$1}");
    for (const method of [route.method].flat()) {
      if (method === "HEAD") continue;
      (paths[path] ??= {})[method.toLowerCase()] = describeOperation(route, components);
    }
  }
  publish(Problem, components);
  return {
    openapi: "3.1.0",
    info: {
      title: "memoryd",
      version,
      description:
        "A local-first memory service. Unknown fields are ignored unless a schema says otherwise; null means left out.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    paths,
    components: {
      schemas: components,
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        apiKey: { type: "apiKey", in: "header", name: "x-api-key" },
      },
    },
  };
}

function describeOperation(route: RouteOptions, components: Record<string, unknown>): JsonObject {
  const schema = (route.schema ?? {}) as RouteSchema;
  const { scope = "read", optionalBody = false, takesUpload = false, answers } = route.config ?? {};
  const { takes, errors = [] } = route.config ?? {};
  const { operationId, summary, description } = schema;
  const responses: JsonObject = {};
  for (const [status, reply] of Object.entries(schema.response ?? {})) {
    responses[status] = {
      description: "Done",
      content: { "application/json": { schema: publish(reply, components) } },
    };
  }
  if (answers !== undefined)
    responses["200"] = {
      description: "Done",
      content: {
        [answers]: answers === "text/event-stream" ? {} : { schema: { type: "string", format: "binary" } },
      },
    };
  const codesByStatus = groupByStatus([
    ...errorsOf(route.url, schema, { open: scope === "open", takes }),
    ...errors,
  ]);
  for (const [status, codes] of codesByStatus) {
    responses[status] = {
      description: codes.map((code) => `\`${code}\``).join(", "),
      content: { [PROBLEM_MEDIA_TYPE]: { schema: { $ref: "#/components/schemas/Problem" } } },
    };
  }
  return {
    ...present({ operationId, summary, description }),
    tags: [tagOf(route.url)],
    "x-scope": scope,
    security: scope === "open" ? [] : [{ bearer: [scope] }, { apiKey: [scope] }, {}],
    parameters: [
      ...parameters("path", schema.params, components),
      ...parameters("query", schema.querystring, components),
      ...parameters("header", schema.headers, components),
    ],
    ...(schema.body && {
      requestBody: {
        required: !optionalBody,
        content: {
          "application/json": { schema: publish(schema.body, components) },
          ...(takesUpload && { "multipart/form-data": { schema: uploadOf(schema.body, components) } }),
        },
      },
    }),
    ...(takes !== undefined && {
      requestBody: { required: true, content: { [takes]: { schema: { type: "string", format: "binary" } } } },
    }),
    responses,
  };
}

/** The fields of the body as a form has them, and the file. */
function uploadOf(body: SchemaNode, components: Record<string, unknown>): JsonObject {
  const fields = Object.entries(body.properties ?? {}).map(([name, property]) => {
    const { type } = property as { type?: unknown };
    const isText = [type].flat().includes("string");
    return [
      name,
      isText ? publish(property, components) : { type: "string", contentMediaType: "application/json" },
    ];
  });
  return {
    type: "object",
    properties: { file: { type: "string", format: "binary" }, ...Object.fromEntries(fields) },
  };
}

function errorsOf(
  url: string,
  schema: RouteSchema,
  { open, takes }: { readonly open: boolean; readonly takes: string | undefined },
): ErrorCode[] {
  const headers = Object.keys(schema.headers?.properties ?? {});
  const tag = tagOf(url);
  const writesFact = tag === "fact" && schema.body !== undefined;
  return [
    ...COMMON_ERRORS,
    ...(open ? [] : OPERATION_ERRORS),
    ...(schema.body || takes !== undefined ? BODY_ERRORS : []),
    ...(takes === undefined ? [] : (["STORE_FULL"] as const)),
    ...(takes !== undefined && tag === "document" ? (["UNPROCESSABLE"] as const) : []),
    ...((schema.params && !/^[/]users[/].*[/]memories$/.test(url)) ||
    writesFact ||
    /[/](reinforce|current)$/.test(url)
      ? (["NOT_FOUND"] as const)
      : []),
    ...(headers.includes("if-match") ? (["VERSION_MISMATCH"] as const) : []),
    ...(headers.includes("idempotency-key") ? REPEAT_ERRORS : []),
    ...(tag === "memory" && schema.body ? (["MODEL_UNAVAILABLE", "STORE_FULL"] as const) : []),
    ...(writesFact ? (["STORE_FULL"] as const) : []),
    ...(url.includes("/ingest") ? INGEST_ERRORS : []),
  ];
}

function tagOf(url: string): "memory" | "document" | "fact" | "user" | "system" {
  if (/^[/](memory[/])?(ingest|documents|jobs)/.test(url)) return "document";
  if (/^[/](memory|trash|undo)/.test(url)) return "memory";
  if (url.startsWith("/users")) return "user";
  return url.startsWith("/api/temporal") ? "fact" : "system";
}

function groupByStatus(codes: readonly ErrorCode[]): Map<number, ErrorCode[]> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const status = STATUS_BY_CODE[code];
    byStatus.set(status, [...new Set([...(byStatus.get(status) ?? []), code])]);
  }
  return byStatus;
}

function parameters(
  place: string,
  schema: SchemaNode | undefined,
  components: Record<string, unknown>,
): JsonObject[] {
  return Object.entries(schema?.properties ?? {}).map(([name, property]) => {
    const { description, ...rest } = publish(property, components) as JsonObject;
    return {
      name,
      in: place,
      required: schema?.required?.includes(name) ?? false,
      ...(description !== undefined && { description }),
      schema: rest,
    };
  });
}

/** A schema without what only we understand; one with an `$id` goes to the components and is referred to. */
function publish(node: unknown, components: Record<string, unknown>): unknown {
  if (Array.isArray(node)) return node.map((item) => publish(item, components));
  if (typeof node !== "object" || node === null) return node;
  const { $id, ...rest } = node as SchemaNode;
  const published = Object.fromEntries(
    Object.entries(rest)
      .filter(([key]) => !key.startsWith("~") && key !== TOO_LARGE_KEYWORDS)
      .map(([key, value]) => [
        key,
        key === "examples" || key === "enum" ? value : publish(value, components),
      ]),
  );
  if ($id === undefined) return published;
  components[$id] = published;
  return { $ref: `#/components/schemas/${$id}` };
}
