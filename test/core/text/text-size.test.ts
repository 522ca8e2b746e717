import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutWords, sizeOf, estimateTokens, withinTokens } from "../../../src/core/text/text-size.ts";
import { readFileSync } from "node:fs";
import { countTokens as cl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { countTokens as o200k } from "gpt-tokenizer/encoding/o200k_base";

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

describe("estimateTokens", () => {
  it.each(["README.md", "docs/agents.md", "docs/http-api.md", "docs/design/README.md"])(
    "is not under what two tokenizers count for the English of %s, in pieces of a few lines",
    (page) => {
      const text = readFileSync(new URL(`../../../${page}`, import.meta.url), "utf8");
      const lines = text.split("\n").filter((line) => line.trim() !== "");
      for (let at = 0; at < lines.length; at += 10) {
        const piece = lines.slice(at, at + 10).join("\n");
        const counted = Math.max(o200k(piece), cl100k(piece));
        if (estimateTokens(piece) < counted) expect.fail(`${counted} tokens, estimated fewer: ${piece}`);
      }
    },
  );

  it("grows with the text, so that a cut text fits", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), fc.nat(80), (text, tokens) => {
        const cut = withinTokens(text, tokens);
        expect(text.startsWith(cut)).toBe(true);
        expect(estimateTokens(cut)).toBeLessThanOrEqual(tokens);
      }),
    );
  });
});
