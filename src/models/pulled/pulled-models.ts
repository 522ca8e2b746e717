import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { ModelFigures } from "./calibrate-model.ts";
import { BUNDLED_MODELS, type EmbeddingModel } from "../bundled-models.ts";
import { WINDOW_RULE } from "../windows.ts";

/** Folder in the data directory with one folder per pulled model. */
export const PULLED_FOLDER = "models";
/** Says what a pulled model is; written last. */
export const PULLED_MANIFEST = "MODEL.json";
/** Not that of a folder with something unfinished. */
export const PULLED_NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

/** Figures of a pulled model that cannot be derived. */
export interface PulledModel extends Pick<
  EmbeddingModel,
  "kind" | "languages" | "licence" | "marks" | "maxPieces" | "hiddenSize" | "pooling" | "prefixes"
> {
  readonly version: 1;
  /** The folder or the hub's name that it was pulled from, and there its revision. */
  readonly source: string;
  readonly figures: ModelFigures;
  /** Checksums of its files, hex. */
  readonly sha256: Readonly<Record<keyof EmbeddingModel["files"], string>>;
}

/** Names of the files of a pulled model in its folder. */
export const PULLED_FILES = {
  model: "model.onnx",
  tokenizer: "tokenizer.json",
  tokenizerConfig: "tokenizer_config.json",
  projection: "projection.bin",
} as const satisfies Record<keyof EmbeddingModel["files"], string>;
export const PULLED_SECTORS = "sectors.json";

/** The models that ship, the default of new stores first, and those that were pulled into a data directory, by name. */
export function modelsOf(dataDir: string): EmbeddingModel[] {
  const folder = join(dataDir, PULLED_FOLDER);
  let names: string[] = [];
  try {
    names = readdirSync(folder).filter((name) => PULLED_NAME.test(name));
  } catch {
    // No model was pulled.
  }
  return [...BUNDLED_MODELS, ...names.sort().flatMap((name) => readPulled(join(folder, name), name) ?? [])];
}

/** The files of all pulled models, by their paths in the data directory, with `/`. */
export function pulledFiles(dataDir: string): { readonly path: string; readonly sha256: string }[] {
  return modelsOf(dataDir)
    .slice(BUNDLED_MODELS.length)
    .flatMap(({ name, files }) => {
      const hashed = (path: string) => ({
        path,
        sha256: sha256Of(readFileSync(join(dataDir, PULLED_FOLDER, name, path))),
      });
      return [...Object.values(files), hashed(PULLED_SECTORS), hashed(PULLED_MANIFEST)].map(
        ({ path, sha256 }) => ({ path: [PULLED_FOLDER, name, basename(path)].join("/"), sha256 }),
      );
    });
}

/** @returns undefined for a folder without a manifest that can be read. */
function readPulled(folder: string, name: string): EmbeddingModel | undefined {
  try {
    const pulled = JSON.parse(readFileSync(join(folder, PULLED_MANIFEST), "utf8")) as PulledModel;
    return pulled.version === 1 ? pulledModel(folder, name, pulled) : undefined;
  } catch {
    return undefined;
  }
}

function pulledModel(folder: string, name: string, pulled: PulledModel): EmbeddingModel {
  const { kind, marks, maxPieces, hiddenSize, pooling, prefixes, figures, sha256 } = pulled;
  const file = (of: keyof EmbeddingModel["files"]) => ({
    path: join(folder, PULLED_FILES[of]),
    sha256: sha256[of],
  });
  const read = { kind, marks, maxPieces, hiddenSize, prefixes, ...sha256 };
  const digest = sha256Of(JSON.stringify(read)).slice(0, 12);
  return {
    ...pulled,
    name,
    projection: "centred",
    files: {
      model: file("model"),
      tokenizer: file("tokenizer"),
      tokenizerConfig: file("tokenizerConfig"),
      projection: file("projection"),
    },
    sectors: join(folder, PULLED_SECTORS),
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
