import { encode } from "@msgpack/msgpack";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Metadata } from "../../src/core/memory.ts";
import type { Change, EdgeRow, MemoryRow, RequestRow, VectorRow } from "../../src/core/rows.ts";
import { CHANGES_FORMAT, decodeChanges, encodeChanges } from "../../src/storage/codec.ts";
import { factRow } from "../support/fact-row.ts";
import { memoryRow } from "../support/memory-row.ts";

function encodeWhole(changes: readonly Change[]): Buffer {
  return Buffer.concat(Array.from(encodeChanges(changes), (piece) => piece.slice()));
}

function throughBytes(changes: readonly Change[]): Change[] {
  return decodeChanges(encodeWhole(changes)).changes;
}

function withMetadata(metadata: Metadata): Change {
  return { table: "memories", id: "a", row: memoryRow({ id: "a", metadata }) };
}

function rowOf(change: Change | undefined): Change["row"] {
  if (change === undefined) throw new TypeError("no such change");
  return change.row;
}

const text = fc.string({ unit: "binary" });
const id = fc.oneof(fc.uuid(), text);
const time = fc.integer({ min: 0, max: 8.64e15 });
/** Bit patterns, so that NaNs and subnormals are among them. */
const floats = fc.uint8Array({ minLength: 4, maxLength: 64 }).map((bytes) => {
  return new Float32Array(bytes.slice(0, bytes.length & ~3).buffer);
});
const metadata = fc
  .dictionary(
    fc.oneof(fc.constantFrom("__proto__", "constructor", "toString", "", "0"), text),
    fc.jsonValue({ noUnicodeString: false, maxDepth: 6 }),
  )
  .map((value) => JSON.parse(JSON.stringify(value)) as Metadata);
const row = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });

const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({
    table: fc.constant("memories" as const),
    id,
    row: row(
      fc
        .record({ metadata, content: text, createdAt: time, order: fc.nat() })
        .map((fields) => memoryRow({ id: "a", ...fields })),
    ),
  }),
  fc.record({
    table: fc.constant("vectors" as const),
    id,
    row: row(fc.record({ userId: row(text), windows: fc.array(floats), stamp: text })),
  }),
  fc.record({
    table: fc.constant("tokens" as const),
    id,
    row: row(fc.record({ vectors: fc.int8Array({ maxLength: 300 }), stamp: text })),
  }),
  fc.record({
    table: fc.constant("signals" as const),
    id,
    row: row(fc.record({ salience: fc.double({ min: Number.MIN_VALUE, max: 1 }), lastSeenAt: time })),
  }),
  fc.record({
    table: fc.constant("edges" as const),
    id,
    row: row(
      fc.record<EdgeRow>({
        source: id,
        target: id,
        kind: fc.constantFrom("updates", "link"),
        weight: fc.double({ min: 0.01, max: 1 }),
        createdAt: time,
      }),
    ),
  }),
  fc.record({
    table: fc.constant("facts" as const),
    id,
    row: row(
      fc
        .record({ id, object: text, metadata, validFrom: time, validTo: row(time) })
        .map((fields) => factRow(fields)),
    ),
  }),
  fc.record({
    table: fc.constant("requests" as const),
    id,
    row: row(fc.record<RequestRow>({ bodyHash: text, ids: fc.array(row(id)), createdAt: time })),
  }),
);

