import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import type { EmbeddingProfile, EmbeddingStamp } from "../core/embedding.ts";
import { modelUnavailable } from "../core/errors.ts";
import { WINDOW_RULE } from "./windows.ts";

/** The root of the package, from `src/models` and from `dist/models` alike. */
export const PACKAGE_ROOT = resolve(import.meta.dirname, "../..");
const MODELS_DIRECTORY = join(PACKAGE_ROOT, "data/models");

/** Everything that differs between embedding models. Plain data, so that it crosses to a thread. */
export interface EmbeddingModel {
  readonly name: string;
  /** Kind of encoder, which determines the tokenizer. */
  readonly kind: "bert" | "xlm-roberta";
  readonly languages: string;
  readonly licence: string;
  /** Pieces a run can read, the marks at both ends among them. */
  readonly maxPieces: number;
  /** Numbers that the model gives for each piece; vectors are brought to `EMBEDDING_DIMENSIONS`. */
  readonly hiddenSize: number;
  /** How hidden states make a text's vector: their mean, or the first token's. */
  readonly pooling: "mean" | "first";
  /** Ids of the marks before and behind every text. */
  readonly marks: readonly [first: number, last: number];
  /** Prefixes that the model was trained with, by kind of text. */
  readonly prefixes: Readonly<Record<"question" | "window", string>>;
  /** `centred`: the projection file begins with the map of vectors, see `readProjection`. */
  readonly projection: "plain" | "centred";
  /** Absolute paths, each with the SHA-256 of the file: other bytes make other vectors, which must never mix. */
  readonly files: Readonly<Record<ModelPart, ModelFile>> & {
    /** The weights that the graph in `model` refers to, in a file beside it, which ONNX Runtime maps into memory. */
    readonly weights?: ModelFile;
  };
  /** The model that takes its place in stores for which nobody chose one. */
  readonly successor?: string;
  /** Absolute path of the sector classifier that was trained with its vectors. */
  readonly sectors: string;
  readonly stamp: EmbeddingStamp;
  readonly profile: EmbeddingProfile;
}

/** The files that every model has. */
export type ModelPart = "model" | "tokenizer" | "tokenizerConfig" | "projection";

export type ModelFile = { readonly path: string; readonly sha256: string };

/** Light, and for English. */
export const MINILM = modelOf({
  name: "all-MiniLM-L6-v2",
  kind: "bert",
  languages: "English",
  licence: "Apache-2.0",
  marks: [101, 102],
  prefixes: { question: "", window: "" },
  projection: "plain",
  stampedPooling: "mean",
  sha256: {
    model: "c17c8ec889f9866eb1f1e7b4bf1ed30c2c1b0ce22484ffe5bf6ce55e6434745f",
    tokenizer: "5fd1c882abbd30517dced455a2c9768945ec726b96727927e4959348d9de550b",
    tokenizerConfig: "a9968986db175a6ba61b64a21bf31bf4ce051ac493b96367cb3d31caa690b7bd",
    projection: "5cdfe4abf4eaf13bf178e1bcd105cbec4ad5d6bde7cb334d67476e3945510ce6",
  },
  paths: { projection: "data/token-projection.bin", sectors: "data/sectors/classifier.json" },
  profile: { similar: 0.55, tokenFloor: 0.3 },
});

const E5 = {
  kind: "xlm-roberta",
  languages: "about 100 languages",
  licence: "MIT",
  marks: [0, 2],
  prefixes: { question: "query:", window: "passage:" },
  projection: "centred",
  stampedPooling: "mean-centred-mapped",
} as const;
const E5_SHA256 = {
  weights: "67d844fce17e901206d177bb2e6c33afba6ca83fb59808889476c7c06d2f18a5",
  tokenizer: "3ba49e197733c845451ddb5e7234d89bfb141a3b04dc8395ffb7530d88bf026a",
  tokenizerConfig: "22385f1700e2e83211a3c0f38c319c80bb8adceae3480950a414601f2ddd1b2f",
};

/** About a hundred languages: multilingual-e5-small, its vectors and token vectors taught what is meant in other words. */
export const MEMORYD_E5 = modelOf({
  ...E5,
  name: "memoryd-e5-small-2",
  stampedModel: "fe08d7e00067c7db309bbf15b4796bec9c2f9de73c8fcce3f567b43cea34d370",
  sha256: {
    ...E5_SHA256,
    model: "77702465e29747a98d07f02fc690ef118bd73efb2cbab2cf0b3272b203ec227a",
    projection: "3121f83a6786f487e90a8a13fcd6b9a02b45c877688747ff7be608f4f09ceee9",
  },
  paths: {
    projection: "data/models/memoryd-e5-small-2/projection.bin",
    sectors: "data/models/memoryd-e5-small-2/sectors.json",
  },
  profile: { similar: 0.54, tokenFloor: 0.3 },
});

