import type { FastifyRequest } from "fastify";
import type { TSchema } from "typebox";
import { invalidRequest, type ServiceError } from "../core/errors.ts";
import { pointerStep } from "../schemas/text-rules.ts";

/** No route knows half as many. */
const MAX_PARAMETERS = 64;
/** The first name that was given more than once. */
const REPEATED = Symbol("repeated");
/** More than `MAX_PARAMETERS` were given; none was read. */
const TOO_MANY = Symbol("too many");

/** Parameters by name: null for one that cannot be decoded. */
export type QueryParameters = { [name: string]: string | null; [REPEATED]?: string; [TOO_MANY]?: true };

/** Other names of parameters. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ["limit", "l"],
  ["offset", "u"],
]);
/** Balancers and supervisors ask these with parameters of their own. */
const TAKES_ANY: ReadonlySet<string> = new Set(["/livez", "/readyz", "/health"]);

/** Never throws, as the router calls it outside of any error handling: `checkQuery` refuses what is wrong. */
export function parseQueryString(text: string): QueryParameters {
  const parameters = Object.create(null) as QueryParameters;
  const pairs = text.split("&", MAX_PARAMETERS + 1);
  if (pairs.length > MAX_PARAMETERS) return Object.assign(parameters, { [TOO_MANY]: true as const });
  for (const pair of pairs) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? "" : decode(pair.slice(equals + 1));
    const key = name ?? pair;
    if (key in parameters) parameters[REPEATED] ??= key;
    parameters[key] = name === undefined ? null : (value ?? null);
  }
  return parameters;
}

/**
 * @throws {ServiceError} INVALID_REQUEST for a parameter that is given twice, cannot be decoded or is not known: a
 * condition that is passed over answers too much. Routes that only tell whether the daemon is well take any.
 */
export function checkQuery({ query, routeOptions: { url = "", schema } }: FastifyRequest): void {
  const parameters = query as QueryParameters;
  if (parameters[TOO_MANY]) throw refusal("", `must not have more than ${MAX_PARAMETERS} parameters`);
  const known = propertiesOf(schema?.querystring);
  for (const [name, value] of Object.entries(parameters)) {
    const path = `/${pointerStep(name)}`;
    if (value === null) throw refusal(path, "must be percent-encoded UTF-8");
    if (name === parameters[REPEATED]) throw refusal(path, "must not be given more than once");
    if (TAKES_ANY.has(url)) continue;
    const meant = nameIn(known, name);
    if (meant === undefined) {
      const names = Object.keys(known);
      throw Object.hasOwn(propertiesOf(schema?.body), name)
        ? refusal(path, "is read from the body here; send it there")
        : refusal(path, "is not known here", names.length === 0 ? "" : ` Known are ${names.join(", ")}.`);
    }
    if (meant !== name && meant in parameters)
      throw refusal(path, `is the same as ${meant}; give one of them`);
  }
}

function refusal(path: string, message: string, more = ""): ServiceError {
  const what = path === "" ? "it" : path;
  return invalidRequest(`The query is not valid: ${what} ${message}.${more}`, {
    fields: [{ path, message }],
  });
}

type Properties = Readonly<Record<string, { readonly type?: unknown }>>;

function propertiesOf(schema: unknown): Properties {
  return (schema as { properties?: Properties } | undefined)?.properties ?? {};
}

function nameIn(known: Properties, name: string): string | undefined {
  return [name, ALIASES.get(name)].find((each) => each !== undefined && Object.hasOwn(known, each));
}

/** Query values in the types that the schema asks for; what does not convert stays text, to be refused. */
export function convertQuery(schema: TSchema, query: unknown): Record<string, unknown> {
  const known = propertiesOf(schema);
  const converted: Record<string, unknown> = Object.create(null);
  for (const [given, value] of Object.entries(query as Record<string, unknown>)) {
    const name = nameIn(known, given) ?? given;
    converted[name] = typeof value === "string" ? convert(value, known[name]?.type) : value;
  }
  return converted;
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
