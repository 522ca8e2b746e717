import { randomBytes } from "node:crypto";
import { cp, readdir, readFile, rename, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { setVariables } from "../config/config.ts";
import { isMissing } from "../config/narrow.ts";
import { conflict, invalidRequest, notFound, type ServiceError, storeFull } from "../core/errors.ts";
import { makeFolder } from "../files/own-files.ts";
import type { Calibration, CalibrationTexts } from "../models/added/calibrate-model.ts";
import { BUNDLED_MODELS, ONNX_ENVIRONMENT, PACKAGE_ROOT } from "../models/bundled-models.ts";
import type { EmbeddingModel } from "../models/bundled-models.ts";
import { checkPieces, MODEL_FILES, readForeignModel, unfit } from "../models/added/foreign-model.ts";
import type { ForeignModel } from "../models/added/foreign-model.ts";
import {
  modelsOf,
  ADDED_FILES,
  MODELS_FOLDER,
  MODEL_MANIFEST,
  MODEL_NAME,
  MODEL_SECTORS,
  type AddedModel,
  sha256Of,
} from "../models/added/added-models.ts";
import { hasCode, nodeDisk } from "../storage/files/disk.ts";
import { inWords } from "../storage/files/disk-space.ts";
import { isAlive } from "../storage/files/process-identity.ts";
import { isFull } from "../storage/journal/journal.ts";
import { openDataDirectory } from "./key-service.ts";

/** A model that is about to be added, for the person who decides on it. */
export interface ModelOffer {
  readonly name: string;
  /** Where it comes from. */
  readonly from: string;
  readonly bytes: number;
  readonly licence: string;
}

export interface AddModelOptions {
  readonly dataDir: string;
  /** The name that it is kept under; that of the folder, if absent. */
  readonly as?: string;
  readonly signal: AbortSignal;
  /** Nothing is written before, and nothing at all after a no. */
  readonly confirm: (offer: ModelOffer) => Promise<boolean>;
  readonly onProgress?: (line: string) => void;
  readonly freeBytes?: (folder: string) => Promise<number>;
  /** Texts to measure it with; those that ship, if absent. */
  readonly texts?: CalibrationTexts;
}

/** A folder that a model comes from, with the sizes of the model's files in it. */
interface Source {
  readonly from: string;
  readonly name: string;
  readonly licence: string;
  readonly sizes: ReadonlyMap<string, number>;
}

/** ONNX puts larger weights into several files. */
const MAX_WEIGHTS_BYTES = 2 * 1024 ** 3;
const MAX_OTHER_BYTES = 64 * 1024 ** 2;
/** Left free besides the model. */
const KEEP_FREE_BYTES = 64 * 1024 ** 2;
/** Related texts must be nearer to each other than unrelated ones by so much. */
const LEAST_DIFFERENCE = 0.15;
const UNFINISHED = ".adding-";

/**
 * Copies an embedding model from a folder into a data directory, whether its daemon runs or not. The model
 * appears whole, under its name; what a killed process leaves goes with the next call.
 * @returns undefined where it was not confirmed.
 * @throws {ServiceError} INVALID_REQUEST, CONFLICT (the name is taken), NOT_FOUND, UNPROCESSABLE (it cannot be used here),
 *   STORE_FULL. Nothing is left behind.
 */
export async function addModel(source: string, options: AddModelOptions): Promise<AddedModel | undefined> {
  const { dataDir, freeBytes = (folder) => nodeDisk.freeBytes(folder) } = options;
  const found = await openSource(source);
  const name = options.as ?? found.name;
  checkName(name, dataDir);
  const paths = chooseFiles(found.sizes);
  const bytes = paths.reduce((sum, path) => sum + (found.sizes.get(path) ?? 0), 0);
  const { from, licence } = found;
  if (!(await options.confirm({ name, from, bytes, licence }))) return undefined;

  await openDataDirectory(dataDir);
  const folder = join(dataDir, MODELS_FOLDER);
  const space = { free: await freeBytes(dataDir), needed: bytes + KEEP_FREE_BYTES };
  if (space.free < space.needed) throw storeFull(`There is no room for the model (${inWords(space)}).`);
  await removeUnfinished(folder);
  const unfinished = join(folder, `${UNFINISHED}${process.pid}-${randomBytes(4).toString("hex")}`);
  try {
    await nodeDisk.makeDirectory(unfinished);
    const added = await make(unfinished, paths, found, options);
    await rename(unfinished, join(folder, name)).catch((error: unknown) => {
      throw hasCode(error, "ENOTEMPTY", "EEXIST") ? taken(name, dataDir) : error;
    });
    await nodeDisk.syncDirectory(folder);
    return added;
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    // Only where it is empty.
    await rmdir(folder).catch(() => undefined);
    throw isFull(error)
      ? storeFull("The disk became full; nothing of the model was kept.", { cause: error })
      : error;
  }
}

function checkName(name: string, dataDir: string): void {
  if (!MODEL_NAME.test(name))
    throw invalidRequest(
      `"${plain(name)}" cannot name a model: use letters, digits, ".", "_" and "-", at most 64, beginning with a letter or digit ` +
        "(--as NAME).",
    );
  if (BUNDLED_MODELS.some((model) => model.name === name))
    throw conflict(`${name} ships with memoryd; keep this one under another name with --as NAME.`);
  if (modelsOf(dataDir).some((model) => model.name === name)) throw taken(name, dataDir);
}

function taken(name: string, dataDir: string): ServiceError {
  return conflict(
    `There is a model ${name} already. Keep this one under another name with --as NAME, or remove ` +
      `${join(dataDir, MODELS_FOLDER, name)} if the store does not use it.`,
  );
}

async function openSource(source: string): Promise<Source> {
  const folder = resolve(source);
  const isFolder = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder)
    throw notFound(
      `There is no folder ${folder}. A model is added from a folder on this machine that holds its ONNX file and tokenizer.json.`,
    );
  const sizes = new Map<string, number>();
  for (const path of [...MODEL_FILES.needed, ...MODEL_FILES.optional, ...MODEL_FILES.weights]) {
    const found = await stat(join(folder, path)).catch(() => undefined);
    if (found?.isFile() === true) sizes.set(path, found.size);
  }
  const card = await readFile(join(folder, "README.md"), "utf8").catch(() => "");
  const [beforeHead, head = ""] = card.split(/^---$/m, 2);
  const licence = beforeHead === "" ? /^license:([^\n]*)/m.exec(head)?.[1]?.trim() : undefined;
  return {
    from: folder,
    name: basename(folder),
    licence: plain(licence ?? "") || "unknown licence",
    sizes,
  };
}

