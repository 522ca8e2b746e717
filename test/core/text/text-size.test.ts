import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutWords, sizeOf } from "../../../src/core/text/text-size.ts";

const anyText = fc.string({
  unit: fc.constantFrom("a", "é", " ", "\n", "\u3000", "字", "か", "ย", "한", "𠀀", "😀", "\ud840"),
  maxLength: 400,
});

describe("sizeOf", () => {
  it("counts words, half the characters of scripts without spaces, and long strings by length", () => {
    expect(sizeOf("three short words")).toBe(3);
    expect(sizeOf("字字字字")).toBe(3);
    expect(sizeOf("𠀀𠀀")).toBe(2);
    expect(sizeOf("x".repeat(120))).toBe(10);
    expect(sizeOf("")).toBe(0);
  });

  it("counts what regular expressions find", () => {
    const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Thai}]/gu;
    fc.assert(
      fc.property(anyText, (text) => {
        const words = text.match(/\S+/g)?.length ?? 0;
        const unspaced = text.match(UNSPACED)?.length ?? 0;
        expect(sizeOf(text)).toBe(Math.max(words + unspaced / 2, text.length / 12));
      }),
    );
  });
});

describe("cutWords", () => {
  it("loses nothing but space, and passes the size by no more than a character", () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 20 }), (text, full) => {
        const pieces = cutWords(text, full);
        expect(pieces.join("").replaceAll(/\s/g, "")).toBe(text.replaceAll(/\s/g, ""));
        for (const piece of pieces) {
          expect(piece).toBe(piece.trim());
          expect(piece).not.toBe("");
          expect(sizeOf(piece)).toBeLessThanOrEqual(full + 2);
        }
      }),
    );
  });
});
