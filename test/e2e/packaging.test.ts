/**
 * The package as its users get it: packed, installed into an empty prefix without any install script (as the README
 * tells them to), started, used and stopped from there.
 */
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isAlive, readRuntimeInfo } from "../../src/daemon/runtime-file.ts";
import { environmentOf, runCli } from "../support/run-cli.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const IS_WINDOWS = process.platform === "win32";

interface Packed {
  readonly filename: string;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

let folder: string;
let packed: Packed;
let script: string;

/** npm as a new user has it, but for where packages come from: settings of this checkout must not help. */
async function npm(words: readonly string[], cwd: string): Promise<string> {
  const source = Object.entries(process.env).filter(([name]) => /^npm_config_(cache|registry)$/.test(name));
  const env = environmentOf(homedir(), Object.fromEntries(source) as Record<string, string>);
  const command = IS_WINDOWS ? "npm.cmd" : "npm";
  const { stdout } = await promisify(execFile)(command, words, {
    cwd,
    env,
    shell: IS_WINDOWS,
    maxBuffer: 64e6,
  });
  return stdout;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "memoryd-package-"));
  const listing = await npm(["pack", "--ignore-scripts", "--json", "--pack-destination", folder], ROOT);
  [packed] = JSON.parse(listing.slice(listing.indexOf("["))) as [Packed];
  const tarball = join(folder, packed.filename);
  await npm(["install", "--global", "--prefix", join(folder, "prefix"), "--ignore-scripts", tarball], folder);
  script = join(folder, IS_WINDOWS ? "prefix" : "prefix/lib", "node_modules/memoryd/bin/memoryd.js");
}, 600_000);

afterAll(() => {
  const pid = readRuntimeInfo(join(folder, "data"))?.pid;
  if (pid !== undefined && isAlive(pid)) process.kill(pid, "SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

const runWith = (node: string, ...words: string[]) =>
  runCli(words, {
    home: folder,
    script,
    node,
    env: { MEMORYD_DATA_DIR: join(folder, "data"), MEMORYD_PORT: "0" },
  });
const run = (...words: string[]) => runWith(process.execPath, ...words);

/** Versions of Node that the program must run with, besides the one of the tests; packages of npm hold them for Linux. */
const OTHER_NODES = process.platform === "linux" ? ["22", "24"] : [];
if (OTHER_NODES.length === 0) console.warn("not Linux: the package is not tried with other versions of Node");

describe("the package", () => {
  it("holds the program, the model and the licence, and nothing else", () => {
    const paths = packed.files.map(({ path }) => path);
    const wanted = [
      "LICENSE",
      "README.md",
      "CHANGELOG.md",
      "bin/memoryd.js",
      "bin/memoryd-hook.cjs",
      "dist/program/main.js",
      "dist/cli/hooks/hook.cjs",
      "dist/daemon/daemon.js",
      "dist/client/client.js",
      "dist/client/client.d.ts",
    ];
    expect(wanted.filter((path) => !paths.includes(path))).toEqual([]);
    expect(
      paths.some((path) => path.startsWith("data/models/all-MiniLM-L6-v2/") && path.endsWith(".onnx")),
    ).toBe(true);
    const expected =
      /^(LICENSE|README\.md|CHANGELOG\.md|package\.json|bin\/memoryd(?:\.js|-hook\.cjs)|dist\/.+\.js|dist\/cli\/hooks\/hook\.cjs|dist\/models\/tokenizer\/pieces-[\da-f]+\.bin|dist\/console\/.+|dist\/(?:client|schemas)\/.+\.d\.ts|(?:data|docs)\/.+)$/;
    expect(paths.filter((path) => !expected.test(path))).toEqual([]);
    // 106 MB of them are the default model and the one before, 61 MB the model of speech.
    expect(packed.unpackedSize).toBeLessThan(210e6);
  });

  it("is built without a word on standard output, where `npm pack` gives the name of its file", async () => {
    const copy = join(folder, "copy");
    for (const part of ["package.json", "tsconfig.json", "docs", "src"])
      cpSync(join(ROOT, part), join(copy, part), { recursive: true });
    const modules = resolve(createRequire(import.meta.url).resolve("typescript/package.json"), "../..");
    symlinkSync(modules, join(copy, "node_modules"), "junction");
    symlinkSync(join(ROOT, "data"), join(copy, "data"), "junction");
    expect(await npm(["run", "build", "--silent"], copy)).toBe("");
  }, 180_000);

  it("puts `memoryd` where a shell finds it", async () => {
    const command = join(folder, "prefix", IS_WINDOWS ? "memoryd.cmd" : "bin/memoryd");
    expect(existsSync(command)).toBe(true);
    expect(await run("--version")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
  });

  it("starts, remembers, finds and stops", async () => {
    expect(await run("start", "--detach")).toMatchObject({ code: 0, stderr: "" });
    expect(await run("add", "The spare key hangs behind the boiler.", "--tag", "home")).toMatchObject({
      code: 0,
    });
    expect(await run("add", "Ann prefers green tea in the morning.")).toMatchObject({ code: 0 });

    const found = await run("query", "what does Ann like to drink?", "--json");
    const { matches } = JSON.parse(found.stdout) as { matches: { content: string }[] };
    expect(matches[0]?.content).toBe("Ann prefers green tea in the morning.");

    const state = await run("status", "--json");
    expect(JSON.parse(state.stdout)).toMatchObject({ running: true, ready: true, memory_count: 2 });
    expect(await run("stop")).toEqual({ code: 0, stdout: "memoryd has stopped.\n", stderr: "" });
  });

  it("has the memories after a new start", async () => {
    expect(await run("start", "--detach")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/memories +2\n/),
    });
    expect((await run("query", "where is the spare key?")).stdout).toContain("behind the boiler");
    expect(await run("stop")).toMatchObject({ code: 0 });
  });

  it.each(OTHER_NODES)("has them after a start with Node %s, and takes more", async (version) => {
    const name = `node-linux-${process.arch}`;
    const prefix = join(folder, `node-${version}`);
    await npm(["install", "--prefix", prefix, "--ignore-scripts", `${name}@${version}`], folder);
    const runThere = (...words: string[]) =>
      runWith(join(prefix, "node_modules", name, "bin/node"), ...words);
    expect(await runThere("start", "--detach")).toMatchObject({ code: 0, stderr: "" });
    expect(await runThere("add", `Node ${version} keeps the ladder in the cellar.`)).toMatchObject({
      code: 0,
    });
    expect((await runThere("query", "where is the spare key?")).stdout).toContain("behind the boiler");
    expect((await runThere("query", `where is the ladder of Node ${version}?`)).stdout).toContain("cellar");
    expect(await runThere("stop")).toMatchObject({ code: 0 });
  });

  it("says in the foreground of a detached start that a module is missing", async () => {
    rmSync(resolve(script, "../../dist/program/daemon.js"));
    expect(await run("start", "--detach")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^The program is incomplete: Cannot find module .*daemon\.js/),
    });
  });
});
