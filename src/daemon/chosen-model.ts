import { join } from "node:path";
import { readIfThere, replaceText } from "../files/own-files.ts";
import { holdsStore } from "../storage/files/data-directory.ts";
import { nodeDisk } from "../storage/files/disk.ts";
import { modelsOf } from "../models/added/added-models.ts";
import type { EmbeddingModel } from "../models/bundled-models.ts";

/** No part of the store: without the file a store keeps the model of its vectors. */
const FILE = "MODEL";

/** @returns the model that the store shall have from its next start on; undefined without a choice. */
export function chosenModel(dataDir: string): EmbeddingModel | undefined {
  const text = readIfThere(join(dataDir, FILE));
  return text === undefined ? undefined : findModel(dataDir, text.trim());
}

/** Chooses the model that the store has from its next start on. @returns false, and does nothing, where no store is. */
export async function chooseModel(dataDir: string, name: string): Promise<boolean> {
  if (!(await holdsStore(nodeDisk, dataDir))) return false;
  replaceText(join(dataDir, FILE), `${name}\n`);
  return true;
}

/** A model that ships or was added into the data directory. */
export const findModel = (dataDir: string, name: string): EmbeddingModel | undefined =>
  modelsOf(dataDir).find((model) => model.name === name);

/** Models that a store may use, the default of new stores first. */
export const modelsAtHand = (dataDir: string): Pick<EmbeddingModel, "name" | "languages">[] =>
  modelsOf(dataDir).map(({ name, languages }) => ({ name, languages }));
