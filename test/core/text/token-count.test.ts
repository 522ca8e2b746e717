import { readFileSync } from "node:fs";
import fc from "fast-check";
import { countTokens as cl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { countTokens as o200k } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { estimateTokens, withinTokens } from "../../../src/core/text/text-size.ts";

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
