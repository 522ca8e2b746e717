/** Whether a value has a form. For what was read from a file that somebody else may have written: a checksum proves no author. */
export type Shape = (value: unknown) => boolean;

/** A whole number from 0 that JSON keeps exactly. */
export const isCount: Shape = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
export const isText: Shape = (value) => typeof value === "string";
export const isBoolean: Shape = (value) => typeof value === "boolean";
/** Epoch milliseconds that a `Date` can hold. */
export const isTime: Shape = (value) => isCount(value) && Number(value) <= 8.64e15;
export const isSha256 = matches(/^[0-9a-f]{64}$/);
/** It becomes part of file names. */
export const isStoreId = matches(/^[\w-]{1,91}$/);

export function matches(pattern: RegExp): Shape {
  return (value) => typeof value === "string" && pattern.test(value);
}

export function optional(shape: Shape): Shape {
  return (value) => value === undefined || shape(value);
}

export function orNull(shape: Shape): Shape {
  return (value) => value === null || shape(value);
}

export function arrayOf(item: Shape): Shape {
  return (value) => Array.isArray(value) && value.every(item);
}

/** An object with at least these fields. */
export function objectOf(fields: Readonly<Record<string, Shape>>): Shape {
  return (value) =>
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.entries(fields).every(([name, shape]) => shape((value as Record<string, unknown>)[name]));
}
