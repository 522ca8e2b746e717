import type { TSchema } from "typebox";
import { ServiceError, type FieldError } from "../core/errors.ts";
import { pointerStep } from "../schemas/json-pointer.ts";

/** Parameters by name: a list of all values of one given more than once, null for one that cannot be decoded. */
export type QueryParameters = Record<string, string | readonly string[] | null>;

/** Never throws, as the router calls it outside of any error handling: `checkQuery` refuses what is wrong. */
export function parseQueryString(text: string): QueryParameters {
  const parameters: QueryParameters = Object.create(null);
  for (const pair of text.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? "" : decode(pair.slice(equals + 1));
    const key = name ?? pair;
    const earlier = parameters[key];
    if (name === undefined || value === undefined) parameters[key] = null;
    else if (earlier === undefined) parameters[key] = value;
    else if (earlier !== null) parameters[key] = [earlier, value].flat();
  }
  return parameters;
}

/** @throws {ServiceError} INVALID_REQUEST for a parameter given twice or not decodable, read or not. */
export function checkQuery(query: unknown): void {
  const fields: FieldError[] = [];
  for (const [name, value] of Object.entries(query as QueryParameters)) {
    const path = `/${pointerStep(name)}`;
    if (value === null) fields.push({ path, message: "must be percent-encoded UTF-8" });
    else if (typeof value !== "string") fields.push({ path, message: "must not be given more than once" });
  }
  if (fields.length === 0) return;
  const [first] = fields;
  throw new ServiceError("INVALID_REQUEST", `The query is not valid: ${first?.path} ${first?.message}.`, {
    fields,
  });
}

/** Query values in the types that the schema asks for; what does not convert stays text, to be refused. */
export function convertQuery(schema: TSchema, query: unknown): Record<string, unknown> {
  const properties = (schema as { properties?: Record<string, { type?: unknown }> }).properties ?? {};
  const converted: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(query as Record<string, unknown>)) {
    const type = Object.hasOwn(properties, name) ? properties[name]?.type : undefined;
    converted[name] = typeof value === "string" ? convert(value, type) : value;
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