describe("encodeChanges and decodeChanges", () => {
  it("keep every bit of what rows hold", () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 8 }), (changes) => {
        const decoded = throughBytes(changes);
        expect(decoded).toEqual(changes);
        for (const [i, { row }] of changes.entries()) {
          if (row === null || !("windows" in row)) continue;
          const windows = (rowOf(decoded[i]) as typeof row).windows;
          expect(windows.map(bits)).toEqual(row.windows.map(bits));
        }
      }),
    );
  });

  it("keep typed arrays that are part of a larger buffer, each in memory of its own", () => {
    const whole = Float32Array.of(1, 2, 3, 4);
    const changes = throughBytes([
      { table: "vectors", id: "a", row: { userId: null, windows: [whole.subarray(1, 3)], stamp: "s" } },
    ]);
    const [window] = (rowOf(changes[0]) as VectorRow).windows;
    expect(window).toEqual(Float32Array.of(2, 3));
    expect(window?.buffer.byteLength).toBe(8);
  });

  it("keep a key of __proto__ as a key, at any depth", () => {
    const evil = JSON.parse('{"a":{"__proto__":{"admin":true,"__proto__":1}},"__proto__":[2]}') as Metadata;
    const [decoded] = throughBytes([withMetadata(evil)]);
    const metadata = (rowOf(decoded) as MemoryRow).metadata;
    expect(JSON.stringify(metadata)).toBe(JSON.stringify(evil));
    expect(Object.getPrototypeOf(metadata)).toBe(Object.prototype);
    expect("admin" in metadata).toBe(false);
  });

  it("leave out what is undefined", () => {
    const [decoded] = throughBytes([withMetadata({ a: 1, b: undefined } as unknown as Metadata)]);
    expect(Object.keys((rowOf(decoded) as MemoryRow).metadata)).toEqual(["a"]);
    const evil = JSON.parse('{"__proto__":1,"b":2}') as Record<string, unknown>;
    evil["b"] = undefined;
    const [beside] = throughBytes([withMetadata(evil as Metadata)]);
    expect(JSON.stringify((rowOf(beside) as MemoryRow).metadata)).toBe('{"__proto__":1}');
  });

  it("keep text in any script, and half a million characters of it", () => {
    const content = "añ漢字🙂\u0000\u2028".repeat(60_000);
    const [decoded] = throughBytes([{ table: "memories", id: "a", row: memoryRow({ id: "a", content }) }]);
    expect((rowOf(decoded) as MemoryRow).content).toBe(content);
  });

  it("refuse what no row may hold, and metadata without an end", () => {
    const circular: Record<string, unknown> = {};
    circular["self"] = circular;
    expect(() => encodeWhole([withMetadata(circular as Metadata)])).toThrow(/Too deep/);
    expect(() => encodeWhole([withMetadata({ a: 1n } as unknown as Metadata)])).toThrow();
    expect(throughBytes([withMetadata({ fine: "afterwards" })])).toHaveLength(1);
  });

  it("read what they wrote at the deepest nesting they take", () => {
    const nested = (key: string, levels: number) => {
      return withMetadata(JSON.parse(`${`{"${key}":`.repeat(levels)}1${"}".repeat(levels)}`) as Metadata);
    };
    for (const deep of [nested("a", 90), nested("__proto__", 90)]) {
      expect(JSON.stringify(throughBytes([deep]))).toBe(JSON.stringify([deep]));
    }
    expect(() => encodeWhole([nested("a", 100)])).toThrow(/Too deep/);
  });

  it("refuse a newer format with a sentence", () => {
    const newer = encode([CHANGES_FORMAT + 1, 0]);
    expect(() => decodeChanges(newer)).toThrow(
      expect.objectContaining({ code: "STORE_UNUSABLE", message: expect.stringContaining("newer memoryd") }),
    );
  });

  it("refuse an unknown table, a change too few, and other bytes", () => {
    const unknown = Buffer.concat([encode([CHANGES_FORMAT, 1]), encode(["toString", "a", null])]);
    expect(() => decodeChanges(unknown)).toThrow("unknown table toString");
    expect(() => decodeChanges(encode([CHANGES_FORMAT, 1]))).toThrow("0 changes where 1 were written");
    for (const bytes of [Buffer.alloc(0), Buffer.alloc(8), Buffer.from("hello"), encode({})]) {
      expect(() => decodeChanges(bytes)).toThrow();
    }
  });
});

function bits(array: Float32Array): string {
  return Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString("hex");
}
