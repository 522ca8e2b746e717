import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { times } from "../support/stress.ts";
import { type JsonLimits, MAX_JSON_DEPTH, roundedInteger, scanJson } from "../../src/schemas/json-limits.ts";

function jsonExcess(bytes: Uint8Array, limits: JsonLimits): string | undefined {
  const steps = scanJson(bytes, limits);
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
}

const excess = (text: string, elements: number, elementsPerItem = elements) =>
  jsonExcess(Buffer.from(text), { elements, elementsPerItem });

it("finds whole numbers that would be rounded, in no string", () => {
  for (const json of ['{"a":1152921504606846977}', "[1, -9007199254740993]", "[10000000000000000000000]"])
    expect(roundedInteger(json)).toMatch(/^-?\d{16,}$/);
  for (const json of [
    '{"a":9007199254740992,"b":1152921504606847000}',
    '{"1152921504606846977":"1152921504606846977 \\" 1152921504606846977"}',
    "[0.12345678901234567, 1e20, 12345678901234567.5, 123, 1e1234567890123456, 1e-1234567890123456]",
    `["1234567890123456789${String.raw`\"`.repeat(5_000_000)}"]`,
  ])
    expect(roundedInteger(json)).toBeUndefined();
});

describe("limits of JSON", () => {
  it("count values, and not what stands in strings", () => {
    expect(excess("[1,2,3]", 4)).toBeUndefined();
    expect(excess("[1,2,3,4]", 4)).toMatch(/more than 4 elements/);
    expect(excess(String.raw`{"a":"[,,,{,\",,","b":"\\"}`, 3)).toBeUndefined();
  });

  it("find the end of every string, however long", () => {
    const piece = fc.constantFrom(
      "\\",
      '"',
      "\n",
      "[",
      "x",
      "x".repeat(70),
      "\\".repeat(65),
      '\\"'.repeat(40),
    );
    const isLines = fc.boolean();
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), isLines, (pieces, isLines) => {
        const text = pieces.join("");
        let elements = 1;
        for (let i = 0, isString = false; i < text.length; i += 1) {
          if (text[i] === "\n") isString = false;
          else if (isString && text[i] === "\\" && text[i + 1] !== "\n") i += 1;
          else if (text[i] === '"') isString = !isString;
          else if (text[i] === "[" && !isString) elements += 1;
        }
        const limited = (most: number) => jsonExcess(Buffer.from(text), { elements: most, isLines });
        expect(limited(elements)).toBeUndefined();
        if (elements > 1) expect(limited(elements - 1)).toBeDefined();
      }),
      { numRuns: times(2_000) },
    );
  });

  it("never count fewer values than there are", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { minLength: 1 }), (value) => {
        expect(excess(JSON.stringify(value), count(value) - 1)).toBeDefined();
        expect(excess(JSON.stringify(value), 2 * count(value) + 1)).toBeUndefined();
      }),
    );
  });

  it("bound the depth", () => {
    const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
    expect(excess(nested(MAX_JSON_DEPTH), 1_000)).toBeUndefined();
    expect(excess(nested(MAX_JSON_DEPTH + 1), 1_000)).toMatch(/nested/);
    expect(excess("[".repeat(1_000_000), 2_000_000)).toMatch(/nested/);
  });

  it("hold for lines that are broken, and for those after them", () => {
    const lines = (text: string) => jsonExcess(Buffer.from(text), { elements: 200, isLines: true });
    const nested = "[".repeat(MAX_JSON_DEPTH + 1);
    for (const broken of ['{"a', '{"a\\', "]".repeat(1_000)]) {
      expect(lines(`${broken}\n[${"0,".repeat(300)}0]`)).toMatch(/more than 200/);
      expect(lines(`${broken}\n${nested}`)).toMatch(/nested/);
    }
    expect(lines("[[[\n".repeat(60))).toBeUndefined();
  });

  it("hold for each item of a batch, and for all together", () => {
    const batch = (...items: number[]) =>
      JSON.stringify({ memories: items.map((length) => ({ tags: Array.from({ length }, () => 0) })) });
    expect(excess(batch(8, 8, 8), 100, 12)).toBeUndefined();
    expect(excess(batch(8, 20, 8), 100, 12)).toMatch(/an item with more than 12/);
    expect(excess(batch(8, 8, 8), 20, 12)).toMatch(/more than 20/);
  });
});

function count(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return 1 + Object.values(value).reduce((sum: number, each) => sum + count(each), 0);
}
