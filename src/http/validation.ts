/** Requests against their schemas: nothing is coerced but query strings, and every wrong field is named. */
import type { FastifySchemaCompiler } from "fastify";
import type { TSchema } from "typebox";
import type { TLocalizedValidationError } from "typebox/error";
import { ServiceError } from "../core/errors.ts";
import { nearestName } from "../core/text/near-words.ts";
import { fieldFaults, stepName } from "../schemas/text-rules.ts";
import { TOO_LARGE_KEYWORDS } from "../schemas/fields.ts";
import { Compile } from "../schemas/typebox.ts";

/** Checks a value against one schema. */
export interface Validator {
  /** The value, or why it is refused: TOO_LARGE when only limits of size are broken, else INVALID_REQUEST. */
  (value: unknown, path?: string): { readonly value: unknown } | { readonly error: ServiceError };
}

const PART_NAMES: Readonly<Record<string, string>> = {
  body: "The body",
  querystring: "The query",
  headers: "A header",
  params: "The address",
};

/** Fastify's hook: one validator a part of a route's request, compiled once. */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart = "body" }) => {
  const validate = validator(schema, PART_NAMES[httpPart] ?? "The request");
  return (value) => validate(value);
};

/** @param what names the value at the start of an error's sentence. */
export function validator(schema: TSchema, what: string): Validator {
  // At the first request: a start and most tests need few of them.
  let made: ReturnType<typeof Compile> | undefined;
  return (value, path = "") => {
    const compiled = (made ??= Compile(schema));
    if (compiled.Check(value)) return { value };
    const error =
      longList(schema, value, path) ??
      refusal(schema, compiled.Errors(withoutUnknown(schema, value)), what, path);
    return { error };
  };
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly additionalProperties?: unknown;
}

/** The error for a list with too many items, in place of errors for each of them. */
function longList(schema: TSchema, value: unknown, path: string): ServiceError | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) {
    const { maxItems, [TOO_LARGE_KEYWORDS]: keywords } = schema as {
      maxItems?: number;
      [TOO_LARGE_KEYWORDS]?: string[];
    };
    if (maxItems === undefined || value.length <= maxItems) return undefined;
    const message = `must not have more than ${maxItems} items`;
    return new ServiceError(
      keywords?.includes("maxItems") === true ? "TOO_LARGE" : "INVALID_REQUEST",
      `The request is not valid: ${path} ${message}; it has ${value.length}.`,
      { fields: [{ path, message }] },
    );
  }
  for (const [name, property] of Object.entries((schema as ObjectSchema).properties ?? {})) {
    const found = Object.hasOwn(value, name)
      ? longList(property, Reflect.get(value, name), `${path}/${name}`)
      : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Each unknown key uses up one of the few errors that a check reports; more are no help. */
const MAX_UNKNOWN_KEYS = 4;

/** The value with the first of the keys that no object of the schema may have. */
function withoutUnknown(schema: TSchema, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const { properties = {}, additionalProperties } = schema as ObjectSchema;
  let unknown = 0;
  const kept = Object.entries(value).flatMap(([name, field]) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property !== undefined) return [[name, withoutUnknown(property, field)]];
    return additionalProperties === false && (unknown += 1) > MAX_UNKNOWN_KEYS ? [] : [[name, field]];
  });
  return Object.fromEntries(kept);
}

function refusal(
  schema: TSchema,
  errors: readonly TLocalizedValidationError[],
  what: string,
  path: string,
): ServiceError {
  const tooLarge = errors.length > 0 && errors.every((error) => isTooLarge(schema, error));
  const fields = fieldFaults(errors, path);
  const [first] = fields;
  const where = first === undefined || first.path === "" ? "it" : first.path;
  return new ServiceError(
    tooLarge ? "TOO_LARGE" : "INVALID_REQUEST",
    `${what} is not valid: ${where} ${first?.message ?? "does not fit its schema"}.${knownNames(schema, errors)}`,
    { fields },
  );
}

function isTooLarge(schema: TSchema, error: TLocalizedValidationError): boolean {
  const keyword = error.keyword === "~refine" ? `~refine/${error.params.index}` : error.keyword;
  const keywords = brokenPart(schema, error)?.[TOO_LARGE_KEYWORDS];
  return Array.isArray(keywords) && keywords.includes(keyword);
}

/** A sentence with the names that there are, where an unknown one was refused. */
function knownNames(schema: TSchema, errors: readonly TLocalizedValidationError[]): string {
  const unknown = errors.find(({ keyword }) => keyword === "additionalProperties");
  const properties = unknown && (brokenPart(schema, unknown) as ObjectSchema | undefined)?.properties;
  if (properties === undefined) return "";
  const names = Object.keys(properties);
  const [name = ""] = unknown?.keyword === "additionalProperties" ? unknown.params.additionalProperties : [];
  const meant = nearestName(name, names) ?? names.find((each) => name.length > 2 && each.startsWith(name));
  return meant === undefined ? ` Known are ${names.join(", ")}.` : ` Did you mean ${meant}?`;
}

/** The part of the schema that the value violates. */
function brokenPart(
  schema: TSchema,
  { schemaPath }: TLocalizedValidationError,
): Record<string, unknown> | undefined {
  let node: unknown = schema;
  for (const step of schemaPath.split("/").slice(1)) {
    node = (node as Record<string, unknown> | undefined)?.[stepName(step)];
  }
  return node as Record<string, unknown> | undefined;
}
