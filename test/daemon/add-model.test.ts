import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { stampKey } from "../../src/core/embedding.ts";
import {
  type ModelOffer,
  type AddModelOptions,
  addModel,
  readCalibrationTexts,
} from "../../src/daemon/add-model.ts";
import { readVerified } from "../../src/models/bundled-models.ts";
import { modelsOf, addedFiles } from "../../src/models/added/added-models.ts";
import { readProjection } from "../../src/models/projection.ts";
import { tinyEncoder, writeFiles } from "../support/tiny-encoder.ts";

let directory: string;
let dataDir: string;
let offers: ModelOffer[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "memoryd-add-model-"));
  dataDir = join(directory, "data");
  offers = [];
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

const all = await readCalibrationTexts();
/** Fewer, so that it takes half a second. */
const texts = { ...all, statements: all.statements.filter((_, i) => i % 8 === 0) };
const add = (folder: string, more: Partial<AddModelOptions> = {}) =>
  addModel(folder, {
    dataDir,
    signal: new AbortController().signal,
    confirm: async (offer) => {
      offers.push(offer);
      return true;
    },
    texts,
    ...more,
  });
const folderOf = (files: ReadonlyMap<string, Buffer>) => {
  const folder = join(directory, "tiny");
  writeFiles(folder, files);
  return folder;
};
const without = (path: string) => new Map([...tinyEncoder()].filter(([name]) => name !== path));
const withFile = (path: string, value: unknown) =>
  new Map([...tinyEncoder(), [path, Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value))]]);
const tokenizerWith = (model: object) => {
  const json = JSON.parse(tinyEncoder().get("tokenizer.json")?.toString() ?? "") as object;
  return withFile("tokenizer.json", { ...json, ...model });
};
const left = () => (existsSync(dataDir) ? readdirSync(dataDir) : []);

it.each([48, 400])("keeps a model of a folder, with vectors of %i numbers", async (hiddenSize) => {
  const added = await add(folderOf(tinyEncoder({ hiddenSize })));
  expect(offers).toMatchObject([{ name: "tiny", licence: "mit", from: join(directory, "tiny") }]);
  expect(added).toMatchObject({
    kind: "bert",
    marks: [2, 3],
    hiddenSize,
    pooling: "mean",
    prefixes: { question: "query:", window: "passage:" },
  });
  const { related, unrelated, similar } = added?.figures ?? expect.fail();
  expect(related).toBeGreaterThan(similar);
  expect(similar).toBeGreaterThan(unrelated + 0.1);
  const model = modelsOf(dataDir).at(-1) ?? expect.fail();
  expect(model).toMatchObject({ name: "tiny", profile: { similar } });
  const reading = readProjection(readFileSync(model.files.projection.path), model);
  expect(reading.vector(new Float32Array(3 * hiddenSize).fill(0.1), "window")).toHaveLength(384);
  expect(JSON.parse(readFileSync(model.sectors, "utf8")).sectors.semantic.embedding).toHaveLength(384);
  expect(readdirSync(join(dataDir, "models"))).toEqual(["tiny"]);
  expect(addedFiles(dataDir).map(({ path }) => path)).toEqual(
    expect.arrayContaining(readdirSync(join(dataDir, "models/tiny")).map((name) => `models/tiny/${name}`)),
  );

  // Another byte is another model: in what is embedded refused, in what says how, of another stamp.
  appendFileSync(model.files.tokenizer.path, " ");
  await expect(readVerified(model.files.tokenizer)).rejects.toThrow("has changed");
  const manifest = join(dataDir, "models/tiny/MODEL.json");
  writeFiles(
    dataDir,
    new Map([
      ["models/tiny/MODEL.json", Buffer.from(readFileSync(manifest, "utf8").replace('"passage:"', '""'))],
    ]),
  );
  expect(stampKey(modelsOf(dataDir).at(-1)?.stamp ?? expect.fail())).not.toBe(stampKey(model.stamp));

  await expect(add(join(directory, "tiny"))).rejects.toThrow("There is a model tiny already");
});

