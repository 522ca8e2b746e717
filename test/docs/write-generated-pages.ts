/** `npm run docs`: brings the generated parts of docs/ and of the Python client up to date. */
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pythonCode } from "../clients/python-code.ts";
import { generatedPages, ROOT } from "./generated-pages.ts";

for (const [path, { shouldBe }] of await generatedPages()) writeFileSync(resolve(ROOT, path), shouldBe);
for (const [path, { shouldBe }] of await pythonCode()) writeFileSync(path, shouldBe);
