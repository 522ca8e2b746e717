import { execFileSync } from "node:child_process";
import { mkdtempSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { permissionFlag, readableFolders, sandboxArguments } from "../../src/sandbox/sandboxed-process.ts";

const PACKAGES = ["mammoth"];

let folder = "";
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "memoryd-sandbox-")));
});
afterEach(() => rmSync(folder, { recursive: true }));

function packageAt(path: string, main: string): string {
  mkdirSync(join(folder, path), { recursive: true });
  writeFileSync(join(folder, path, "package.json"), '{ "type": "module", "main": "main.js" }');
  writeFileSync(join(folder, path, "main.js"), main);
  return join(folder, path);
}

describe("readableFolders", () => {
  it("are the package and the modules beside it (npm, npx)", () => {
    packageAt("node_modules/mammoth", "");
    const root = packageAt("node_modules/memoryd", "");
    expect(readableFolders(join(root, "dist/extraction/worker.js"), PACKAGES)).toEqual([
      join(folder, "node_modules"),
    ]);
  });

  it("are the places that links lead to (pnpm)", () => {
    packageAt("store/mammoth@1/node_modules/mammoth", "");
    const root = packageAt("project/node_modules/.pnpm/memoryd@1/node_modules/memoryd", "");
    symlinkSync(join(folder, "store/mammoth@1/node_modules/mammoth"), join(root, "../mammoth"));
    expect(readableFolders(join(root, "dist/extraction/worker.js"), PACKAGES).sort()).toEqual([
      join(folder, "project/node_modules"),
      join(folder, "store/mammoth@1/node_modules"),
    ]);
  });

  it("are the checkout and its modules", () => {
    const root = packageAt("checkout", "");
    packageAt("checkout/node_modules/mammoth", "");
    expect(readableFolders(join(root, "dist/extraction/worker.js"), PACKAGES)).toEqual([root]);
  });
});

describe("sandboxArguments", () => {
  it.each([
    ["20.19.0", "--experimental-permission"],
    ["22.12.0", "--experimental-permission"],
    ["22.13.0", "--permission"],
    ["23.4.0", "--experimental-permission"],
    ["24.0.0", "--permission"],
  ])("knows the flag of Node %s", (version, flag) => expect(permissionFlag(version)).toBe(flag));

  it("make a Node that reads the program, and can do nothing else", () => {
    const root = packageAt("program", "");
    mkdirSync(join(root, "dist/extraction"), { recursive: true });
    writeFileSync(join(folder, "secret.txt"), "secret");
    const worker = join(root, "dist/extraction/worker.js");
    writeFileSync(
      worker,
      `import { readFileSync, writeFileSync } from "node:fs";
       import { execSync } from "node:child_process";
       import { createRequire } from "node:module";
       const attempt = (deed) => { try { deed(); return "done"; } catch (error) { return error.code; } };
       console.log([
         attempt(() => readFileSync(${JSON.stringify(worker)})),
         attempt(() => readFileSync(${JSON.stringify(join(folder, "secret.txt"))})),
         attempt(() => readFileSync("/etc/hostname")),
         attempt(() => writeFileSync(${JSON.stringify(join(root, "new.txt"))}, "")),
         attempt(() => execSync("true")),
         attempt(() => process.dlopen({ exports: {} }, ${JSON.stringify(worker)})),
       ].join(" "));`,
    );
    const printed = execFileSync(
      process.execPath,
      [...sandboxArguments({ worker, heapBytes: 64 * 1024 ** 2, packages: [] }), worker],
      {
        env: {},
      },
    );
    const denied = "ERR_ACCESS_DENIED";
    expect(printed.toString().trim().split(" ")).toEqual([
      "done",
      denied,
      denied,
      denied,
      denied,
      expect.stringMatching(/^ERR_(?:ACCESS_DENIED|DLOPEN_)/),
    ]);
  });
});