/** The paths to copy, the weights first. @throws {ServiceError} UNPROCESSABLE for files that are missing or too large. */
function chooseFiles(sizes: ReadonlyMap<string, number>): string[] {
  const weights = MODEL_FILES.weights.find((path) => sizes.has(path));
  if (weights === undefined) throw unfit(`it has no ONNX file (${MODEL_FILES.weights.join(", ")})`);
  const missing = MODEL_FILES.needed.filter((path) => !sizes.has(path));
  if (missing.length > 0) throw unfit(`it has no ${missing.join(" and no ")}`);
  const paths = [weights, ...MODEL_FILES.needed, ...MODEL_FILES.optional.filter((path) => sizes.has(path))];
  const large = paths.find(
    (path) => (sizes.get(path) ?? 0) > (path === weights ? MAX_WEIGHTS_BYTES : MAX_OTHER_BYTES),
  );
  if (large !== undefined) throw unfit(`its ${large} has ${sizes.get(large)} bytes, which is too large`);
  return paths;
}

/** Copies, checks and measures a model in a folder of its own, in which what an added model has is left. */
async function make(
  folder: string,
  paths: readonly string[],
  source: Source,
  { signal, onProgress = () => {}, texts }: AddModelOptions,
): Promise<AddedModel> {
  const copied = join(folder, "copied");
  for (const path of paths) {
    const to = join(copied, path);
    makeFolder(dirname(to));
    // Without its links: a cache of downloaded models has files that are links.
    await cp(join(source.from, path), to, { dereference: true });
    signal.throwIfAborted();
  }
  const described = await readForeignModel(copied);
  const own = (of: keyof typeof ADDED_FILES) => join(folder, ADDED_FILES[of]);
  await rename(join(copied, paths[0] ?? ""), own("model"));
  await rename(join(copied, "tokenizer.json"), own("tokenizer"));
  await rename(join(copied, "tokenizer_config.json"), own("tokenizerConfig")).catch((error: unknown) => {
    if (!isMissing(error)) throw error;
    return writeFile(own("tokenizerConfig"), "{}\n");
  });
  await rm(copied, { recursive: true });

  const hashed = async (of: keyof typeof ADDED_FILES) => ({
    path: own(of),
    sha256: sha256Of(await readFile(own(of))),
  });
  const files = {
    model: await hashed("model"),
    tokenizer: await hashed("tokenizer"),
    tokenizerConfig: await hashed("tokenizerConfig"),
  };
  const { figures, projection, sectors } = await measure(
    described,
    files,
    texts ?? (await readCalibrationTexts()),
    (line) => {
      signal.throwIfAborted();
      onProgress(line);
    },
  );
  await writeFile(own("projection"), projection);
  await writeFile(join(folder, MODEL_SECTORS), JSON.stringify(sectors));
  const { from, licence } = source;
  const added: AddedModel = {
    version: 1,
    source: from,
    licence,
    languages: "languages not named",
    ...described,
    figures,
    sha256: {
      model: files.model.sha256,
      tokenizer: files.tokenizer.sha256,
      tokenizerConfig: files.tokenizerConfig.sha256,
      projection: (await hashed("projection")).sha256,
    },
  };
  await writeFile(join(folder, MODEL_MANIFEST), `${JSON.stringify(added, null, 2)}\n`);
  for (const name of await readdir(folder)) {
    const file = await nodeDisk.open(join(folder, name), "write");
    await file.sync();
    await file.close();
  }
  await nodeDisk.syncDirectory(folder);
  return added;
}

