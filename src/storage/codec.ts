import { Decoder, Encoder, ExtData, type ExtensionCodecType } from "@msgpack/msgpack";
import { inPieces } from "../core/at-once.ts";
import { storeUnusable } from "../core/errors.ts";
import type { Change, LanceTable } from "../core/rows.ts";
import { TABLE_SPECS } from "./tables/specs.ts";

/**
 * Changes as bytes: MessagePack, with extensions for what it has no type for. Field names are written out,
 * so an older record stays readable when a row gains an optional field.
 */

/** Version of the encoding. Raised when a table is added or the meaning of a field changes; older versions stay readable. */
export const CHANGES_FORMAT = 2;

/** Extension types; part of the format. Numbers in typed arrays are little-endian, as on every machine Node runs LanceDB on. */
const FLOAT32_ARRAY = 1;
const INT8_ARRAY = 2;
/** An object with a key of `__proto__`, which MessagePack's decoder refuses: keys and values in turn. */
const ENTRIES = 3;

const extensionCodec: ExtensionCodecType<undefined> = {
  tryToEncode(value) {
    if (value instanceof Float32Array) return new ExtData(FLOAT32_ARRAY, bytesOf(value));
    if (value instanceof Int8Array) return new ExtData(INT8_ARRAY, bytesOf(value));
    if (typeof value === "object" && value !== null && Object.hasOwn(value, "__proto__")) {
      const entries = Object.entries(value).filter(([, member]) => member !== undefined);
      return new ExtData(ENTRIES, encoder.encode(entries.flat(1)));
    }
    return null;
  },
  // Copied: a row must not keep the whole segment it was read from in memory, and floats need their alignment.
  decode(data, type) {
    if (type === FLOAT32_ARRAY) return new Float32Array(new Uint8Array(data).buffer);
    if (type === INT8_ARRAY) return new Int8Array(new Uint8Array(data).buffer);
    if (type === ENTRIES) return Object.fromEntries(inPieces(decoder.decode(data) as [string, unknown][], 2));
    throw new RangeError(`unknown extension ${type}`);
  },
};

const encoder: Encoder = new Encoder({ extensionCodec, ignoreUndefined: true });
const decoder: Decoder = new Decoder({ extensionCodec });

/**
 * Encodes changes piece by piece, so that a large write need not be one long step. The pieces in a row are what
 * `decodeChanges` reads; each is valid only until the next is asked for.
 *
 * Exact for what rows hold: well-formed strings, numbers (but −0 becomes 0), null, typed arrays, nested metadata
 * with any key. A property that is undefined is left out.
 *
 * @param erases the user whose data the changes erase.
 * @throws {Error} for a value that no row may hold, or metadata nested deeper than 90 levels.
 */
export function* encodeChanges(changes: readonly Change[], erases?: string): Generator<Uint8Array, void> {
  yield encoder.encodeSharedRef([CHANGES_FORMAT, changes.length, ...(erases === undefined ? [] : [erases])]);
  for (const { table, id, row } of changes) yield encoder.encodeSharedRef([table, id, row]);
}

/**
 * The decoded changes in order, and the users whose data they erase.
 *
 * @throws {ServiceError} STORE_UNUSABLE if a newer program wrote them.
 * @throws {Error} if the bytes are something else, or not all of it.
 */
export function decodeChanges(bytes: Uint8Array): {
  readonly changes: Change[];
  readonly erases: string | undefined;
} {
  const values = decoder.decodeMulti(bytes);
  const head: unknown = values.next().value;
  if (!Array.isArray(head) || !Number.isInteger(head[0])) throw new TypeError("not a list of changes");
  const [format, count, erases] = head;
  if (format > CHANGES_FORMAT)
    throw storeUnusable(
      `The data was written by a newer memoryd (record format ${format}, this one reads up to ${CHANGES_FORMAT}). ` +
        `Nothing was changed: use the newer program.`,
    );
  const changes: Change[] = [];
  for (const value of values) changes.push(toChange(value));
  if (changes.length !== count) throw new TypeError(`${changes.length} changes where ${count} were written`);
  return { changes, erases };
}

function toChange(value: unknown): Change {
  if (!Array.isArray(value) || value.length !== 3) throw new TypeError("not a change");
  const [table, id, row] = value;
  if (table !== "tokens" && !(typeof table === "string" && Object.hasOwn(TABLE_SPECS, table)))
    throw new TypeError(`unknown table ${String(table)}`);
  const missing = table === "tokens" ? undefined : TABLE_SPECS[table as LanceTable].missing;
  return {
    table,
    id,
    row: row === null || missing === undefined ? row : Object.assign(row, { ...missing, ...row }),
  };
}

function bytesOf(array: Float32Array | Int8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(array.buffer as ArrayBuffer, array.byteOffset, array.byteLength);
}
