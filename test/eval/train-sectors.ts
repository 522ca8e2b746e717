/**
 * Makes `data/sectors/classifier.json` from the labelled statements beside it. The statements for checking stay out.
 *
 *   npx jiti test/eval/train-sectors.ts
 *
 * Made again on one machine the file is the same to the byte; another kind of processor rounds the embeddings
 * differently and may change last digits. How good it is says `npx vitest run --project eval sectors`.
 */
import { writeFileSync } from "node:fs";
import { CLASSIFIER_FILE, formatModel, readExamples, trainSectors } from "./sector-training.ts";

const examples = await readExamples("statements", "further-statements");
const json = formatModel(trainSectors(examples));
writeFileSync(CLASSIFIER_FILE, json);
console.log(`${CLASSIFIER_FILE}: ${json.length} bytes, from ${examples.length} statements`);
