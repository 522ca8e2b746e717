/** The quickstart's programs in TypeScript and Python, run as they stand there, against the server over fakes. */
import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createDocumentWorld } from "../support/document-world.ts";
import { fakeId } from "../support/fake-operations.ts";
import { createTestServer, type TestServer } from "../support/test-server.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const quickstart = readFileSync(join(ROOT, "docs/quickstart.md"), "utf8");

const PYTHON = process.env["MEMORYD_TEST_PYTHON"] ?? "python3";
const hasRequests = spawnSync(PYTHON, ["-c", "import requests"]).status === 0;
if (!hasRequests)
  process.stderr.write(`Skipped: ${PYTHON} has no package requests (pip install requests).\n`);

let home: string;
let server: TestServer;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "memoryd-programs-"));
  writeFileSync(join(home, "garden.md"), "# Garlic\n\nPlant it in October.");
  const documents = createDocumentWorld();
  let ids = 0;
  Object.assign(documents.documentPorts.ids, { newId: () => fakeId((ids += 1)) });
  server = createTestServer({}, { documents: documents.operations });
  await server.app.listen({ host: "127.0.0.1", port: 0 });
});
afterEach(async () => {
  await server.app.close();
  rmSync(home, { recursive: true, force: true });
});

/** Runs the quickstart's only program in a language; answers what it prints. */
async function run(language: string, command: readonly [string, ...string[]]): Promise<string> {
  const programs = Array.from(quickstart.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, "gm")));
  expect(programs).toHaveLength(1);
  const { port } = server.app.server.address() as AddressInfo;
  const program = (programs[0]?.[1] ?? "")
    .replaceAll("127.0.0.1:8080", `127.0.0.1:${port}`)
    .replace('"memoryd/client"', JSON.stringify(join(ROOT, "src/client/client.ts")));
  const file = join(home, `program.${language}`);
  writeFileSync(file, program);
  const [name, ...words] = command;
  const { stdout } = await promisify(execFile)(name, [...words, file], { cwd: home });
  return stdout;
}

const PRINTED =
  "0.50 The spare key hangs behind the water meter.\n1. The spare key hangs behind the water meter.\n1 in all\n";

it("TypeScript, which has no mistakes of type either", { timeout: 120_000 }, async () => {
  const printed = await run("ts", [process.execPath, join(ROOT, "node_modules/jiti/lib/jiti-cli.mjs")]);
  expect(printed).toBe(`${PRINTED}Garlic\nNOT_FOUND\n`);
  const settings = {
    extends: join(ROOT, "test/tsconfig.json"),
    compilerOptions: { rootDir: "/", typeRoots: [join(ROOT, "node_modules/@types")] },
    include: ["program.ts"],
  };
  writeFileSync(join(home, "tsconfig.json"), JSON.stringify(settings));
  writeFileSync(join(home, "package.json"), '{ "type": "module" }');
  const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
  // What it complains of is in the error.
  await promisify(execFile)(process.execPath, [compiler, "-p", home], { cwd: home });
});

it.skipIf(!hasRequests)("Python with requests", { timeout: 60_000 }, async () => {
  expect(await run("python", [PYTHON])).toBe(`${PRINTED}NOT_FOUND\n`);
});
