import { Tokenizer } from "@huggingface/tokenizers";
import { fold } from "../../core/text/fold.ts";
import { type EmbeddingModel, readVerified } from "../bundled-models.ts";
import { buildPieceTable } from "./piece-table.ts";
import { SentencePieces } from "./sentence-pieces.ts";
import { type Piece, type PieceReader, type Unit, unitsOf } from "../text-units.ts";

export interface OpenedPieceReader {
  readonly reader: PieceReader;
  /** For readers in other threads; absent for models that do not share their pieces. */
  readonly pieceTable?: SharedArrayBuffer;
}

/**
 * The tokenizer of a model. For the 250 000 pieces of a multilingual model it takes long and much memory without the
 * `pieceTable` of an earlier call.
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

/** The model's own marks ([UNK], [CLS] …) and unused pieces. */
const MARK = /^\[(?:[A-Z]+|unused\d+)\]$/;
const PUNCTUATION = /^[\p{P}\p{S}]+$/u;

/** Reads text into the word pieces of a BERT model. */
class WordPieces implements PieceReader {
  readonly #tokenizer: Tokenizer;

  /** Takes the parsed `tokenizer.json` and `tokenizer_config.json` of a BERT model. */
  constructor(tokenizer: object, config: object) {
    // Units are short, and windows are cut elsewhere.
    this.#tokenizer = new Tokenizer({ ...tokenizer, padding: null, truncation: null }, config);
  }

  units(text: string): Generator<Unit, void> {
    return unitsOf(text, (unit) => this.#read(unit));
  }

  #read(unit: string): Piece[] {
    const { ids, tokens }: { ids: number[]; tokens: string[] } = this.#tokenizer.encode(unit, {
      add_special_tokens: false,
    });
    const words: string[] = [];
    const wordOf = tokens.map((token) => {
      if (token.startsWith("##") && words.length > 0) words[words.length - 1] += token.slice(2);
      else words.push(token);
      return words.length - 1;
    });
    return ids.map((id, i) => {
      const word = words[wordOf[i] ?? 0] ?? "";
      return { id, word: fold(word), isWord: !MARK.test(tokens[i] ?? "") && !PUNCTUATION.test(word) };
    });
  }
}
