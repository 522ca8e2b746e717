import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inTurns } from "../../src/http/batch.ts";
import { parseJson } from "../../src/http/json-body.ts";
import { PIECE_BYTES } from "../../src/schemas/json-limits.ts";
import { times } from "../support/stress.ts";

const LIMITS = { elements: 1_000_000 };

/** The value, or undefined where a text is refused. */
async function read(text: string): Promise<unknown> {
  return parseJson(Buffer.from(text), LIMITS).catch(() => undefined);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Longer than a piece, so that commas between items are cut at. */
const filler = JSON.stringify('é,]}\\"[{:'.repeat(6_000));
const list = fc
  .array(fc.oneof(fc.json({ maxDepth: 3 }), fc.constant(filler)), { maxLength: 12 })
  .map((items) => `[${items.join(" ,\n")}]`);
const object = fc
  .array(fc.tuple(fc.constantFrom("a", "b", "__proto__", "0"), fc.oneof(list, fc.json())), { maxLength: 4 })
  .map((fields) => `{${fields.map(([name, value]) => `${JSON.stringify(name)}: ${value}`).join()}}`);

describe("a long body", () => {
  it("is what JSON.parse makes of it, and refused where that refuses it", async () => {
    await fc.assert(
      fc.asyncProperty(
        object,
        fc.nat(),
        fc.constantFrom("", ",", "]", "[", "}", '"', "0"),
        async (text, at, put) => {
          const whole = text + " ".repeat(PIECE_BYTES);
          expect(await read(whole)).toStrictEqual(parsed(whole));
          const place = at % text.length;
          for (const broken of [
            whole.slice(0, place) + put + whole.slice(place),
            whole.slice(0, place) + put + whole.slice(place + 1),
          ])
            expect(await read(broken)).toStrictEqual(parsed(broken));
        },
      ),
      { numRuns: times(60) },
    );
  });

  it.each([
    ["a comma at the end", (items: string) => `{"a":[${items},]}`],
    ["a comma at the beginning", (items: string) => `{"a":[,${items}]}`],
    ["a comma too many", (items: string) => `{"a":[${items},,0]}`],
    ["another bracket", (items: string) => `{"a":[${items}}]`],
    ["no bracket", (items: string) => `{"a":[${items}`],
    [
      "what is no JSON in a list that another one of its name hides",
      (items: string) => `{"a":[x,${items}],"a":[]}`,
    ],
  ])("with %s is no JSON", async (_name, broken) => {
    const items = Array.from({ length: 20 }, () => filler).join();
    expect(await read(`{"a":[${items}]}`)).toBeDefined();
    expect(await read(broken(items))).toBeUndefined();
  });
});

describe("long work", () => {
  it("lets others have their turn", async () => {
    let turns = 0;
    const count = () => {
      turns += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    const seen = await inTurns(
      (function* () {
        const seen: number[] = [];
        for (let step = 0; step < 4; step += 1) {
          for (const ends = performance.now() + 30; performance.now() < ends;);
          yield seen.push(turns);
        }
        return seen;
      })(),
    );
    clearImmediate(next);
    expect(seen).toEqual([...new Set(seen)]);
  });
});
