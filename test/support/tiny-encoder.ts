/** A sentence encoder small enough to be written by a test, with the files that one at a hub has. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { seededRandom } from "./seeded-random.ts";

const DATA = join(import.meta.dirname, "../../data");
const MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];

export interface TinyEncoder {
  readonly hiddenSize?: number;
  /** Whether it knows which texts say the same, as a trained model does; else all pieces are alike. */
  readonly isTrained?: boolean;
  readonly config?: object;
}

/** The files of a model whose hidden states are a vector a piece, by their paths. */
export function tinyEncoder({ hiddenSize = 48, isTrained = true, config = {} }: TinyEncoder = {}): Map<
  string,
  Buffer
> {
  const pairs = JSON.parse(readFileSync(join(DATA, "models/calibration-pairs.json"), "utf8")) as string[][];
  const random = seededRandom(7);
  const drawn = () => Float32Array.from({ length: hiddenSize }, () => random() - 0.5);
  const words = new Map<string, Float32Array>();
  for (const pair of pairs) {
    const topic = drawn();
    for (const word of pair
      .join(" ")
      .toLowerCase()
      .match(/\p{L}+|\p{N}+/gu) ?? []) {
      const own = words.get(word) ?? drawn();
      words.set(
        word,
        own.map((x, i) => x + 2 * (topic[i] ?? 0)),
      );
    }
  }
  const letters = "abcdefghijklmnopqrstuvwxyz0123456789".split("");
  const pieces = [...MARKS, ...letters, ...letters.map((letter) => `##${letter}`), ...",.;:'-!?".split("")];
  const vocabulary = [...new Set([...pieces, ...words.keys()])];
  const table = Float32Array.from(
    vocabulary.flatMap((piece) =>
      isTrained ? [...(words.get(piece) ?? drawn().map((x) => x / 4))] : Array<number>(hiddenSize).fill(0.5),
    ),
  );
  const json = (value: unknown) => Buffer.from(JSON.stringify(value));
  const added = MARKS.map((content, id) => ({
    id,
    content,
    special: true,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
  }));
  return new Map([
    ["onnx/model.onnx", lookUpModel(table, vocabulary.length, hiddenSize)],
    [
      "config.json",
      json({ model_type: "bert", hidden_size: hiddenSize, max_position_embeddings: 512, ...config }),
    ],
    [
      "tokenizer.json",
      json({
        version: "1.0",
        truncation: { max_length: 16, strategy: "LongestFirst", stride: 0, direction: "Right" },
        padding: null,
        added_tokens: added,
        normalizer: { type: "BertNormalizer", clean_text: true, handle_chinese_chars: true, lowercase: true },
        pre_tokenizer: { type: "BertPreTokenizer" },
        post_processor: null,
        decoder: { type: "WordPiece", prefix: "##", cleanup: true },
        model: {
          type: "WordPiece",
          unk_token: "[UNK]",
          continuing_subword_prefix: "##",
          max_input_chars_per_word: 100,
          vocab: Object.fromEntries(vocabulary.map((piece, id) => [piece, id])),
        },
      }),
    ],
    ["tokenizer_config.json", json({ tokenizer_class: "BertTokenizer", do_lower_case: true })],
    ["1_Pooling/config.json", json({ pooling_mode_mean_tokens: true, pooling_mode_cls_token: false })],
    [
      "config_sentence_transformers.json",
      json({ prompts: { query: "query: ", document: "passage: " }, default_prompt_name: null }),
    ],
    ["README.md", Buffer.from("---\nlanguage: en\nlicense: mit\n---\n# Tiny\n")],
  ]);
}

export function writeFiles(folder: string, files: ReadonlyMap<string, Uint8Array>): void {
  for (const [path, bytes] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  }
}

/* ONNX, as protocol buffers: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto */

const FLOAT = 1;
const INT64 = 7;

/** A model that looks each id up in a table. */
function lookUpModel(table: Float32Array, rows: number, columns: number): Buffer {
  const weights = message([1, rows], [1, columns], [2, FLOAT], [8, "words"], [9, Buffer.from(table.buffer)]);
  const node = message([1, "words"], [1, "input_ids"], [2, "last_hidden_state"], [4, "Gather"]);
  const graph = message(
    [1, node],
    [2, "tiny"],
    [5, weights],
    [11, tensor("input_ids", INT64, 2)],
    [12, tensor("last_hidden_state", FLOAT, 3)],
  );
  return message([1, 8], [7, graph], [8, message([2, 13])]);
}

function tensor(name: string, type: number, dimensions: number): Buffer {
  const shape = message(...Array.from({ length: dimensions }, (_, i): Field => [1, message([2, `n${i}`])]));
  return message([1, name], [2, message([1, message([1, type], [2, shape])])]);
}

type Field = readonly [number: number, value: number | string | Buffer];

function message(...fields: readonly Field[]): Buffer {
  return Buffer.concat(
    fields.flatMap(([number, value]) => {
      if (typeof value === "number") return [varint(number * 8), varint(value)];
      const bytes = Buffer.from(value);
      return [varint(number * 8 + 2), varint(bytes.length), bytes];
    }),
  );
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    bytes.push((rest % 128) + (rest >= 128 ? 128 : 0));
    if (rest < 128) return Buffer.from(bytes);
  }
}
