import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MODEL_NAMES } from "../config/settings-schema.ts";
import { isMissing } from "../config/system-error.ts";
import { holdsStore } from "../storage/data-directory.ts";
import { nodeDisk } from "../storage/disk.ts";

export type ModelName = (typeof MODEL_NAMES)[number];

/** No part of the store: without the file a store keeps the model of its vectors. */
const FILE = "MODEL";

/** @returns the model that the store shall have from its next start on; undefined without a choice. */
export function chosenModel(dataDir: string): ModelName | undefined {
  let text: string;
  try {
    text = readFileSync(join(dataDir, FILE), "utf8").trim();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  return MODEL_NAMES.find((name) => name === text);
}

/** Chooses the model that the store has from its next start on. @returns false, and does nothing, where no store is. */
export async function chooseModel(dataDir: string, name: ModelName): Promise<boolean> {
  if (!(await holdsStore(nodeDisk, dataDir))) return false;
  const path = join(dataDir, FILE);
  writeFileSync(`${path}.tmp`, `${name}\n`, { mode: 0o600 });
  renameSync(`${path}.tmp`, path);
  return true;
}
