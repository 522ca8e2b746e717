import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Tokenizer } from "@huggingface/tokenizers";
import { type ServiceError, unprocessable } from "../../core/errors.ts";
import type { EmbeddingModel } from "../bundled-models.ts";
import type { AddedModel } from "./added-models.ts";
import { type PieceReader, WINDOW } from "../windows.ts";

/** The files that say what a model is, by their paths in a folder. */
export const MODEL_FILES = {
  needed: ["config.json", "tokenizer.json"],
  optional: [
    "tokenizer_config.json",
    "modules.json",
    "config_sentence_transformers.json",
    "1_Pooling/config.json",
  ],
  /** The first that is there. Small ones first: a question must be embedded in milliseconds. */
  weights: [
    "onnx/model_quantized.onnx",
    "onnx/model_int8.onnx",
    "onnx/model_quint8_avx2.onnx",
    "onnx/model.onnx",
    "model_quantized.onnx",
    "model.onnx",
  ],
} as const;

export type ForeignModel = Pick<
  AddedModel,
  "kind" | "marks" | "maxPieces" | "hiddenSize" | "pooling" | "prefixes"
>;

/** Kinds of encoders whose inputs are known here. */
const ENCODERS = new Set(["bert", "xlm-roberta"]);
const MARKS = { bert: ["[CLS]", "[SEP]"], "xlm-roberta": ["<s>", "</s>"] } as const;
const MAX_HIDDEN = 4_096;
const MAX_PREFIX = 1_000;
/** Texts of which so many are cut in another way than the model was trained with make it unfit. */
const MAX_MISREAD_SHARE = 0.03;

type Json = Readonly<Record<string, unknown>>;

/** Reads what a model is from its files. @throws {ServiceError} UNPROCESSABLE with the reason. */
export async function readForeignModel(folder: string): Promise<ForeignModel> {
  const read = (path: string) => readJson(folder, path);
  const config = await read("config.json");
  const tokenizer = await read("tokenizer.json");
  const modelType = String(config["model_type"]);
  if (!ENCODERS.has(modelType) || config["is_decoder"] === true)
    throw unfit(
      `it is of the kind "${modelType}", and only encoders of the kinds bert and xlm-roberta are read`,
    );
  const kind = kindOf(tokenizer);
  const hiddenSize = Number(config["hidden_size"]);
  if (!Number.isInteger(hiddenSize) || hiddenSize < 1 || hiddenSize > MAX_HIDDEN)
    throw unfit(`its config.json has no hidden_size from 1 to ${MAX_HIDDEN}`);
  const pooling = poolingOf(await read("1_Pooling/config.json"), await read("modules.json"));
  // Positions of RoBERTa begin behind that of the padding.
  const reserved = modelType === "bert" ? 0 : Number(config["pad_token_id"] ?? 1) + 1;
  const maxPieces = Math.min(512, Number(config["max_position_embeddings"]) - reserved);
  // Windows, the marks at both ends, and a prefix.
  if (!(maxPieces >= WINDOW.rest + 2 + 6))
    throw unfit(`it reads ${maxPieces} pieces at once, and ${WINDOW.rest + 8} are needed`);
  const [first, last] = MARKS[kind].map((mark) => idOf(tokenizer, mark));
  if (first === undefined || last === undefined)
    throw unfit(`its tokenizer has no marks ${MARKS[kind].join(" and ")}`);
  const prefixes = prefixesOf(await read("config_sentence_transformers.json"));
  return { kind, marks: [first, last], maxPieces, hiddenSize, pooling, prefixes };
}

/** Checks that texts are cut as by the model's own tokenizer. @throws {ServiceError} UNPROCESSABLE. */
export async function checkPieces(
  reader: PieceReader,
  { files }: Pick<EmbeddingModel, "files">,
  texts: readonly string[],
): Promise<void> {
  const [json, config] = await Promise.all(
    [files.tokenizer.path, files.tokenizerConfig.path].map(
      async (path) => JSON.parse(await readFile(path, "utf8")) as object,
    ),
  );
  const own = new Tokenizer({ ...json, padding: null, truncation: null }, config ?? {});
  const misread = texts.filter((text) => {
    const ids = Array.from(reader.units(text), ({ pieces }) => pieces.map(({ id }) => id)).flat();
    const { ids: wanted }: { ids: number[] } = own.encode(text, { add_special_tokens: false });
    return ids.join() !== wanted.join();
  });
  if (misread.length > texts.length * MAX_MISREAD_SHARE)
    throw unfit(`its tokenizer cuts text in a way that is not known here, such as "${misread[0]}"`);
}

export const unfit = (reason: string, cause?: unknown): ServiceError =>
  unprocessable(`The model cannot be used: ${reason}.`, { cause });

function kindOf(tokenizer: Json): EmbeddingModel["kind"] {
  const type = (tokenizer["model"] as Json | undefined)?.["type"];
  if (type === "WordPiece") return "bert";
  if (type === "Unigram") return "xlm-roberta";
  throw unfit(`its tokenizer is of the kind "${String(type)}", and only WordPiece and Unigram are read`);
}

function idOf(tokenizer: Json, mark: string): number | undefined {
  const added = tokenizer["added_tokens"] as { readonly id: number; readonly content: string }[] | undefined;
  return added?.find(({ content }) => content === mark)?.id;
}

/** Without the files that say it, the mean, as sentence encoders are by far most often. */
function poolingOf(config: Json, modules: unknown): EmbeddingModel["pooling"] {
  const foreign = (Array.isArray(modules) ? (modules as Json[]) : [])
    .map(({ type }) => String(type).split(".").at(-1) ?? "")
    .filter((type) => !["Transformer", "Pooling", "Normalize"].includes(type));
  if (foreign.length > 0)
    throw unfit(`its modules.json has a step that is not known here: ${foreign.join(", ")}`);
  const flagged = Object.keys(config).filter(
    (key) => key.startsWith("pooling_mode_") && config[key] === true,
  );
  const mode =
    typeof config["pooling_mode"] === "string"
      ? config["pooling_mode"]
      : flagged.map((key) => key.slice("pooling_mode_".length)).join(" and ");
  if (/^(mean|mean_tokens|mean_sqrt_len_tokens|)$/.test(mode)) return "mean";
  if (/^(cls|cls_token)$/.test(mode)) return "first";
  throw unfit(
    `it makes its vectors by "${mode}", and only the mean of all pieces and the first one are known here`,
  );
}

function prefixesOf(config: Json): EmbeddingModel["prefixes"] {
  const prompts = (config["prompts"] ?? {}) as Json;
  const usual = prompts[String(config["default_prompt_name"])];
  const of = (...names: string[]) => {
    const found = names.map((name) => prompts[name]).find((prompt) => typeof prompt === "string") ?? usual;
    return typeof found === "string" ? found.trim() : "";
  };
  const prefixes = { question: of("query", "question"), window: of("document", "passage", "corpus") };
  if (Math.max(prefixes.question.length, prefixes.window.length) > MAX_PREFIX)
    throw unfit(`its prompts have more than ${MAX_PREFIX} characters`);
  return prefixes;
}

/** @returns an empty object for a file that is not there. */
async function readJson(folder: string, path: string): Promise<Json> {
  const text = await readFile(join(folder, path), "utf8").catch(() => "{}");
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value as Json;
  } catch {
    // Refused below.
  }
  throw unfit(`its ${path} is no JSON object`);
}
