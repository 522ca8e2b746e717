/**
 * The one mapping between records and the wire: a field `occurredAt` of a record is `occurred_at` there, and a time, a number
 * of epoch milliseconds here, is text there. Which fields there are, and which are times, the schemas say.
 */

import type { Static, TSchema } from "typebox";

/** How times stand in requests and answers; inside they are epoch milliseconds UTC. */

/** 0001-01-01T00:00:00.000Z: times outside four-digit years could not be written as RFC 3339 again. */
export const EARLIEST_TIME = -62_135_596_800_000;
/** 9999-12-31T23:59:59.999Z. */
export const LATEST_TIME = 253_402_300_799_999;

const DATE = "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])";
const CLOCK = "([01][0-9]|2[0-3]):[0-5][0-9]";
/** The shape of a time as text: a date, or RFC 3339 with an optional offset. The day may not exist. */
export const TIME_PATTERN = `^${DATE}([Tt ]${CLOCK}:[0-5][0-9]([.][0-9]+)?([Zz]|[+-]${CLOCK})?)?$`;
/** The same, or epoch milliseconds of ten digits or more (fewer would be read as a year by a person). */
export const QUERY_TIME_PATTERN = `^-?[0-9]{10,16}$|${TIME_PATTERN}`;

const TIME = new RegExp(TIME_PATTERN, "u");

/**
 * Epoch milliseconds of a time in a body: `YYYY-MM-DD` (midnight UTC), RFC 3339 (UTC where it has no offset,
 * digits past milliseconds cut), or a whole number of epoch milliseconds. Undefined for anything else, for a
 * day that does not exist, and for years outside 0001 … 9999.
 */
export function parseTime(value: unknown): number | undefined {
  const time = typeof value === "string" ? parseText(value) : value;
  return typeof time === "number" && Number.isInteger(time) && time >= EARLIEST_TIME && time <= LATEST_TIME
    ? time
    : undefined;
}

/** The same of a query parameter, where epoch milliseconds are ten digits or more. */
export function parseQueryTime(value: string): number | undefined {
  if (/^-?\d{10,16}$/.test(value)) return parseTime(Number(value));
  // An offset's "+" that was not encoded arrives as a space.
  return parseTime(value.replace(/ (?=\d{2}:\d{2}$)/, "+"));
}

/** RFC 3339 in UTC with milliseconds. */
export const formatTime = (time: number): string => new Date(time).toISOString();

function parseText(text: string): number | undefined {
  const day = text.slice(0, 10);
  // Engines refuse a day that does not exist, or count on into the next month.
  if (!TIME.test(text) || new Date(day).toJSON()?.slice(0, 10) !== day) return undefined;
  const isInUtc = text === day || /(?:[Zz]|[+-]\d\d:\d\d)$/.test(text);
  return Date.parse(`${text.toUpperCase().replace(" ", "T")}${isInUtc ? "" : "Z"}`);
}

/** Whether a text has the form of a time and is none: its day does not exist, or its year is none of 0001 … 9999. */
export const namesNoDay = (text: string): boolean => TIME.test(text) && parseTime(text) === undefined;

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

/** A record as `toWire` takes it: times are epoch milliseconds, other fields than those of the schema are passed over. */
export type ForWire<Value> = Value extends readonly (infer Item)[]
  ? readonly ForWire<Item>[]
  : Value extends object
    ? string extends keyof Value
      ? object
      : {
          readonly [Name in keyof Value as Camel<Name>]:
            | ForWire<Value[Name]>
            | (undefined extends Value[Name] ? undefined : never);
        }
    : string extends Value
      ? Value | number
      : Value;

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

/** A record as the schema has it. What the schema does not name, and what is undefined, is left out; without fields all stays. */
export const toWire = <S extends TSchema>(schema: S, record: ForWire<Static<S>>): Static<S> =>
  writeValue({ isTime: false, fields: fieldsOf(schema) }, record) as Static<S>;

function write(fields: readonly Field[], record: object): object {
  const wire: Record<string, unknown> = {};
  for (const field of fields) {
    const value: unknown = Reflect.get(record, field.name);
    if (value !== undefined) wire[field.wire] = writeValue(field, value);
  }
  return wire;
}

function writeValue({ isTime, fields }: Pick<Field, "isTime" | "fields">, value: unknown): unknown {
  if (isTime && typeof value === "number") return formatTime(value);
  if (Array.isArray(value))
    return fields === undefined ? [...value] : value.map((item: object) => write(fields, item));
  return fields === undefined || typeof value !== "object" || value === null ? value : write(fields, value);
}

/** The record of a value that fits its schema; what the schema does not name is left out. */
export const fromWire = <S extends TSchema>(schema: S, value: Static<S>): FromWire<Static<S>> =>
  read(fieldsOf(schema) ?? [], value) as FromWire<Static<S>>;

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