/** @throws {ServiceError} UNPROCESSABLE for one that cannot be run, or does not know texts that say the same. */
async function measure(
  model: ForeignModel,
  files: Omit<EmbeddingModel["files"], "projection">,
  texts: CalibrationTexts,
  onProgress: (line: string) => void,
): Promise<Calibration> {
  // Before ONNX Runtime is loaded.
  setVariables(ONNX_ENVIRONMENT);
  const [{ openModelSession }, { openPieceReader }, { calibrateModel }] = await Promise.all([
    import("../models/model-session.ts"),
    import("../models/tokenizer/piece-reader.ts"),
    import("../models/added/calibrate-model.ts"),
  ]);
  const complete = { ...model, files: { ...files, projection: files.model } };
  const { reader } = await openPieceReader(complete).catch((error: Error) => {
    throw unfit(`its tokenizer cannot be read (${error.message})`, error);
  });
  await checkPieces(reader, complete, texts.pairs.flat());
  const session = await openModelSession(files.model.path, model.marks).catch((error: Error) => {
    throw unfit(`its ONNX file cannot be loaded (${error.message.slice(0, 200)})`, error);
  });
  try {
    const states = await session.run([model.marks[0]]).catch((error: Error) => {
      throw unfit(`its ONNX file cannot be run (${error.message.slice(0, 200)})`, error);
    });
    if (states.length !== 3 * model.hiddenSize)
      throw unfit(
        `it gives ${states.length / 3} numbers for a piece, and its config.json says ${model.hiddenSize}`,
      );
    const measured = await calibrateModel({ ...complete, session, reader }, texts, (done, total) =>
      onProgress(`measuring the model: ${Math.floor((100 * done) / total)} %`),
    );
    const { related, unrelated } = measured.figures;
    if (!(related - unrelated >= LEAST_DIFFERENCE))
      throw unfit(
        `it does not tell texts that say the same (cosine ${related}) from others (${unrelated}), so it is no sentence encoder`,
      );
    return measured;
  } finally {
    await session.release();
  }
}

export async function readCalibrationTexts(): Promise<CalibrationTexts> {
  const read = async (path: string): Promise<unknown> =>
    JSON.parse(await readFile(join(PACKAGE_ROOT, "data", path), "utf8"));
  const [statements, further, pairs] = await Promise.all(
    ["sectors/statements.json", "sectors/further-statements.json", "models/calibration-pairs.json"].map(read),
  );
  return {
    statements: [statements, further].flat() as CalibrationTexts["statements"],
    pairs: pairs as CalibrationTexts["pairs"],
  };
}

/** Removes folders of additions that were killed. */
async function removeUnfinished(folder: string): Promise<void> {
  for (const { name } of await nodeDisk.list(folder)) {
    if (!name.startsWith(UNFINISHED)) continue;
    const pid = Number(name.slice(UNFINISHED.length).split("-")[0]);
    if (!isAlive(pid)) await rm(join(folder, name), { recursive: true, force: true });
  }
}

/** Words of somebody else, fit for a terminal and a table. */
const plain = (text: string): string => text.replaceAll(/[^\p{L}\p{N} .,+_-]/gu, "").slice(0, 80);
