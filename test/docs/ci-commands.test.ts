/** What `.ci/run` runs on a clean checkout is what the README tells people to run. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, it } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");

it("the README shows the test commands that .ci/run runs", () => {
  const [, command = ""] =
    /^README_TEST_COMMAND="(.+)"$/m.exec(readFileSync(resolve(ROOT, ".ci/run"), "utf8")) ?? [];
  const readme = readFileSync(resolve(ROOT, "README.md"), "utf8");
  const shown = Array.from(
    readme.matchAll(/^```(?:sh|bash|console)\n([\s\S]*?)^```/gm),
    ([, block = ""]) => block,
  );
  const lines = new Set(shown.flatMap((block) => block.split(/\n|&&/)).map((line) => line.trim()));
  expect([...lines]).toEqual(expect.arrayContaining(command.split("&&").map((part) => part.trim())));
});
