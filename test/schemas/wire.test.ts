import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { BodyTime, Metadata, Time } from "../../src/schemas/fields.ts";
import { nullable, optional } from "../../src/schemas/shapes.ts";
import { fromWire, toWire } from "../../src/schemas/wire.ts";

const Schema = Type.Object({
  user_id: nullable(Type.String()),
  occurred_at: nullable(BodyTime),
  last_seen_at: nullable(Time),
  metadata: optional(Metadata),
  source: nullable(
    Type.Object({ start_ms: Type.Optional(Type.Integer()), fetched_at: Type.Optional(BodyTime) }),
  ),
  versions: Type.Array(Type.Object({ valid_from: BodyTime })),
  project: optional(Type.String()),
});
const time = Date.UTC(2026, 10, 22, 9, 30);

describe("a record on the wire", () => {
  const record = {
    userId: null,
    occurredAt: time,
    lastSeenAt: null,
    metadata: { some_key: 1, createdAt: 5, at: { b_c: null } },
    source: { startMs: 5, fetchedAt: 0 },
    versions: [{ validFrom: -1 }, { validFrom: time }],
    order: 9,
  };

  it("has the names and times of its schema, and its metadata as it is", () => {
    expect(toWire(Schema, record)).toEqual({
      user_id: null,
      occurred_at: "2026-11-22T09:30:00.000Z",
      last_seen_at: null,
      metadata: record.metadata,
      source: { start_ms: 5, fetched_at: "1970-01-01T00:00:00.000Z" },
      versions: [{ valid_from: "1969-12-31T23:59:59.999Z" }, { valid_from: "2026-11-22T09:30:00.000Z" }],
    });
  });

  it("comes back as it was", () => {
    const { order: _order, lastSeenAt: _seen, ...kept } = record;
    const { lastSeenAt: _none, ...back } = fromWire(Schema, toWire(Schema, record));
    expect(back).toEqual(kept);
  });

  it("has no field that may be left out and is null, and none that the schema does not name", () => {
    const body = {
      user_id: null,
      occurred_at: 5,
      last_seen_at: null,
      source: null,
      versions: [],
      project: null,
      zzz: 1,
    };
    expect(fromWire(Schema, body)).toEqual({
      userId: null,
      occurredAt: 5,
      lastSeenAt: null,
      source: null,
      versions: [],
    });
  });
});
