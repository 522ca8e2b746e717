import { describe, afterAll, beforeAll, expect, it } from "vitest";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createHash } from "node:crypto";
import { TOKEN_DIMENSIONS } from "../../src/core/embedding.ts";
import { FORMER_E5, MEMORYD_E5, MINILM } from "../../src/models/bundled-models.ts";
import { type ModelEmbedder, openEmbedder, thinTokens } from "../../src/models/onnx-embedder.ts";
import { embedderContract } from "../contract/embedder.contract.ts";
import fc from "fast-check";

embedderContract("all-MiniLM-L6-v2", () => openEmbedder(MINILM, { workers: 1 }));
embedderContract("memoryd-e5-small-2", () => openEmbedder(MEMORYD_E5, { workers: 1 }));
embedderContract("memoryd-e5-small", () => openEmbedder(FORMER_E5, { workers: 1 }));

describe("openEmbedder", () => {
  let embedder: ModelEmbedder;
  beforeAll(async () => {
    embedder = await openEmbedder(MINILM, { workers: 1 });
  });
  afterAll(() => embedder.close());

  it("names what its vectors are made with", () => {
    expect(embedder.name).toBe("all-MiniLM-L6-v2");
    expect(embedder.stamp).toMatchObject({
      model: MINILM.files.model.sha256,
      projection: MINILM.files.projection.sha256,
      pooling: "mean",
    });
  });

  it("finds what means the same in other words", async () => {
    const { vector } = await embedder.embedQuestion("Which pet does she own?");
    const near = await embedder.embedDocument("Caroline adopted a small dog from the shelter.");
    const far = await embedder.embedDocument("The quarterly invoice was paid late.");
    const cosine = (other: Float32Array | undefined) =>
      vector.reduce((sum, x, i) => sum + x * (other?.[i] ?? 0), 0);
    expect(cosine(near.windows[0])).toBeGreaterThan(cosine(far.windows[0]) + 0.1);
  });

  it("keeps the embeddings of the questions asked last", async () => {
    const first = await embedder.embedQuestion("Who has the key?");
    expect(await embedder.embedQuestion("Who has the key?")).toBe(first);
    for (let i = 0; i < 64; i += 1) await embedder.embedQuestion(`Who has key ${i}?`);
    const again = await embedder.embedQuestion("Who has the key?");
    expect(again).not.toBe(first);
    expect(again).toEqual(first);
  });

  it("keeps no tokens of stop words and punctuation", async () => {
    const { tokens } = await embedder.embedDocument("The dog was in the garden, and it barked!");
    expect(tokens.vectors.length / TOKEN_DIMENSIONS).toBe(3); // dog, garden, barked
  });

  it.each([
    ["one word", "a".repeat(5_000)],
    ["emoji", "🎉".repeat(10_000)],
    ["Chinese", "漢".repeat(2_000)],
    ["zero-width", "\u200b".repeat(200_000)],
    ["white space", " ".repeat(200_000)],
    ["lone surrogates", "\ud800".repeat(200_000)],
    ["NUL", "\0".repeat(200_000)],
  ])("embeds very long text of nothing but %s", async (_, text) => {
    const { windows, tokens } = await embedder.embedDocument(text);
    expect(windows.length).toBeGreaterThan(0);
    expect(windows.every((window) => Math.abs(Math.hypot(...window) - 1) < 1e-3)).toBe(true);
    expect(tokens.vectors.length % TOKEN_DIMENSIONS).toBe(0);
  });

  it("answers a question before the rest of a long text", async () => {
    const order: string[] = [];
    const long = embedder
      .embedDocument("The garden was full of roses. ".repeat(400))
      .then(() => order.push("long"));
    await embedder.embedQuestion("where are the roses?").then(() => order.push("question"));
    await long;
    expect(order).toEqual(["question", "long"]);
  });

  it("refuses more than may wait, and says when to try again", async () => {
    const small = await openEmbedder(MINILM, { workers: 1, maxWaitingTexts: 2 });
    const admitted = [small.embedDocument("a"), small.embedDocument("b")];
    expect(small.waiting).toBe(2);
    await expect(small.embedDocument("c")).rejects.toMatchObject({
      code: "RATE_LIMITED",
      retryAfterSeconds: 1,
    });
    await Promise.all(admitted);
    expect(small.waiting).toBe(0);
    await small.close();
  });

  it("refuses texts once closed, and closes twice", async () => {
    const closed = await openEmbedder(MINILM, { workers: 1 });
    await Promise.all([closed.close(), closed.close()]);
    expect(closed.workers).toBe(0);
    await expect(closed.embedDocument("a")).rejects.toMatchObject({ code: "NOT_READY" });
  });

  it("says which file is missing", async () => {
    const path = join(import.meta.dirname, "no-such-model.onnx");
    const model = { ...MINILM, files: { ...MINILM.files, model: { path, sha256: "" } } };
    await expect(openEmbedder(model)).rejects.toMatchObject({
      code: "MODEL_UNAVAILABLE",
      message: expect.stringContaining(path) as string,
    });
  });
});

describe("the token projection", () => {
  it("is the one its description tells of", () => {
    const description = JSON.parse(
      readFileSync(MINILM.files.projection.path.replace(/bin$/, "json"), "utf8"),
    ) as object;
    const sha256 = createHash("sha256").update(readFileSync(MINILM.files.projection.path)).digest("hex");
    expect(description).toMatchObject({
      sha256,
      modelSha256: MINILM.files.model.sha256,
      rows: 384,
      columns: TOKEN_DIMENSIONS,
    });
    expect(sha256).toBe(MINILM.files.projection.sha256);
  });
});

describe("thin tokens", () => {
  const ids = fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 60 });

  describe("thinTokens", () => {
    it("keeps first uses before second ones, and of the last round evenly spread ones", () => {
      // First uses: 0, 1, 4, 6. Second uses: 2, 3, 5, 7, of which two have room.
      expect(thinTokens([7, 8, 7, 8, 9, 9, 5, 5], 6)).toEqual([0, 1, 3, 4, 6, 7]);
    });

    it("keeps exactly as many as there is room for, in order", () => {
      fc.assert(
        fc.property(ids, fc.integer({ min: 0, max: 60 }), (pieceIds, max) => {
          const kept = thinTokens(pieceIds, max);
          expect(kept).toHaveLength(Math.min(max, pieceIds.length));
          expect(kept).toEqual([...new Set(kept)].sort((a, b) => a - b));
          for (const index of kept) expect(pieceIds[index]).toBeDefined();
        }),
      );
    });

    it("drops no piece altogether while there is room for all", () => {
      fc.assert(
        fc.property(ids, (pieceIds) => {
          const kinds = new Set(pieceIds);
          expect(new Set(thinTokens(pieceIds, kinds.size).map((index) => pieceIds[index]))).toEqual(kinds);
        }),
      );
    });
  });
});
