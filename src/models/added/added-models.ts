import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { ModelFigures } from "./calibrate-model.ts";
import { BUNDLED_MODELS, type EmbeddingModel, type ModelPart } from "../bundled-models.ts";
import { WINDOW_RULE } from "../windows.ts";

/** Folder in the data directory with one folder per added model. */
export const MODELS_FOLDER = "models";
/** Says what an added model is; written last. */
export const MODEL_MANIFEST = "MODEL.json";
/** Not that of a folder with something unfinished. */
export const MODEL_NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

/** Figures of an added model that cannot be derived. */
export interface AddedModel extends Pick<
  EmbeddingModel,
  "kind" | "languages" | "licence" | "marks" | "maxPieces" | "hiddenSize" | "pooling" | "prefixes"
> {
  readonly version: 1;
  /** The folder that it was added from. */
  readonly source: string;
  readonly figures: ModelFigures;
  /** Checksums of its files, hex. */
  readonly sha256: Readonly<Record<ModelPart, string>>;
}

/** Names of the files of an added model in its folder. */
export const ADDED_FILES = {
  model: "model.onnx",
  tokenizer: "tokenizer.json",
  tokenizerConfig: "tokenizer_config.json",
  projection: "projection.bin",
} as const satisfies Record<ModelPart, string>;
export const MODEL_SECTORS = "sectors.json";

/** The models that ship, the default of new stores first, and those that were added to a data directory, by name. */
export function modelsOf(dataDir: string): EmbeddingModel[] {
  const folder = join(dataDir, MODELS_FOLDER);
  let names: string[] = [];
  try {
    names = readdirSync(folder).filter((name) => MODEL_NAME.test(name));
  } catch {
    // No model was added.
  }
  return [...BUNDLED_MODELS, ...names.sort().flatMap((name) => readAdded(join(folder, name), name) ?? [])];
}

/** The files of all added models, by their paths in the data directory, with `/`. */
export function addedFiles(dataDir: string): { readonly path: string; readonly sha256: string }[] {
  return modelsOf(dataDir)
    .slice(BUNDLED_MODELS.length)
    .flatMap(({ name, files }) => {
      const hashed = (path: string) => ({
        path,
        sha256: sha256Of(readFileSync(join(dataDir, MODELS_FOLDER, name, path))),
      });
      return [...Object.values(files), hashed(MODEL_SECTORS), hashed(MODEL_MANIFEST)].map(
        ({ path, sha256 }) => ({ path: [MODELS_FOLDER, name, basename(path)].join("/"), sha256 }),
      );
    });
}

/** @returns undefined for a folder without a manifest that can be read. */
function readAdded(folder: string, name: string): EmbeddingModel | undefined {
  try {
    const added = JSON.parse(readFileSync(join(folder, MODEL_MANIFEST), "utf8")) as AddedModel;
    return added.version === 1 ? addedModel(folder, name, added) : undefined;
  } catch {
    return undefined;
  }
}

function addedModel(folder: string, name: string, added: AddedModel): EmbeddingModel {
  const { kind, marks, maxPieces, hiddenSize, pooling, prefixes, figures, sha256 } = added;
  const file = (of: ModelPart) => ({
    path: join(folder, ADDED_FILES[of]),
    sha256: sha256[of],
  });
  const read = { kind, marks, maxPieces, hiddenSize, prefixes, ...sha256 };
  const digest = sha256Of(JSON.stringify(read)).slice(0, 12);
  return {
    ...added,
    name,
    projection: "centred",
    files: {
      model: file("model"),
      tokenizer: file("tokenizer"),
      tokenizerConfig: file("tokenizerConfig"),
      projection: file("projection"),
    },
    sectors: join(folder, MODEL_SECTORS),
    // A changed tokenizer or prefix makes other vectors, too.
    stamp: {
      model: sha256.model,
      windows: WINDOW_RULE,
      pooling: `${pooling}-${digest}`,
      projection: sha256.projection,
    },
    profile: { similar: figures.similar, tokenFloor: figures.tokenFloor },
  };
}

export const sha256Of = (bytes: Uint8Array | string): string =>
  createHash("sha256").update(bytes).digest("hex");
