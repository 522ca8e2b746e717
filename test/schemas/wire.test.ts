import { describe, expect, it } from "vitest";
import { Type } from "typebox";
import { BodyTime, Metadata, Time } from "../../src/schemas/fields.ts";
import { nullable, optional } from "../../src/schemas/shapes.ts";
import {
  fromWire,
  toWire,
  formatTime,
  parseQueryTime,
  parseTime,
  QUERY_TIME_PATTERN,
  TIME_PATTERN,
} from "../../src/schemas/wire.ts";
import fc from "fast-check";

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

describe("time", () => {
  const years1To9999 = fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 });

  describe("parseTime", () => {
    it.each([
      ["2026-11-21", Date.UTC(2026, 10, 21)],
      ["2026-11-21T10:15:00Z", Date.UTC(2026, 10, 21, 10, 15)],
      ["2026-11-21t10:15:00z", Date.UTC(2026, 10, 21, 10, 15)],
      ["2026-11-21 10:15:00", Date.UTC(2026, 10, 21, 10, 15)],
      ["2026-11-21T10:15:00.1239Z", Date.UTC(2026, 10, 21, 10, 15, 0, 123)],
      ["2026-11-21T10:15:00.5Z", Date.UTC(2026, 10, 21, 10, 15, 0, 500)],
      ["2026-11-21T10:15:00+02:00", Date.UTC(2026, 10, 21, 8, 15)],
      ["2026-11-21T00:15:00+02:00", Date.UTC(2026, 10, 20, 22, 15)],
      ["2026-11-21T10:15:00-05:30", Date.UTC(2026, 10, 21, 15, 45)],
      ["2024-02-29", Date.UTC(2024, 1, 29)],
      ["0099-01-01", new Date("0099-01-01T00:00:00Z").getTime()],
      [1_763_720_100_000, 1_763_720_100_000],
      [0, 0],
      [-1, -1],
    ])("reads %j", (text, time) => {
      expect(parseTime(text)).toBe(time);
    });

    it("reads what formatTime writes", () => {
      fc.assert(
        fc.property(years1To9999, (time) => {
          expect(parseTime(formatTime(time))).toBe(time);
        }),
      );
    });

    it.each([
      "2026-02-30",
      "2025-02-29",
      "2026-13-01",
      "2026-00-10",
      "2026-11-21T24:00:00Z",
      "2026-11-21T10:60:00Z",
      "2026-11-21T10:15:60Z",
      "2026-11-21T10:15Z",
      "2026-11-21T10:15:00+24:00",
      "2026-11-21T10:15:00 02:00",
      "2020",
      "1763720100000",
      "yesterday",
      "",
      " 2026-11-21",
      "2026-11-21\n",
      "0000-01-01",
      "0001-01-01T00:00:00+01:00",
      1.5,
      Number.NaN,
      1e300,
      true,
      null,
      undefined,
      {},
    ])("refuses %j", (text) => {
      expect(parseTime(text)).toBeUndefined();
    });
  });

  describe("parseQueryTime", () => {
    it.each([
      ["1763720100000", 1_763_720_100_000],
      ["1763720100", 1_763_720_100],
      ["-1763720100000", -1_763_720_100_000],
      ["2026-11-21", Date.UTC(2026, 10, 21)],
      ["2026-11-21T10:15:00 02:00", Date.UTC(2026, 10, 21, 8, 15)],
    ])("reads %j", (text, time) => {
      expect(parseQueryTime(text)).toBe(time);
    });

    it.each(["2020", "176372010", "99999999999999999", "", "2026-02-30"])("refuses %j", (text) => {
      expect(parseQueryTime(text)).toBeUndefined();
    });
  });

  describe("the patterns", () => {
    it("match every time that is read", () => {
      fc.assert(
        fc.property(years1To9999, (time) => {
          expect(formatTime(time)).toMatch(new RegExp(TIME_PATTERN, "u"));
          expect(formatTime(time)).toMatch(new RegExp(QUERY_TIME_PATTERN, "u"));
        }),
      );
    });
  });
});
