/**
 * `npm run eval -- NAME…`: the evaluations of those names, with or without dashes (`--speech`); all without a name.
 * `--longmemeval FILE` measures on a file of the user instead.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { runLongMemEval } from "./longmemeval.ts";

const [first, file] = process.argv.slice(2);
if (first?.replace(/^--/, "") === "longmemeval") {
  try {
    await runLongMemEval(file);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
} else runEvaluations();

function runEvaluations() {
  const root = join(import.meta.dirname, "../..");
  const names = process.argv.slice(2).map((argument) => {
    const name = argument.replace(/^--/, "");
    return existsSync(join(import.meta.dirname, `${name}.eval.ts`)) ? `test/eval/${name}.eval.ts` : argument;
  });
  const vitest = join(createRequire(import.meta.url).resolve("vitest/package.json"), "../vitest.mjs");
  const { status } = spawnSync(process.execPath, [vitest, "run", "--project", "eval", ...names], {
    cwd: root,
    stdio: "inherit",
  });
  process.exitCode = status ?? 1;
}
