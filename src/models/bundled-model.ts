import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { EmbeddingStamp } from "../core/embedding.ts";
import { ServiceError } from "../core/errors.ts";
import { WINDOW_RULE } from "./windows.ts";

/** The root of the package, from `src/models` and from `dist/models` alike. */
export const PACKAGE_ROOT = resolve(import.meta.dirname, "../..");

export const MODEL_NAME = "all-MiniLM-L6-v2";
export const MODEL_DIRECTORY = join(PACKAGE_ROOT, "data/models", MODEL_NAME);
export const PROJECTION_FILE = join(PACKAGE_ROOT, "data/token-projection.bin");

/** Pieces a run can read, [CLS] and [SEP] among them. */
export const MODEL_MAX_PIECES = 512;

/** SHA-256 of every file that has a say in a vector. Other bytes make other vectors, which must never mix. */
export const SHA256 = {
  model: "c17c8ec889f9866eb1f1e7b4bf1ed30c2c1b0ce22484ffe5bf6ce55e6434745f",
  tokenizer: "5fd1c882abbd30517dced455a2c9768945ec726b96727927e4959348d9de550b",
  tokenizerConfig: "a9968986db175a6ba61b64a21bf31bf4ce051ac493b96367cb3d31caa690b7bd",
  projection: "5cdfe4abf4eaf13bf178e1bcd105cbec4ad5d6bde7cb334d67476e3945510ce6",
} as const;

/** What every vector made here is stamped with. */
export const STAMP: EmbeddingStamp = {
  model: SHA256.model,
  windows: WINDOW_RULE,
  pooling: "mean",
  projection: SHA256.projection,
};

/**
 * The bytes of a file that must be exactly the expected ones.
 *
 * @throws {ServiceError} MODEL_UNAVAILABLE if it cannot be read or differs.
 */
export async function readVerified(path: string, sha256: string): Promise<Buffer> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (cause) {
    throw new ServiceError("MODEL_UNAVAILABLE", `cannot read the model file ${path}: install memoryd again`, {
      cause,
    });
  }
  const found = createHash("sha256").update(bytes).digest("hex");
  if (found !== sha256) {
    throw new ServiceError(
      "MODEL_UNAVAILABLE",
      `the model file ${path} is not the one this version was made for (SHA-256 ${found}): install memoryd again`,
    );
  }
  return bytes;
}
