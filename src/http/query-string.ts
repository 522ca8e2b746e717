import type { FastifyRequest } from "fastify";
import { invalidRequest, type ServiceError } from "../core/errors.ts";
import { pointerStep } from "../schemas/text-rules.ts";

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
export const parseQueryString = (text: string): Record<string, unknown> => ({ text });

type Properties = Readonly<Record<string, { readonly type?: unknown }>>;
const propertiesOf = (schema: unknown): Properties =>
  (schema as { properties?: Properties } | undefined)?.properties ?? {};

/**
 * Makes the query of a request an object of the parameters that its schema knows, in the types that this asks for; what does
 * not convert stays text, to be refused.
 * @throws {ServiceError} INVALID_REQUEST for a parameter that is given twice, cannot be decoded or is not known: a
 * condition that is passed over answers too much. Routes that only tell whether the daemon is well take any.
 */
export function readQuery(request: FastifyRequest): void {
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
