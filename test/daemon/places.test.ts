import fc from "fast-check";
import { expect, it } from "vitest";
import { createPlaces } from "../../src/daemon/beside-store.ts";

const places = createPlaces("one");
const LARGEST = 2 ** 48 - 1;

it("opens what it sealed, also after a restart, for the same list and in the same store alone", () => {
  const number = fc.integer({ min: 0, max: LARGEST });
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 32 - 2 }), number, number, (list, place, skipped) => {
      const text = places.seal(list, place, skipped);
      expect(text).toMatch(/^[\w-]{22}$/);
      expect(createPlaces("one").open(list, text)).toEqual({ place, skipped });
      expect(places.open(list + 1, text)).toBeUndefined();
      expect(createPlaces("two").open(list, text)).toBeUndefined();
    }),
  );
});

it("opens nothing else", () => {
  const text = places.seal(1, 5);
  for (const other of [
    "",
    "x",
    "MS4yLjE",
    `${text}=`,
    ` ${text}`,
    text.slice(1),
    text.repeat(2),
    "-".repeat(22),
  ])
    expect(places.open(1, other)).toBeUndefined();
});

it("shows neither how near two places are nor which is first", () => {
  const bits = [...Array(200).keys()].map((n) => {
    const [a, b] = [places.seal(1, n), places.seal(1, n + 1)].map((text) => Buffer.from(text, "base64url"));
    return [...(a ?? [])].reduce(
      (sum, byte, i) => sum + (byte ^ (b?.[i] ?? 0)).toString(2).replaceAll("0", "").length,
      0,
    );
  });
  // Of 128 bits half differ.
  expect(Math.min(...bits)).toBeGreaterThan(30);
});
