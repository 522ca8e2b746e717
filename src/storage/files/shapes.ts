import { crc32 } from "node:zlib";

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

/**
 * The small files of a store: a first line `memoryd KIND FORMAT crc32 CHECKSUM`, the same in every format, and the JSON that it
 * is the checksum of.
 */
export function encodeChecksummed(kind: string, format: number, value: unknown): Buffer {
  const text = Buffer.from(`${JSON.stringify(value, null, 1)}\n`);
  const crc = crc32(text).toString(16).padStart(8, "0");
  return Buffer.concat([Buffer.from(`memoryd ${kind} ${format} crc32 ${crc}\n`), text]);
}

/** The format and, read when it is asked for, the value: undefined without the shape; undefined for a damaged file. */
export function decodeChecksummed(
  kind: string,
  bytes: Buffer,
): { readonly format: number; value(shape: Shape): unknown } | undefined {
  const lineEnd = Math.max(bytes.indexOf("\n"), 0);
  const line = /^memoryd ([a-z]+) (\d+) crc32 ([0-9a-f]{8})$/.exec(bytes.subarray(0, lineEnd).toString());
  const body = bytes.subarray(lineEnd + 1);
  if (line?.[1] !== kind || crc32(body) !== Number.parseInt(line[3] ?? "", 16)) return undefined;
  return {
    format: Number(line[2]),
    value(shape) {
      try {
        const value: unknown = JSON.parse(body.toString());
        return shape(value) ? value : undefined;
      } catch {
        return undefined;
      }
    },
  };
}
