import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { EMBEDDING_DIMENSIONS } from "../../src/core/embedding.ts";
import { BUNDLED_MODELS, type EmbeddingModel, MINILM } from "../../src/models/bundled-models.ts";
import { openModelSession, pool, scaleToUnit } from "../../src/models/model-session.ts";
import { openPieceReader } from "../../src/models/tokenizer/piece-reader.ts";
import { readProjection } from "../../src/models/projection.ts";
import type { Piece } from "../../src/models/windows.ts";

/** The model that evaluations judge: the one that `MEMORYD_EVAL_MODEL` names, else the default of new stores. */
export function modelUnderTest(): EmbeddingModel {
  const name = process.env["MEMORYD_EVAL_MODEL"];
  const model = name === undefined ? BUNDLED_MODELS[0] : BUNDLED_MODELS.find((each) => each.name === name);
  if (model === undefined) throw new Error(`MEMORYD_EVAL_MODEL: no model ships as ${String(name)}`);
  return model;
}

/** A model on this thread, before windows and rounding, for evaluations that vary these. */
export async function openBareModel(model: EmbeddingModel = MINILM) {
  const { files, marks, prefixes, maxPieces } = model;
  const { reader } = await openPieceReader(model);
  const session = await openModelSession(files.model.path, marks);
  const projection = existsSync(files.projection.path)
    ? readProjection(await readFile(files.projection.path), model)
    : undefined;
  const vectorOf = (states: Float32Array) => projection?.vector(states, "window") ?? pool(states, model);
  const prefix = Array.from(reader.units(prefixes.window), ({ pieces }) => pieces.map(({ id }) => id)).flat();
  const run = (pieces: readonly Piece[]) => session.run([...prefix, ...pieces.map(({ id }) => id)]);
  return {
    reader,
    /** Pieces of the text, cut to what the model can read, their vectors at unit length, and the text's embedding. */
    async read(text: string): Promise<{ pieces: Piece[]; rows: Float32Array[]; vector: Float32Array }> {
      const pieces = Array.from(reader.units(text), (unit) => unit.pieces)
        .flat()
        .slice(0, maxPieces - 2 - prefix.length);
      const states = await run(pieces);
      const rows = pieces.map((_, i) => {
        const at = (1 + prefix.length + i) * EMBEDDING_DIMENSIONS;
        return scaleToUnit(states.slice(at, at + EMBEDDING_DIMENSIONS));
      });
      return { pieces, rows, vector: vectorOf(states) };
    },
    /** The embedding of pieces that were read before. */
    embed: async (pieces: readonly Piece[]) => vectorOf(await run(pieces)),
    release: () => session.release(),
  };
}
