import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EMBEDDING_DIMENSIONS } from "../../src/core/embedding.ts";
import { MODEL_DIRECTORY, MODEL_MAX_PIECES } from "../../src/models/bundled-model.ts";
import { meanPool, openModelSession, scaleToUnit } from "../../src/models/model-session.ts";
import { WordPieces, type Piece } from "../../src/models/word-pieces.ts";

/** The model on this thread, before windows, projection and rounding, for evaluations that vary these. */
export async function openBareModel() {
  const json = (name: string) => JSON.parse(readFileSync(join(MODEL_DIRECTORY, name), "utf8")) as object;
  const tokenizer = json("tokenizer.json") as {
    readonly model: { readonly vocab: Readonly<Record<string, number>> };
  };
  const reader = new WordPieces(tokenizer, json("tokenizer_config.json"));
  const session = await openModelSession(readFileSync(join(MODEL_DIRECTORY, "onnx/model_quantized.onnx")));
  return {
    reader,
    /** Ids by piece. */
    vocabulary: tokenizer.model.vocab,
    /** Pieces of the text, cut to what the model can read, their vectors at unit length, and the text's embedding. */
    async read(text: string): Promise<{ pieces: Piece[]; rows: Float32Array[]; vector: Float32Array }> {
      const pieces = Array.from(reader.units(text), (unit) => unit.pieces)
        .flat()
        .slice(0, MODEL_MAX_PIECES - 2);
      const states = await session.run(pieces.map((piece) => piece.id));
      const rows = pieces.map((_, i) =>
        scaleToUnit(states.slice((i + 1) * EMBEDDING_DIMENSIONS, (i + 2) * EMBEDDING_DIMENSIONS)),
      );
      return { pieces, rows, vector: meanPool(states) };
    },
    /** The embedding of pieces that were read before. */
    embed: async (pieces: readonly Piece[]) => meanPool(await session.run(pieces.map((piece) => piece.id))),
    release: () => session.release(),
  };
}
