/**
 * Makes the sector classifier of each model that ships from the labelled statements in `data/sectors`. The statements
 * for checking stay out.
 *
 *   npx jiti test/eval/train-sectors.ts
 *
 * Made again on one machine the files are the same to the byte; another kind of processor rounds the embeddings
 * differently and may change last digits. How good they are says `npx vitest run --project eval sectors`.
 */
import { writeFileSync } from "node:fs";
import { BUNDLED_MODELS } from "../../src/models/bundled-models.ts";
import { trainSectors } from "../../src/core/sectors/train-sectors.ts";
import { formatModel, readExamples } from "./sector-training.ts";

// A former model keeps the classifier that it has.
for (const model of BUNDLED_MODELS.filter(({ successor }) => successor === undefined)) {
  const examples = await readExamples(model, "statements", "further-statements");
  const json = formatModel(trainSectors(model.stamp.model, examples));
  writeFileSync(model.sectors, json);
  console.log(`${model.sectors}: ${json.length} bytes, from ${examples.length} statements`);
}
