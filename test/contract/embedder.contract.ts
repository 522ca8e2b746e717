import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  EMBEDDING_DIMENSIONS,
  MAX_TOKENS,
  TOKEN_DIMENSIONS,
  TOKEN_SCALE,
  type TokenVectors,
} from "../../src/core/embedding.ts";
import type { Embedder } from "../../src/core/ports.ts";
import { times } from "../support/stress.ts";

/** Every Embedder passes these tests: the bundled model, and the fake that other tests rely on. */
export function embedderContract(
  name: string,
  openEmbedder: () => Promise<Embedder & { close?(): Promise<void> }>,
) {
  describe(`${name} keeps the Embedder contract`, () => {
    let embedder: Awaited<ReturnType<typeof openEmbedder>>;
    beforeAll(async () => {
      embedder = await openEmbedder();
    });
    afterAll(() => embedder.close?.());

    it("gives equal text equal vectors, whether alone or among others", async () => {
      const text = "The boiler was serviced on 3 March by Anna.";
      const alone = await embedder.embedDocument(text);
      const [among] = await Promise.all([
        embedder.embedDocument(text),
        embedder.embedDocument("Something else"),
        embedder.embedQuestion(text),
      ]);
      expect(among).toEqual(alone);
    });

    it("puts a question nearer to the text it is about", async () => {
      const question = await embedder.embedQuestion("when was the boiler serviced?");
      const about = await embedder.embedDocument("The boiler was serviced on 3 March by Anna.");
      const other = await embedder.embedDocument("My sister prefers trains to planes.");
      expect(cosine(question.vector, first(about.windows))).toBeGreaterThan(
        cosine(question.vector, first(other.windows)) + 0.2,
      );
    });

    it("names the whole word of each of a question's tokens, without stop words", async () => {
      const { words, tokens } = await embedder.embedQuestion("Where did Melanie's pottery workshop move to?");
      expect(words).toHaveLength(rows(tokens).length);
      expect([...new Set(words)]).toEqual(["melanie", "pottery", "workshop", "move"]);
    });

    it("keeps all tokens of a question that has only stop words", async () => {
      const { words, tokens } = await embedder.embedQuestion("Who am I?");
      expect(words).toEqual(["who", "am", "i"]);
      expect(rows(tokens)).toHaveLength(3);
    });

    it("finds a question's word among the text's token vectors", async () => {
      const { tokens, words } = await embedder.embedQuestion("pottery");
      expect(words.length).toBeGreaterThan(0);
      const match = bestMatch(
        tokens,
        (await embedder.embedDocument("She signed up for a pottery class.")).tokens,
      );
      const other = bestMatch(
        tokens,
        (await embedder.embedDocument("The train to Leipzig was late.")).tokens,
      );
      expect(match).toBeGreaterThan(0.5);
      expect(match).toBeLessThan(1.1);
      expect(other).toBeLessThan(match - 0.2);
    });

    it.each([
      ["empty", ""],
      ["white space", " \n\t "],
      ["punctuation", "?!…—"],
      ["zero-width", "\u200b\u200d\ufeff"],
      ["lone surrogates", "\ud83d x \udc00"],
      ["NUL", "a\u0000b"],
      ["emoji", "🎉🎉 👨‍👩‍👧‍👦"],
      ["Chinese", "我昨天在柏林买了一辆自行车。"],
    ])("gives %s text valid vectors", async (_, text) => {
      expectValid(await embedder.embedDocument(text));
      const question = await embedder.embedQuestion(text);
      expect(Math.hypot(...question.vector)).toBeCloseTo(1, 4);
      expect(question.words).toHaveLength(rows(question.tokens).length);
    });

    it("gives any text valid vectors", async () => {
      await fc.assert(
        fc.asyncProperty(fc.string({ unit: "binary", maxLength: 200 }), async (text) => {
          expectValid(await embedder.embedDocument(text));
        }),
        { numRuns: times(10) },
      );
    });

    it("embeds the whole of a long text, in windows", async () => {
      const filler = "We talked about the weather and had another cup of tea in the garden. ".repeat(60);
      const long = await embedder.embedDocument(`${filler}The spare key is under the blue flowerpot.`);
      expectValid(long);
      expect(long.windows.length).toBeGreaterThan(2);
      const { vector, tokens } = await embedder.embedQuestion("spare key under the blue flowerpot");
      const nearness = long.windows.map((window) => cosine(vector, window));
      expect(nearness.indexOf(Math.max(...nearness))).toBe(long.windows.length - 1);
      expect(bestMatch(tokens, long.tokens)).toBeGreaterThan(0.5);
    });

    it(`keeps at most ${MAX_TOKENS} token vectors`, async () => {
      const long = Array.from({ length: 1_200 }, (_, i) => `item ${i}`).join(" ");
      const { tokens } = await embedder.embedDocument(long);
      expect(rows(tokens)).toHaveLength(MAX_TOKENS);
    }, 60_000);

    it("answers a question that is longer than it can read", async () => {
      const question = await embedder.embedQuestion("why does the boiler leak ".repeat(400));
      expect(Math.hypot(...question.vector)).toBeCloseTo(1, 4);
      expect(rows(question.tokens).length).toBeLessThanOrEqual(512);
    });
  });
}

function expectValid({ windows, tokens }: { windows: readonly Float32Array[]; tokens: TokenVectors }) {
  expect(windows.length).toBeGreaterThan(0);
  for (const window of windows) {
    expect(window).toHaveLength(EMBEDDING_DIMENSIONS);
    expect(Math.hypot(...window)).toBeCloseTo(1, 4);
  }
  expect(tokens.vectors).toBeInstanceOf(Int8Array);
  expect(tokens.vectors.length % TOKEN_DIMENSIONS).toBe(0);
  expect(tokens.vectors.length).toBeLessThanOrEqual(MAX_TOKENS * TOKEN_DIMENSIONS);
}

function rows({ vectors }: TokenVectors): Int8Array[] {
  return Array.from({ length: vectors.length / TOKEN_DIMENSIONS }, (_, row) =>
    vectors.subarray(row * TOKEN_DIMENSIONS, (row + 1) * TOKEN_DIMENSIONS),
  );
}

/** Mean over the question's tokens of the cosine with the nearest token of the text. */
function bestMatch(question: TokenVectors, text: TokenVectors): number {
  const best = rows(question).map((q) => Math.max(...rows(text).map((t) => dot(q, t) / TOKEN_SCALE ** 2)));
  return best.reduce((sum, x) => sum + x, 0) / best.length;
}

function cosine(a: Float32Array, b: Float32Array): number {
  return dot(a, b);
}

function dot(a: Float32Array | Int8Array, b: Float32Array | Int8Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}

function first<T>(items: readonly T[]): T {
  const [item] = items;
  if (item === undefined) throw new Error("expected at least one");
  return item;
}
