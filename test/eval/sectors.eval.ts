/**
 * How well sectors are told: by stratified ten-fold cross-validation over the first statements (with the further ones
 * in every training set), on the first statements after training on the further ones alone, and with the shipped
 * classifier on the statements for checking, which no training sees.
 *
 *   npx vitest run --project eval sectors
 */
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { SECTORS } from "../../src/core/memory.ts";
import {
  type Classification,
  createSectorClassifier,
  type SectorModel,
} from "../../src/core/sectors/sectors.ts";
import { modelUnderTest } from "./bare-model.ts";
import { type Example, trainSectors } from "../../src/core/sectors/train-sectors.ts";
import { readExamples } from "./sector-training.ts";

const MODEL = modelUnderTest();
const FOLDS = 10;
const REPEATS = 3;

let first: Example[];
let further: Example[];
let checks: Example[];
beforeAll(async () => {
  first = await readExamples(MODEL, "statements");
  further = await readExamples(MODEL, "further-statements");
  checks = await readExamples(MODEL, "check-statements");
});

interface Answer {
  readonly example: Example;
  readonly told: Classification;
}

function answers(model: SectorModel, examples: readonly Example[]): Answer[] {
  const classify = createSectorClassifier(model);
  return examples.map((example) => ({
    example,
    told: classify({ content: example.text, embedding: example.embedding }),
  }));
}

/** Shares of right primary sectors and of primary sectors among the labels, and micro-averaged F1 of the lists. */
function quality(list: readonly Answer[]) {
  let primary = 0;
  let within = 0;
  let shared = 0;
  let listed = 0;
  let labelled = 0;
  for (const { example, told } of list) {
    if (told.primarySector === example.sectors[0]) primary += 1;
    if (example.sectors.includes(told.primarySector)) within += 1;
    shared += told.sectors.filter((sector) => example.sectors.includes(sector)).length;
    listed += told.sectors.length;
    labelled += example.sectors.length;
  }
  return {
    primary: primary / list.length,
    within: within / list.length,
    f1: (2 * shared) / (listed + labelled),
  };
}

function confusion(list: readonly Answer[]): string {
  const rows = SECTORS.map((truth) => {
    const counts = SECTORS.map(
      (told) => list.filter((a) => a.example.sectors[0] === truth && a.told.primarySector === told).length,
    );
    return `  ${truth.padEnd(11)}${counts.map((count) => String(count).padStart(5)).join("")}`;
  });
  return ["  labelled ↓ told → in the order of the rows", ...rows].join("\n");
}

/** Mean probability of the told sector beside how often it is right: equal where probabilities mean what they say. */
function calibration(list: readonly Answer[]): string {
  const confidence =
    list.reduce((sum, { told }) => sum + told.probabilities[told.primarySector], 0) / list.length;
  const loss =
    list.reduce(
      (sum, { example, told }) => sum - Math.log(told.probabilities[example.sectors[0] ?? "semantic"]),
      0,
    ) / list.length;
  return `mean confidence ${confidence.toFixed(3)}, log loss ${loss.toFixed(3)}`;
}

/** Fold of each example: every sector spread evenly. */
function stratify(examples: readonly Example[], random: () => number): number[] {
  const folds: number[] = examples.map(() => 0);
  let place = 0;
  for (const sector of SECTORS) {
    const shuffled = examples
      .flatMap((example, index) => (example.sectors[0] === sector ? [{ index, at: random() }] : []))
      .sort((a, b) => a.at - b.at);
    for (const { index } of shuffled) folds[index] = place++ % FOLDS;
  }
  return folds;
}

function crossValidate(examples: readonly Example[], always: readonly Example[], seed: number): Answer[] {
  const folds = stratify(examples, mulberry32(seed));
  return Array.from({ length: FOLDS }, (_, fold) => {
    const model = trainSectors(MODEL.files.model.sha256, [
      ...examples.filter((_example, i) => folds[i] !== fold),
      ...always,
    ]);
    return answers(
      model,
      examples.filter((_example, i) => folds[i] === fold),
    );
  }).flat();
}

/** @see Tommy Ettinger's mulberry32, public domain. */
function mulberry32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

function spread(values: readonly number[]): string {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
  return `${mean.toFixed(3)} ± ${deviation.toFixed(3)}`;
}

function print(name: string, list: readonly Answer[]) {
  const { primary, within, f1 } = quality(list);
  console.log(
    `${name}: primary ${primary.toFixed(3)}, within labels ${within.toFixed(3)}, label F1 ${f1.toFixed(3)}; ` +
      `${calibration(list)}\n${confusion(list)}`,
  );
}

describe("sectors", () => {
  it("are told in cross-validation", () => {
    const runs = Array.from({ length: REPEATS }, (_, n) => crossValidate(first, further, n + 1));
    const figures = runs.map(quality);
    console.log(
      `${FOLDS} folds, ${REPEATS} times: primary ${spread(figures.map((f) => f.primary))}, ` +
        `within labels ${spread(figures.map((f) => f.within))}, label F1 ${spread(figures.map((f) => f.f1))}`,
    );
    print("all repeats together", runs.flat());
    for (const { primary, within } of figures) {
      expect(primary).toBeGreaterThanOrEqual(0.82);
      expect(within).toBeGreaterThanOrEqual(0.88);
    }
  });

  it("are told of statements that others wrote", () => {
    const list = answers(trainSectors(MODEL.files.model.sha256, further), first);
    print("trained on the further statements, judged on the first", list);
    expect(quality(list).primary).toBeGreaterThanOrEqual(0.78);
  });

  it("are told by the shipped classifier", () => {
    const list = answers(JSON.parse(readFileSync(MODEL.sectors, "utf8")) as SectorModel, checks);
    print("statements for checking", list);
    expect(quality(list).primary).toBeGreaterThanOrEqual(0.82);
    expect(quality(list).within).toBeGreaterThanOrEqual(0.88);
  });
});
