/** One example for each route: a request that its schemas allow, and the beginning of the answer of a server with fake operations. */
import { createPlaces } from "../../src/daemon/beside-store.ts";
import { createTestServer } from "../support/test-server.ts";
import { nameOf, type OpenApi, type Route, type Schema } from "./openapi-shapes.ts";

const NOTE = "The spare key hangs behind the water meter.";
const FACT = { subject: "Ada", predicate: "lives in", object: "London" };
const MAX_FIELDS = 6;
const MAX_CHARS = 60;
const WIDTH = 100;
/** What differs between runs and machines, by the name of its field. */
const SAME_EVERYWHERE: Readonly<Record<string, unknown>> = { took_ms: 12, node: "20.19.0" };

/** Values that read better than what a schema allows at least. */
const VALUES: Readonly<Record<string, unknown>> = {
  ...FACT,
  content: NOTE,
  text: NOTE,
  query: "where is the key?",
  user_id: "ann",
  name: "before-trip",
  add: ["home"],
  pattern: "Ada*",
  version: 1,
  url: "https://example.org/garden",
  filename: "key.md",
  by: "day",
  from: "2026-11-01",
  to: "2026-11-22",
  time1: "2026-11-01",
  time2: "2026-11-22",
  since: "2026-11-21",
  scope: "write",
  data: "VGhlIGtleSBpcyBpbiB0aGUgc2hlZC4=",
  boost: 0.2,
  content_type: "text/plain",
};

/** Beyond what the schema requires. */
const MORE: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "/memory/tags": { add: ["home"] },
  "/api/temporal/compare": { subject: FACT.subject, time1: "2026-11-01", time2: "2026-11-22" },
};

/** An example in Markdown; of an answer that is no JSON the request alone. */
export async function exampleOf(api: OpenApi, path: string, method: string, route: Route): Promise<string> {
  // Positions are others in each process.
  const places = { ...createPlaces(""), seal: () => createPlaces("a store").seal(0, 0) };
  const server = createTestServer({}, { places });
  const added = (await server.post("/memory/add", { content: NOTE, user_id: "ann" })).json<{ id: string }>();
  const fact = (await server.post("/api/temporal/fact", FACT)).json<{ id: string }>();
  const id = path.includes("/temporal/") ? fact.id : added.id;
  const values = { ...VALUES, id, ids: [id] };
  const address = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    String(values[name as keyof typeof values]),
  );
  const needed = (route.parameters ?? []).filter(({ in: where, required }) => where === "query" && required);
  const more = MORE[path] ?? {};
  const query = [
    ...needed.map(({ name, schema }) => [name, sample(api, schema, name, values)] as const),
    ...(method === "get" ? Object.entries(more) : []),
  ].map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  const url = [address, ...(query.length > 0 ? [query.join("&")] : [])].join("?");
  const { schema } = route.requestBody?.content["application/json"] ?? {};
  const body = schema === undefined ? undefined : Object.assign({}, sample(api, schema, "", values), more);
  const isEmpty = body === undefined || Object.keys(body).length === 0;
  const lines = [`${method.toUpperCase()} ${url}`, ...(isEmpty ? [] : [shown(body)])];
  const answer = isStream(path)
    ? undefined
    : await server.app.inject({
        method: method.toUpperCase() as "GET",
        url,
        ...(schema !== undefined && { payload: (body ?? {}) as object }),
      });
  if (
    answer !== undefined &&
    answer.statusCode < 300 &&
    String(answer.headers["content-type"]).startsWith("application/json")
  )
    lines.push("", `${answer.statusCode}`, shown(shortened(answer.json())));
  return ["```js", ...lines, "```"].join("\n");
}

const isStream = (path: string): boolean => /^\/(events|mcp|shutdown|openapi\.json)$/.test(path);

/** The least that a schema allows: required fields, or one where none is. */
function sample(
  api: OpenApi,
  schema: Schema,
  name: string,
  values: Readonly<Record<string, unknown>>,
): unknown {
  if (schema.$ref !== undefined)
    return sample(api, api.components.schemas[nameOf(schema.$ref)] ?? {}, name, values);
  if (name in values && schema.properties === undefined) return values[name];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.allOf !== undefined)
    return Object.assign({}, ...schema.allOf.map((part) => sample(api, part, name, values)));
  const [first] = schema.anyOf ?? schema.oneOf ?? [];
  if (first !== undefined) return sample(api, first, name, values);
  if (schema.properties !== undefined) {
    const known = Object.keys(schema.properties);
    const wanted =
      schema.required ?? known.filter((each) => each in values && each !== "user_id").slice(0, 1);
    return Object.fromEntries(
      wanted.map((each) => [each, sample(api, schema.properties?.[each] ?? {}, each, values)]),
    );
  }
  const [type] = [schema.type ?? "string"].flat();
  if (type === "array") return [sample(api, schema.items ?? {}, name === "ids" ? "id" : "", values)];
  if (type === "integer" || type === "number") return schema.minimum ?? 1;
  return type === "boolean" ? true : type === "object" ? {} : "home";
}

/** The beginning of a value: a few fields, one item, short texts. */
function shortened(value: unknown): unknown {
  if (typeof value === "string") return value.length > MAX_CHARS ? `${value.slice(0, MAX_CHARS)}…` : value;
  if (Array.isArray(value)) return value.slice(0, 1).map(shortened);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(
    ([name, field]) => [name, SAME_EVERYWHERE[name] ?? shortened(field)] as const,
  );
  const kept = fields.slice(0, MAX_FIELDS);
  return Object.fromEntries(fields.length > MAX_FIELDS ? [...kept, ["…", "…"]] : kept);
}

function shown(value: unknown): string {
  const line = JSON.stringify(value, null, 1).replaceAll(/\n\s*/g, " ");
  const text = line.length <= WIDTH ? line : JSON.stringify(value, null, 2);
  return text.replaceAll('"…": "…"', "…");
}
