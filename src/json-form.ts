/**
 * Forms of JSON that comes from memoryd itself: the daemon's answers to the command line, and files that a daemon or a
 * command has written. Schemas say such things to the world; to load TypeBox takes half a second, which is more than all
 * else that a command does.
 */

/** Says whether a value, as JSON has it, is of a form. What an object has beyond its fields does not count. */
export type JsonForm<T> = (value: unknown) => value is T;
/** The values of a form. */
export type Formed<F> = F extends JsonForm<infer T> ? T : never;

/** The form of a field that may be left out. */
export interface OptionalField<T> {
  readonly optional: JsonForm<T>;
}
type Fields = Readonly<Record<string, JsonForm<unknown> | OptionalField<unknown>>>;
type Optional<F extends Fields> = {
  [Name in keyof F]: F[Name] extends OptionalField<unknown> ? Name : never;
}[keyof F];
type ObjectOf<F extends Fields> = {
  [Name in Exclude<keyof F, Optional<F>>]: Formed<F[Name]>;
} & {
  [Name in Optional<F>]?: F[Name] extends OptionalField<infer T> ? T : never;
};

export function anything(_value: unknown): _value is unknown {
  return true;
}

export function string(value: unknown): value is string {
  return typeof value === "string";
}

export function boolean(value: unknown): value is boolean {
  return typeof value === "boolean";
}

export function number(value: unknown): value is number {
  return typeof value === "number";
}

export function integer(value: unknown): value is number {
  return Number.isInteger(value);
}

/** One of these values, and none other. */
export function oneOf<const T extends readonly (string | number | boolean | null)[]>(
  ...values: T
): JsonForm<T[number]> {
  return (value): value is T[number] => values.some((each) => each === value);
}

export function arrayOf<T>(item: JsonForm<T>): JsonForm<T[]> {
  return (value): value is T[] => Array.isArray(value) && value.every(item);
}

/** Any names, with values of one form. */
export function mapOf<T>(item: JsonForm<T>): JsonForm<Record<string, T>> {
  return (value): value is Record<string, T> => isObject(value) && Object.values(value).every(item);
}

export function record<F extends Fields>(fields: F): JsonForm<ObjectOf<F>> {
  const forms = Object.entries(fields);
  return (value): value is ObjectOf<F> =>
    isObject(value) &&
    forms.every(([name, form]) =>
      typeof form === "function"
        ? form(value[name])
        : value[name] === undefined || form.optional(value[name]),
    );
}

export function optional<T>(form: JsonForm<T>): OptionalField<T> {
  return { optional: form };
}

/** Of those values only the ones that pass. */
export function where<T>(form: JsonForm<T>, passes: (value: T) => boolean): JsonForm<T> {
  return (value): value is T => form(value) && passes(value);
}

export function nullable<T>(form: JsonForm<T>): JsonForm<T | null> {
  return either(form, oneOf(null));
}

export function either<F extends readonly JsonForm<unknown>[]>(...forms: F): JsonForm<Formed<F[number]>> {
  return (value): value is Formed<F[number]> => forms.some((form) => form(value));
}

/** An object, and no array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
