/** How schemas are written: TypeBox's types with the description first, and optional fields as the wire has them. */
import type { Static, TOptional, TProperties, TSchema, TUnsafe } from "typebox";
import { hasLoneSurrogate } from "./text-rules.ts";
import { Type } from "./typebox.ts";

/** Without the field that says nothing. */
function meaning(description: string | undefined, limits?: object) {
  return { ...limits, ...(description !== undefined && { description }) };
}

/** Text without half of a UTF-16 pair: it has no UTF-8 form, so it could not be kept as sent. */
export function wellFormed<T extends TSchema>(schema: T) {
  return Type.Refine(
    schema,
    (text) => typeof text !== "string" || !hasLoneSurrogate(text),
    () => "must not contain a lone UTF-16 surrogate",
  );
}

export const text = (description?: string, limits?: object) =>
  wellFormed(Type.String(meaning(description, limits)));
export const whole = (description?: string, limits?: object) => Type.Integer(meaning(description, limits));
export const number = (description?: string, limits?: object) => Type.Number(meaning(description, limits));
export const flag = (description?: string, limits?: object) => Type.Boolean(meaning(description, limits));
/** How many: 0 or more. */
export const count = (description?: string) => whole(description, { minimum: 0 });
/** From 0 to 1. */
export const share = (description?: string) => number(description, { minimum: 0, maximum: 1 });
/** A time in an answer. */
export const time = (description = "RFC 3339, UTC, with milliseconds.") =>
  text(description, { format: "date-time" });

export const oneOf = <const Values extends readonly string[]>(values: Values, description?: string) =>
  Type.Enum<[...Values]>([...values], { type: "string", ...meaning(description) });

export const list = <T extends TSchema>(items: T, description?: string) =>
  Type.Array(items, meaning(description));

/** A list of objects with these fields. */
export const records = <P extends TProperties>(...fields: Fields<P>) =>
  Type.Array(Type.Object(fields.at(-1) as P), meaning(descriptionIn(fields)));

export const object = <P extends TProperties>(description: string, fields: P) =>
  Type.Object(fields, { description });

export const objectOrNull = <P extends TProperties>(fields: P) => nullable(Type.Object(fields));

/** A body of optional fields whose unknown ones are refused: a misspelt one would widen what is answered or undone. */
export const closed = <P extends TProperties>(name: string, fields: P) =>
  Type.Object(optionals(fields), { $id: name, additionalProperties: false });

/** A body that may be left out; all its fields may, too. */
export const optionalBody = <P extends TProperties>(name: string, fields: P) =>
  nullable(named(name, optionals(fields)));

/** An object with any fields. */
export const anyObject = (description?: string) =>
  Type.Unsafe<{ readonly [key: string]: unknown }>({ type: "object", ...meaning(description) });

/** Values of one kind under names that are not known before. */
export function byName<T extends TSchema>(values: T, description: string) {
  return Type.Unsafe<Readonly<Record<string, Static<T>>>>({
    type: "object",
    additionalProperties: values,
    description,
  });
}

/** An object that the description of the API has under a name of its own. */
export const named = <P extends TProperties>(name: string, ...fields: Fields<P>) =>
  Type.Object(fields.at(-1) as P, { $id: name, ...meaning(descriptionIn(fields)) });

type Fields<P> = readonly [fields: P] | readonly [description: string, fields: P];

const descriptionIn = ([first]: Fields<unknown>): string | undefined =>
  typeof first === "string" ? first : undefined;

export function nullable<T extends TSchema>(schema: T): TUnsafe<Static<T> | null> {
  const {
    type,
    enum: values,
    "~refine": refinements,
  } = schema as T & { type: string | string[]; enum?: readonly unknown[]; "~refine"?: unknown };
  return Type.Unsafe<Static<T> | null>({
    ...schema,
    type: [...new Set([type, "null"].flat())],
    ...(values && { enum: [...new Set([...values, null])] }),
    ...(refinements !== undefined && { "~refine": refinements }),
  });
}

/** Fields that may be left out. */
export const partial = <P extends TProperties>(fields: P) =>
  mapped(fields, (field) => Type.Optional(field)) as { [Name in keyof P]: TOptional<P[Name]> };

/** A query or a record all of whose fields may be left out. */
export const query = <P extends TProperties>(fields: P) => Type.Object(partial(fields));

/** Fields of a body that may be left out; null is the same as leaving them out. */
export const optionals = <P extends TProperties>(fields: P) =>
  mapped(fields, optional) as { [Name in keyof P]: TOptional<TUnsafe<Static<P[Name]> | null>> };

const mapped = (fields: TProperties, change: (field: TSchema) => TSchema): TProperties =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, change(field)]));

/** A field that may be left out; null is the same as leaving it out. */
export const optional = <T extends TSchema>(schema: T): TOptional<TUnsafe<Static<T> | null>> =>
  Type.Optional(nullable(schema));
