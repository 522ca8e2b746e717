/** What the sector classifier is trained with and measured on; used by the script that ships it and by the evaluation. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { SectorModel } from "../../src/core/sectors/sectors.ts";
import type { Example, Statement } from "../../src/core/sectors/train-sectors.ts";
import type { EmbeddingModel } from "../../src/models/bundled-models.ts";
import { useLanguages } from "../../src/core/text/languages.ts";
import { readLanguages } from "../../src/files/read-languages.ts";
import { openBareModel } from "./bare-model.ts";

// The cues of sectors are words of languages, also for the script that trains.
useLanguages(readLanguages);

export const SECTORS_DIRECTORY = join(import.meta.dirname, "../../data/sectors");

/** Statements of `data/sectors` with their embeddings, in the order of the file. */
export async function readExamples(
  embedding: EmbeddingModel,
  ...names: readonly string[]
): Promise<Example[]> {
  const statements = names.flatMap(
    (name) => JSON.parse(readFileSync(join(SECTORS_DIRECTORY, `${name}.json`), "utf8")) as Statement[],
  );
  const model = await openBareModel(embedding);
  const examples: Example[] = [];
  for (const statement of statements) {
    examples.push({ ...statement, embedding: (await model.read(statement.text)).vector });
  }
  await model.release();
  return examples;
}

/** The model as it is shipped: a line a list, so that a change can be read. */
export function formatModel(model: SectorModel): string {
  return `${JSON.stringify(model, null, 2).replaceAll(/\[\s+([^\]]+?)\s+\]/g, (_, list: string) => `[${list.replaceAll(/,\s+/g, ", ")}]`)}\n`;
}
