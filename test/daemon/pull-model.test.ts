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
  type PullOffer,
  type PullOptions,
  pullModel,
  readCalibrationTexts,
} from "../../src/daemon/pull-model.ts";
import { readVerified } from "../../src/models/bundled-models.ts";
import type { HubAccess } from "../../src/models/pulled/hub.ts";
import { modelsOf, pulledFiles } from "../../src/models/pulled/pulled-models.ts";
import { readProjection } from "../../src/models/projection.ts";
import { listingOf, type ModelHub, REVISION, serveModel } from "../support/model-hub.ts";
import { tinyEncoder, writeFiles } from "../support/tiny-encoder.ts";

let directory: string;
let dataDir: string;
let hub: ModelHub | undefined;
let offers: PullOffer[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "memoryd-pull-"));
  dataDir = join(directory, "data");
  offers = [];
});
afterEach(async () => {
  await hub?.close();
  hub = undefined;
  rmSync(directory, { recursive: true, force: true });
});

const all = await readCalibrationTexts();
/** Fewer, so that it takes half a second. */
const texts = { ...all, statements: all.statements.filter((_, i) => i % 8 === 0) };
const pull = (
  source: string,
  { hub: access, ...more }: Partial<Omit<PullOptions, "hub">> & { readonly hub?: Partial<HubAccess> } = {},
) =>
  pullModel(source, {
    dataDir,
    hub: { endpoint: hub?.url ?? "http://127.0.0.1:9", signal: new AbortController().signal, ...access },
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
  const pulled = await pull(folderOf(tinyEncoder({ hiddenSize })));
  expect(offers).toMatchObject([{ name: "tiny", licence: "mit", from: join(directory, "tiny") }]);
  expect(pulled).toMatchObject({
    kind: "bert",
    marks: [2, 3],
    hiddenSize,
    pooling: "mean",
    prefixes: { question: "query:", window: "passage:" },
  });
  const { related, unrelated, similar } = pulled?.figures ?? expect.fail();
  expect(related).toBeGreaterThan(similar);
  expect(similar).toBeGreaterThan(unrelated + 0.1);
  const model = modelsOf(dataDir).at(-1) ?? expect.fail();
  expect(model).toMatchObject({ name: "tiny", profile: { similar } });
  const reading = readProjection(readFileSync(model.files.projection.path), model);
  expect(reading.vector(new Float32Array(3 * hiddenSize).fill(0.1), "window")).toHaveLength(384);
  expect(JSON.parse(readFileSync(model.sectors, "utf8")).sectors.semantic.embedding).toHaveLength(384);
  expect(readdirSync(join(dataDir, "models"))).toEqual(["tiny"]);
  expect(pulledFiles(dataDir).map(({ path }) => path)).toEqual(
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

  await expect(pull(join(directory, "tiny"))).rejects.toThrow("There is a model tiny already");
});

it("keeps a model of a hub, and asks for no other file", async () => {
  const others = { "../../evil.sh": "no", "pytorch_model.bin": "large", "onnx/../config.json": "{}" };
  const more = Object.entries(others).map(([path, text]): [string, Buffer] => [path, Buffer.from(text)]);
  const files = new Map([...tinyEncoder(), ...more]);
  hub = await serveModel(files, (path, response) => {
    if (!path.includes("/resolve/") || path.endsWith("?moved")) return false;
    // As for a model that was renamed, and for large files.
    const isLarge = path.endsWith(".onnx");
    response.writeHead(307, { location: isLarge ? "https://files.example/large" : `${path}?moved` }).end();
    return true;
  });
  const large = `${hub.url}/somebody/tiny/resolve/${REVISION}/onnx/model.onnx?moved`;
  const pulled = await pull("somebody/tiny", {
    as: "mine",
    hub: { fetch: (url, init) => fetch(url === "https://files.example/large" ? large : url, init) },
  });
  expect(pulled?.source).toBe(`${hub.url} (somebody/tiny, revision ${REVISION.slice(0, 12)})`);
  expect(offers).toMatchObject([{ name: "mine", licence: "mit", languages: "en, de" }]);
  expect(modelsOf(dataDir).map(({ name }) => name)).toContain("mine");
  expect(hub.asked.join(" ")).not.toMatch(/evil|pytorch|README|\.\./);
});

it("keeps nothing after a no", async () => {
  expect(await pull(folderOf(tinyEncoder()), { confirm: async () => false })).toBeUndefined();
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
  await expect(pull(folderOf(files))).rejects.toThrow(reason);
  expect(left()).toEqual([]);
});

it.each<
  [string, (path: string, send: Parameters<Parameters<typeof serveModel>[1] & object>[1]) => void, string]
>([
  ["does not have it", (_, response) => response.writeHead(404).end(), "no such model"],
  ["wants a login", (_, response) => response.writeHead(401).end(), "asks for a login"],
  ["is out of order", (_, response) => response.writeHead(503).end(), "answered 503"],
  ["is none", (_, response) => response.end("<html>"), "is it a hub?"],
  ["names no files", (_, response) => response.end('{"sha":"0123456789"}'), "no files"],
  [
    "sends elsewhere",
    (_, response) => response.writeHead(302, { location: "https://a.example/" }).end(),
    "another host (a.example)",
  ],
  [
    "sends around",
    (path, response) => response.writeHead(302, { location: path }).end(),
    "one address to the next",
  ],
])("refuses a hub that %s", async (_, answer, reason) => {
  hub = await serveModel(tinyEncoder(), (path, response) => {
    answer(path, response);
    return true;
  });
  await expect(pull("somebody/tiny")).rejects.toThrow(reason);
  expect(left()).toEqual([]);
});

const weights = tinyEncoder().get("onnx/model.onnx") ?? Buffer.alloc(0);

it.each<[string, (response: Parameters<Parameters<typeof serveModel>[1] & object>[1]) => void, string]>([
  ["are others", (response) => response.end(Buffer.alloc(weights.length)), "not what the hub itself says"],
  ["end early", (response) => response.end(weights.subarray(9)), "ended after"],
  ["do not end", (response) => response.end(Buffer.concat([weights, weights])), "is longer than"],
  [
    "break off",
    (response) => response.writeHead(200, { "content-length": 9 }).write("x", () => response.destroy()),
    "cannot be had",
  ],
  ["are behind a door", (response) => response.writeHead(403).end(), "asks for a login"],
  [
    "lie without encryption elsewhere",
    (response) => response.writeHead(302, { location: "http://127.0.0.2:9/" }).end(),
    "another host (127.0.0.2:9)",
  ],
])("leaves nothing of weights that %s", async (_, answer, reason) => {
  hub = await serveModel(tinyEncoder(), (path, response) => {
    if (path.endsWith(".onnx")) answer(response);
    return path.endsWith(".onnx");
  });
  await expect(pull("somebody/tiny")).rejects.toThrow(reason);
  expect(left()).toEqual([]);
});

it("checks small files, too, and what the hub leaves without a hash is not there", async () => {
  const files = tinyEncoder();
  hub = await serveModel(files, (path, response) => {
    if (path.endsWith("config.json")) response.end("{}");
    return path.endsWith("config.json");
  });
  await expect(pull("somebody/tiny")).rejects.toThrow("config.json ended after");
  await hub.close();
  hub = await serveModel(files, (path, response) => {
    const listing = listingOf(files) as { siblings: object[] };
    const siblings = listing.siblings.map((each) => ({ ...each, blobId: "../x" }));
    if (path.startsWith("/api/")) response.end(JSON.stringify({ ...listing, siblings }));
    return path.startsWith("/api/");
  });
  await expect(pull("somebody/tiny")).rejects.toThrow("has no config.json and no tokenizer.json");
  expect(left()).toEqual([]);
});

it("refuses names, full disks and folders of others", async () => {
  const folder = folderOf(tinyEncoder());
  await expect(pull(folder, { as: "../up" })).rejects.toThrow("cannot name a model");
  await expect(pull(folder, { as: "all-MiniLM-L6-v2" })).rejects.toThrow("ships with memoryd");
  await expect(pull("no/such/folder")).rejects.toThrow("There is no folder");
  await expect(pull(import.meta.dirname)).rejects.toThrow("has no ONNX file");
  await expect(pull(folder, { freeBytes: async () => 2e6 })).rejects.toThrow("2 MB free");
  expect(left()).toEqual([]);
  writeFiles(dataDir, new Map([["diary.txt", Buffer.from("mine")]]));
  await expect(pull(folder)).rejects.toThrow("holds other things");
  expect(left()).toEqual(["diary.txt"]);
});

it("ends when it is stopped, and removes what an ended process left", async () => {
  const stopping = new AbortController();
  hub = await serveModel(tinyEncoder(), (path, response) => {
    if (!path.endsWith(".onnx")) return false;
    response.write(weights.subarray(0, 99), () => stopping.abort(new Error("stopped")));
    return true;
  });
  await expect(pull("somebody/tiny", { hub: { signal: stopping.signal } })).rejects.toThrow("stopped");
  expect(left()).toEqual([]);

  const ended = execFileSync(process.execPath, ["-p", "process.pid"]).toString().trim();
  for (const pid of [ended, process.pid])
    mkdirSync(join(dataDir, `models/.pulling-${pid}-0123`), { recursive: true });
  await pull(folderOf(tinyEncoder()));
  // Of a process that runs, and may still pull.
  expect(readdirSync(join(dataDir, "models"))).toEqual([`.pulling-${process.pid}-0123`, "tiny"]);
});
