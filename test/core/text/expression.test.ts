import { describe, expect, it } from "vitest";
import { expression } from "../../../src/core/text/expression.ts";

const signsBetween = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, place) => String.fromCodePoint(from + place));
/** Of which two expressions say different things. */
const unlike = (signs: readonly string[], one: RegExp, other: RegExp): string[] =>
  signs.filter((sign) => one.test(sign) !== other.test(sign));

describe("expression", () => {
  it.each([
    [String.raw`^\p{L}$`, /^\p{L}$/u],
    [String.raw`^[\p{L}\p{N}]$`, /^[\p{L}\p{N}]$/u],
    [String.raw`^[^\p{L}'\]]$`, /^[^\p{L}'\]]$/u],
    [String.raw`^\[?\p{L}(?!\p{N})`, /^\[?\p{L}(?!\p{N})/u],
  ])("reads each sign of the first plane as %s", (source, native) => {
    expect(unlike(signsBetween(0, 0x1_00_00), expression(source), native)).toEqual([]);
  });

  it("has every letter beyond, and no emoji, sign of music or private sign", () => {
    const letter = expression(String.raw`^\p{L}$`);
    const letters = signsBetween(0x1_00_00, 0x4_00_00).filter((sign) => /\p{L}/u.test(sign));
    expect(letters.filter((sign) => !letter.test(sign))).toEqual([]);
    expect(["🎉", "🇩", "𝄞", "🁂", "\u{f0000}"].filter((sign) => letter.test(sign))).toEqual([]);
  });

  it("leaves a source as it is that would become too long for V8 to optimise", () => {
    const source = Array.from({ length: 100 }, (_, i) => String.raw`word${i}\p{L}*`).join("|");
    expect(expression(source, "g")).toEqual(new RegExp(source, "gu"));
  });
});
