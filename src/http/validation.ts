/** Requests against their schemas: nothing is coerced but query strings, and every wrong field is named. */
import type { FastifySchemaCompiler } from "fastify";
import type { TSchema } from "typebox";
import type { TLocalizedValidationError } from "typebox/error";
import { ServiceError } from "../core/errors.ts";
import { nearestName } from "../core/text/near-words.ts";
import { fieldFaults, stepName } from "../schemas/text-rules.ts";
import { TOO_LARGE_KEYWORDS } from "../schemas/fields.ts";
import { Compile, Settings } from "../schemas/typebox.ts";

// Each unknown key uses up one: eight, as usual, would hide what else is wrong.
Settings.Set({ maxErrors: 64 });

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
    return { error: refusal(schema, compiled.Errors(value), what, path) };
  };
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
  const keywords = brokenPart(schema, error.schemaPath)?.[TOO_LARGE_KEYWORDS];
  return Array.isArray(keywords) && keywords.includes(keyword);
}

/** A sentence with the names that there are, where an unknown one was refused. */
function knownNames(schema: TSchema, errors: readonly TLocalizedValidationError[]): string {
  const unknown = errors.find(({ keyword }) => keyword === "boolean");
  if (unknown === undefined) return "";
  const { properties = {} } = (brokenPart(schema, unknown.schemaPath.replace(/[/][^/]*$/, "")) ?? {}) as {
    readonly properties?: object;
  };
  const names = Object.keys(properties);
  const name = stepName(unknown.instancePath.split("/").at(-1) ?? "");
  const meant = nearestName(name, names) ?? names.find((each) => name.length > 2 && each.startsWith(name));
  return meant === undefined ? ` Known are ${names.join(", ")}.` : ` Did you mean ${meant}?`;
}

/** The part of the schema at a path. */
function brokenPart(schema: TSchema, schemaPath: string): Record<string, unknown> | undefined {
  let node: unknown = schema;
  for (const step of schemaPath.split("/").slice(1)) {
    node = (node as Record<string, unknown> | undefined)?.[stepName(step)];
  }
  return node as Record<string, unknown> | undefined;
}
