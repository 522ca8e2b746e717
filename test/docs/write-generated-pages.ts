/** `npm run docs`: brings the generated parts of docs/ up to date. */
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { generatedPages, ROOT } from "./generated-pages.ts";

for (const [path, { shouldBe }] of await generatedPages()) writeFileSync(resolve(ROOT, path), shouldBe);
