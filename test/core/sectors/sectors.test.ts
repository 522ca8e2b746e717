import fc from "fast-check";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { EMBEDDING_DIMENSIONS } from "../../../src/core/embedding.ts";
import { SECTORS } from "../../../src/core/memory.ts";
import { BUNDLED_MODELS } from "../../../src/models/bundled-models.ts";
import { CUE_NAMES } from "../../../src/core/sectors/sector-cues.ts";
import {
  createSectorClassifier,
  SECTOR_DESCRIPTIONS,
  type SectorModel,
} from "../../../src/core/sectors/sectors.ts";

const noCues = CUE_NAMES.map(() => 0);
const cues = (name: string, weight: number) => CUE_NAMES.map((other) => (other === name ? weight : 0));

/** Two dimensions: the first pulls to semantic, a past tense to episodic, a feeling to emotional. */
const SMALL: SectorModel = {
  version: 1,
  embeddingModel: "test",
  threshold: 0.25,
  cues: CUE_NAMES,
  cueMeans: cues("feeling", 0.5),
  sectors: {
    semantic: { bias: 0, embedding: [1, 0], cues: noCues },
    episodic: { bias: 0, embedding: [0, 0], cues: cues("past", 2) },
    procedural: { bias: -1, embedding: [0, 0], cues: noCues },
    emotional: { bias: 0, embedding: [0, 0], cues: cues("feeling", 4) },
    reflective: { bias: -1, embedding: [0, 0], cues: noCues },
  },
};
const SHIPPED = JSON.parse(
  readFileSync(new URL("../../../data/sectors/classifier.json", import.meta.url), "utf8"),
) as SectorModel;

describe("createSectorClassifier", () => {
  it("adds bias, embedding and cues, and takes the softmax", () => {
    const classify = createSectorClassifier(SMALL);
    const { primarySector, sectors, probabilities } = classify({
      content: "It rained.",
      embedding: Float32Array.of(3, 0), // counts as (1, 0)
    });
    const total = Math.E + Math.E ** 2 + Math.E ** -1 + 1 + Math.E ** -1;
    expect(probabilities.semantic).toBeCloseTo(Math.E / total);
    expect(probabilities.episodic).toBeCloseTo(Math.E ** 2 / total);
    expect(probabilities.reflective).toBeCloseTo(Math.E ** -1 / total);
    expect(primarySector).toBe("episodic");
    expect(sectors).toEqual(["episodic"]);
  });

  it("lists further sectors from the threshold on, likeliest first", () => {
    const classify = createSectorClassifier({ ...SMALL, threshold: 0.1 });
    const { sectors } = classify({ content: "It rained.", embedding: Float32Array.of(1, 0) });
    expect(sectors).toEqual(["episodic", "semantic"]);
  });

  it.each(["…", "Gestern war ich nicht zu Hause."])("takes mean cues for %j", (content) => {
    const classify = createSectorClassifier(SMALL);
    const { primarySector, probabilities } = classify({ content, embedding: Float32Array.of(0, 1) });
    expect(primarySector).toBe("emotional");
    expect(probabilities.emotional / probabilities.episodic).toBeCloseTo(Math.E ** 2);
  });

  it("goes by the cues alone where the embedding is zero", () => {
    const classify = createSectorClassifier(SMALL);
    expect(classify({ content: "It rained.", embedding: new Float32Array(2) }).primarySector).toBe(
      "episodic",
    );
  });

  it("answers any text: primary first, no repeats, probabilities that sum to 1", () => {
    const classify = createSectorClassifier(SHIPPED);
    const embedding = fc.float32Array({
      minLength: EMBEDDING_DIMENSIONS,
      maxLength: EMBEDDING_DIMENSIONS,
      noNaN: true,
      min: -1,
      max: 1,
    });
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), embedding, (content, vector) => {
        const { primarySector, sectors, probabilities } = classify({ content, embedding: vector });
        expect(sectors[0]).toBe(primarySector);
        expect(new Set(sectors).size).toBe(sectors.length);
        expect(Object.keys(probabilities)).toEqual([...SECTORS]);
        expect(Object.values(probabilities).reduce((sum, p) => sum + p, 0)).toBeCloseTo(1, 9);
        expect(Math.max(...Object.values(probabilities))).toBe(probabilities[primarySector]);
      }),
    );
  });

  it.each([
    ["one letter", "a"],
    ["spaces", " "],
    ["full stops", "."],
    ["sentences of a letter", "a. "],
    ["brackets", "(("],
    ["capitals", "A"],
    ["digits", "1"],
    ["colons", "A: "],
    ["hyphens", "a-"],
    ["half an auxiliary", "have a "],
    ["surrogates", "\ud83d"],
  ])("is done at once with 200 000 characters of %s", (_, unit) => {
    const classify = createSectorClassifier(SHIPPED);
    const content = unit.repeat(200_000 / unit.length);
    const embedding = new Float32Array(EMBEDDING_DIMENSIONS).fill(0.1);
    expect(classify({ content, embedding }).sectors.length).toBeGreaterThan(0);
  });

  it("rejects embeddings of another length", () => {
    const classify = createSectorClassifier(SHIPPED);
    expect(() => classify({ content: "tea", embedding: new Float32Array(3) })).toThrow(RangeError);
  });

  it("rejects embeddings that are not finite", () => {
    const classify = createSectorClassifier(SMALL);
    expect(() => classify({ content: "tea", embedding: Float32Array.of(NaN, 1) })).toThrow(RangeError);
  });

  it("rejects a model of other cues", () => {
    expect(() => createSectorClassifier({ ...SMALL, cues: ["past"] })).toThrow(/other cues/);
  });
});

describe.each(BUNDLED_MODELS.map(({ name, sectors }) => ({ name, sectors })))(
  "the classifier of $name",
  ({ sectors }) => {
    const shipped = JSON.parse(readFileSync(sectors, "utf8")) as SectorModel;

    it("is small, whole, and made for embeddings of the bundled model", () => {
      expect(JSON.stringify(shipped).length).toBeLessThan(60_000);
      expect(shipped).toMatchObject({ version: 1, cues: CUE_NAMES });
      expect(shipped.threshold).toBeGreaterThan(0);
      expect(shipped.threshold).toBeLessThan(1);
      expect(shipped.cueMeans).toHaveLength(CUE_NAMES.length);
      for (const sector of SECTORS) {
        const { bias, embedding, cues: weights } = shipped.sectors[sector];
        expect(embedding).toHaveLength(EMBEDDING_DIMENSIONS);
        expect(weights).toHaveLength(CUE_NAMES.length);
        expect([bias, ...embedding, ...weights].filter((weight) => !Number.isFinite(weight))).toEqual([]);
      }
    });
  },
);

describe("SECTOR_DESCRIPTIONS", () => {
  it("has one sentence a sector", () => {
    expect(Object.keys(SECTOR_DESCRIPTIONS)).toEqual([...SECTORS]);
    for (const description of Object.values(SECTOR_DESCRIPTIONS))
      expect(description).toMatch(/^[A-Z][^.]+\.$/);
  });
});
