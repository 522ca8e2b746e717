import { type EmbeddingModel, readVerified } from "./bundled-models.ts";
import { buildPieceTable } from "./piece-table.ts";
import { SentencePieces } from "./sentence-pieces.ts";
import type { PieceReader } from "./text-units.ts";
import { WordPieces } from "./word-pieces.ts";

export interface OpenedPieceReader {
  readonly reader: PieceReader;
  /** For readers in other threads; absent where the model's pieces are not shared. */
  readonly pieceTable?: SharedArrayBuffer;
}

/**
 * The tokenizer of a model. Takes long and much memory for the 250 000 pieces of a model of many languages, unless given
 * the `pieceTable` of an earlier call.
 *
 * @throws {ServiceError} MODEL_UNAVAILABLE if a file is missing or not the expected one.
 */
export async function openPieceReader(
  { kind, files }: Pick<EmbeddingModel, "kind" | "files">,
  pieceTable?: SharedArrayBuffer,
): Promise<OpenedPieceReader> {
  if (kind === "xlm-roberta") {
    const table = pieceTable ?? buildPieceTable(await readVerified(files.tokenizer));
    return { reader: new SentencePieces(table), pieceTable: table };
  }
  const [tokenizer, config] = await Promise.all([
    readVerified(files.tokenizer),
    readVerified(files.tokenizerConfig),
  ]);
  return {
    reader: new WordPieces(
      JSON.parse(tokenizer.toString("utf8")) as object,
      JSON.parse(config.toString("utf8")) as object,
    ),
  };
}