it("keeps nothing after a no", async () => {
  expect(await add(folderOf(tinyEncoder()), { confirm: async () => false })).toBeUndefined();
  expect(existsSync(dataDir)).toBe(false);
});

it.each<[string, ReadonlyMap<string, Buffer>, string]>([
  ["without ONNX", without("onnx/model.onnx"), "has no ONNX file"],
  ["without a tokenizer", without("tokenizer.json"), "has no tokenizer.json"],
  ["with a tokenizer of another kind", tokenizerWith({ model: { type: "BPE" } }), 'kind "BPE"'],
  [
    "with a tokenizer that reads otherwise",
    tokenizerWith({ pre_tokenizer: null }),
    "in a way that is not known",
  ],
  ["without marks", tokenizerWith({ added_tokens: [] }), "has no marks"],
  ["that writes", tinyEncoder({ config: { model_type: "qwen2" } }), 'kind "qwen2"'],
  ["that goes on from what was before", tinyEncoder({ config: { is_decoder: true } }), "only encoders"],
  ["that reads little", tinyEncoder({ config: { max_position_embeddings: 64 } }), "reads 64 pieces"],
  ["of another width than it says", tinyEncoder({ config: { hidden_size: 47 } }), "gives 48 numbers"],
  ["without a width", tinyEncoder({ config: { hidden_size: null } }), "no hidden_size"],
  [
    "that takes the last piece",
    withFile("1_Pooling/config.json", { pooling_mode_lasttoken: true }),
    "lasttoken",
  ],
  [
    "with a step behind it",
    withFile("modules.json", [{ type: "sentence_transformers.models.Dense" }]),
    "not known here: Dense",
  ],
  ["whose weights are cut off", withFile("onnx/model.onnx", Buffer.from("\x08\x08cut")), "cannot be loaded"],
  [
    "whose configuration is no JSON",
    withFile("config.json", Buffer.from("<html>")),
    "config.json is no JSON",
  ],
  ["that knows nothing", tinyEncoder({ isTrained: false }), "no sentence encoder"],
])("refuses a model %s, and leaves nothing", async (_, files, reason) => {
  await expect(add(folderOf(files))).rejects.toThrow(reason);
  expect(left()).toEqual([]);
});

it("refuses names, full disks and folders of others", async () => {
  const folder = folderOf(tinyEncoder());
  await expect(add(folder, { as: "../up" })).rejects.toThrow("cannot name a model");
  await expect(add(folder, { as: "all-MiniLM-L6-v2" })).rejects.toThrow("ships with memoryd");
  await expect(add("no/such/folder")).rejects.toThrow("There is no folder");
  await expect(add(import.meta.dirname)).rejects.toThrow("has no ONNX file");
  await expect(add(folder, { freeBytes: async () => 2e6 })).rejects.toThrow("2 MB free");
  expect(left()).toEqual([]);
  writeFiles(dataDir, new Map([["diary.txt", Buffer.from("mine")]]));
  await expect(add(folder)).rejects.toThrow("holds other things");
  expect(left()).toEqual(["diary.txt"]);
});

it("ends when it is stopped, and removes what an ended process left", async () => {
  const stopping = new AbortController();
  const onProgress = () => stopping.abort(new Error("stopped"));
  const folder = folderOf(tinyEncoder());
  await expect(add(folder, { signal: stopping.signal, onProgress })).rejects.toThrow("stopped");
  expect(left()).toEqual([]);

  const ended = execFileSync(process.execPath, ["-p", "process.pid"]).toString().trim();
  for (const pid of [ended, process.pid])
    mkdirSync(join(dataDir, `models/.adding-${pid}-0123`), { recursive: true });
  await add(folder);
  // Of a process that runs, and may still add a model.
  expect(readdirSync(join(dataDir, "models"))).toEqual([`.adding-${process.pid}-0123`, "tiny"]);
});