/** The default before, for databases and for whoever chose it. Its word table and tokenizer are its successor's. */
export const FORMER_E5 = modelOf({
  ...E5,
  name: "memoryd-e5-small",
  successor: MEMORYD_E5.name,
  stampedModel: "b59ce5bac93426caf6bdba03dfe872e3e4f2fe33bd2332439a99d7d3d5a192f5",
  sha256: {
    ...E5_SHA256,
    model: "be3c464c0f0109bce58df283f6ec36b2e5839822a9ebfa8fb464d0b0737643d1",
    projection: "8108e636250725aabe130e5839a43a5c30d3ee2c72c279fb0270d4626cec2736",
  },
  folder: MEMORYD_E5.name,
  graph: "onnx/memoryd-e5-small.onnx",
  paths: {
    projection: "data/models/memoryd-e5-small/projection.bin",
    sectors: "data/models/memoryd-e5-small/sectors.json",
  },
  profile: { similar: 0.54, tokenFloor: 0.3 },
});

/** The models that ship, the default of new stores first. */
export const BUNDLED_MODELS: readonly EmbeddingModel[] = [MEMORYD_E5, FORMER_E5, MINILM];

/** Names of models that no longer ship, by the SHA-256 of their files: stores with their vectors are changed to the default. */
export const GONE_MODELS: ReadonlyMap<string, string> = new Map([
  ["6aa981d4cab0becdcb036eda5ea1dcbf4796593d0c39a8284a500dd23d04c7a3", "multilingual-e5-small"],
]);

function modelOf({
  stampedPooling,
  stampedModel,
  folder,
  graph = "onnx/model_quantized.onnx",
  sha256,
  paths,
  ...model
}: Pick<
  EmbeddingModel,
  "name" | "kind" | "languages" | "licence" | "marks" | "prefixes" | "projection" | "profile" | "successor"
> & {
  readonly stampedPooling: string;
  /** The checksum of the one file as which the same model shipped before: stores that were made with that keep their vectors. */
  readonly stampedModel?: string;
  readonly sha256: Readonly<Record<ModelPart, string>> & { readonly weights?: string };
  /** The folder of its graph and its tokenizer, if that has not the model's name. */
  readonly folder?: string;
  readonly graph?: string;
  readonly paths: Readonly<Record<"projection" | "sectors", string>>;
}): EmbeddingModel {
  const file = (name: string) => join(MODELS_DIRECTORY, folder ?? model.name, name);
  return {
    ...model,
    maxPieces: 512,
    hiddenSize: 384,
    pooling: "mean",
    files: {
      model: { path: file(graph), sha256: sha256.model },
      ...(sha256.weights !== undefined && {
        weights: { path: file("onnx/model_quantized.onnx_data"), sha256: sha256.weights },
      }),
      tokenizer: { path: file("tokenizer.json"), sha256: sha256.tokenizer },
      tokenizerConfig: { path: file("tokenizer_config.json"), sha256: sha256.tokenizerConfig },
      projection: { path: join(PACKAGE_ROOT, paths.projection), sha256: sha256.projection },
    },
    sectors: join(PACKAGE_ROOT, paths.sectors),
    stamp: {
      model: stampedModel ?? sha256.model,
      windows: WINDOW_RULE,
      pooling: stampedPooling,
      projection: sha256.projection,
    },
  };
}

/** The bytes, exactly the expected ones. @throws {ServiceError} MODEL_UNAVAILABLE. */
export async function readVerified(file: ModelFile): Promise<Buffer> {
  const bytes = await readFile(file.path).catch((cause: unknown) => refuseUnreadable(file, cause));
  assertSame(file, createHash("sha256").update(bytes).digest("hex"));
  return bytes;
}

/** The path, its bytes checked without holding them all. @throws {ServiceError} as `readVerified`. */
export async function verified(file: ModelFile): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file.path, { highWaterMark: 1024 ** 2 }), hash).catch((cause: unknown) =>
    refuseUnreadable(file, cause),
  );
  assertSame(file, hash.digest("hex"));
  return file.path;
}

function refuseUnreadable({ path }: ModelFile, cause: unknown): never {
  throw modelUnavailable(`cannot read the model file ${path}: ${remedy(path)}`, { cause });
}

function assertSame({ path, sha256 }: ModelFile, found: string): void {
  if (found !== sha256)
    throw modelUnavailable(`the model file ${path} has changed (SHA-256 ${found}): ${remedy(path)}`);
}

function remedy(path: string): string {
  return path.startsWith(PACKAGE_ROOT)
    ? "install memoryd again"
    : "put back the folder with the model, as from a backup, or add it again";
}

/**
 * Variables that the process must have before ONNX Runtime is loaded. Without them, on Linux and macOS, it draws an id of
 * the machine, keeps it with events about models and runs in the user's cache folder, and sends them to Microsoft
 * (microsoft/onnxruntime#27379).
 */
export const ONNX_ENVIRONMENT = { ORT_DISABLE_TELEMETRY: "1" } as const;
