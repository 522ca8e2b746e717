/**
 * The one mapping between records and the wire: a field `occurredAt` of a record is `occurred_at` there, and a time, a number
 * of epoch milliseconds here, is text there. Which fields there are, and which are times, the schemas say.
 */

import type { Static, TSchema } from "typebox";
import { formatTime, parseQueryTime, parseTime } from "./time.ts";

type Camel<Name> = Name extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Name;
type IsTime<Value> = [string | number] extends [NonNullable<Value>] ? true : false;
/** Result type of `fromWire`. Optional fields have no null: on the wire null means absent. */
type FromWire<Value> = Value extends readonly (infer Item)[]
  ? FromWire<Item>[]
  : Value extends object
    ? string extends keyof Value
      ? Value
      : { [Name in keyof Value as Camel<Name>]: FromField<Value, Name> }
    : Value;
type FromField<Value, Name extends keyof Value> = undefined extends Value[Name]
  ? FromValue<NonNullable<Value[Name]>>
  : FromValue<Value[Name]>;
type FromValue<Value> = IsTime<Value> extends true ? number | Extract<Value, null> : FromWire<Value>;

/** Annotation of a schema: its values are times, as text or as epoch milliseconds. */
export const TIME_MARK = "~time";

interface Field {
  readonly wire: string;
  readonly name: string;
  readonly isOptional: boolean;
  readonly isTime: boolean;
  /** Fields of the object, or of the list's objects. */
  readonly fields: readonly Field[] | undefined;
}

interface Node {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  readonly items?: Node;
}

const known = new WeakMap<object, readonly Field[]>();

function fieldsOf(schema: Node): readonly Field[] | undefined {
  const { properties, required = [], items } = schema;
  if (properties === undefined) return items === undefined ? undefined : fieldsOf(items);
  let fields = known.get(schema);
  if (fields === undefined) {
    fields = Object.entries(properties).map(([wire, property]) => ({
      wire,
      name: wire.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
      isOptional: !required.includes(wire),
      isTime: property.format === "date-time" || TIME_MARK in property,
      fields: fieldsOf(property),
    }));
    known.set(schema, fields);
  }
  return fields;
}

/** A record as the schema has it. What the schema does not name, and what is undefined, is left out. */
export function toWire<S extends TSchema>(schema: S, record: object): Static<S> {
  return write(fieldsOf(schema) ?? [], record) as Static<S>;
}

function write(fields: readonly Field[], record: object): object {
  const wire: Record<string, unknown> = {};
  for (const field of fields) {
    const value: unknown = Reflect.get(record, field.name);
    if (value !== undefined) wire[field.wire] = writeValue(field, value);
  }
  return wire;
}

function writeValue({ isTime, fields }: Field, value: unknown): unknown {
  if (isTime && typeof value === "number") return formatTime(value);
  if (Array.isArray(value))
    return fields === undefined ? [...value] : value.map((item: object) => write(fields, item));
  return fields === undefined || typeof value !== "object" || value === null ? value : write(fields, value);
}

/** The record of a value that fits its schema; what the schema does not name is left out. */
export function fromWire<S extends TSchema>(schema: S, value: Static<S>): FromWire<Static<S>> {
  return read(fieldsOf(schema) ?? [], value) as FromWire<Static<S>>;
}

function read(fields: readonly Field[], wire: object): object {
  const record: Record<string, unknown> = {};
  for (const field of fields) {
    const value: unknown = Object.hasOwn(wire, field.wire) ? Reflect.get(wire, field.wire) : undefined;
    if (value === undefined || (value === null && field.isOptional)) continue;
    record[field.name] = readValue(field, value);
  }
  return record;
}

function readValue({ isTime, fields }: Field, value: unknown): unknown {
  // Text of a body is never a number: its schema refuses that.
  if (isTime && value !== null) return typeof value === "string" ? parseQueryTime(value) : parseTime(value);
  if (fields === undefined || typeof value !== "object" || value === null) return value;
  return Array.isArray(value) ? value.map((item: object) => read(fields, item)) : read(fields, value);
}

/** The fields that are there, without those that are undefined or null. */
export function present<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  ) as { [K in keyof T]?: NonNullable<T[K]> };
}

/** The format of an export; apart from the schemas of its lines, which take long to load. */
export const EXPORT_FORMAT = "memoryd-export";
export const EXPORT_VERSION = 1;
/** Media type of exports and of other lines of JSON. */
export const LINES_MEDIA_TYPE = "application/x-ndjson";
