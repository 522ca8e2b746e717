import { describe, expect, it } from "vitest";
import { traitsOf } from "../../../src/core/recall/traits.ts";
import { TOKEN_DIMENSIONS, TOKEN_SCALE } from "../../../src/core/embedding.ts";
import { matchSameWords, matchTokens } from "../../../src/core/recall/gather-candidates.ts";

/** Tokens along axes, at the length of a cosine of 1. */
const tokens = (...axes: number[]) => {
  const vectors = new Int8Array(axes.length * TOKEN_DIMENSIONS);
  for (const [i, axis] of axes.entries()) vectors[i * TOKEN_DIMENSIONS + axis] = Math.min(127, TOKEN_SCALE);
  return vectors;
};
const same = Math.min(127, TOKEN_SCALE) ** 2 / TOKEN_SCALE ** 2;

describe("matchTokens", () => {
  it("gives each token of the question its nearest in each memory", () => {
    const [first, second] = matchTokens(tokens(0, 1), [tokens(1, 2), tokens(0, 3, 1)]);
    expect([...(first ?? [])]).toEqual([0, Math.fround(same)]);
    expect([...(second ?? [])]).toEqual([Math.fround(same), Math.fround(same)]);
  });

  it("counts what stands far down in a long memory for less", () => {
    const far = tokens(...Array.from({ length: 140 }, () => 1), 0);
    const [match] = matchTokens(tokens(0), [far]);
    expect(match?.[0]).toBeCloseTo(0.85 * same);
  });

  it("gives nothing to memories without tokens, wherever they stand, and to a question without", () => {
    const matches = matchTokens(tokens(0), [undefined, tokens(0), new Int8Array(), tokens(1)]);
    expect(matches.map(([match]) => match)).toEqual([0, Math.fround(same), 0, 0]);
    expect(matchTokens(new Int8Array(), [tokens(0)])).toEqual([new Float32Array()]);
    expect(matchTokens(tokens(0), [])).toEqual([]);
  });
});

describe("matchSameWords", () => {
  it("raises the tokens of words that a note has, and none of a turn of a conversation", () => {
    const having = [() => false, (ordinal: number) => ordinal !== 2];
    const of = (ordinal: number, content: string, sessionId: string | null = null) => ({
      ordinal,
      sessionId,
      traits: traitsOf(content),
    });
    const candidates = [of(0, "oak 52"), of(1, "oak"), of(2, "elm"), of(3, "Ida: oak?", "talk")];
    const matches = [0.2, 0.9, 0.2, 0.2].map((match) => Float32Array.of(match, match));
    matchSameWords(having, candidates, matches);
    const rounded = matches.map((own) => [...own].map((match) => Number(match.toFixed(1))));
    expect(rounded).toEqual([
      [0.2, 0.7],
      [0.9, 0.9],
      [0.2, 0.2],
      [0.2, 0.2],
    ]);
  });
});
