import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { fakeId } from "../../support/fake-operations.ts";
import { runCliHere } from "../../support/run-cli.ts";
import { startTestDaemon } from "../../support/test-daemon.ts";
import type { TestServer } from "../../support/test-server.ts";

let home: string;
let server: TestServer;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "memoryd-cli-"));
  server = await startTestDaemon(home);
  await server.operations.addMemory({ content: "Tea\u001b[2J.\nGreen.", tags: ["drink", "todo"] });
  await server.operations.addMemory({ content: "Cake.", metadata: { slices: 3 }, project: "kitchen" });
});
afterEach(async () => {
  await server.app.close();
  rmSync(home, { recursive: true, force: true });
});

const run = (words: readonly string[], env: Record<string, string> = {}) =>
  runCliHere(words, { home, env: { TZ: "UTC", MEMORYD_DATA_DIR: home, EDITOR: "", VISUAL: "", ...env } });
const printed = async (...words: string[]) => {
  const { code, stdout, stderr } = await run(words);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
};
const end = (n: number) => fakeId(n).slice(-8);
const contentOf = async (id: string) => (await server.operations.getMemory({ id })).content;

describe("memoryd show, list and stats", () => {
  it("show prints all of a memory, fit for a terminal", async () => {
    const stdout = await printed("show", fakeId(1));
    expect(stdout).toMatch(/^Tea\ufffd\[2J\.\nGreen\.\n\n {2}id +019/);
    expect(stdout).toMatch(/^ {2}tags +drink, todo$/m);
    expect(await printed("show", fakeId(2))).toMatch(/^ {2}metadata +\{"slices":3\}$/m);
    expect(JSON.parse(await printed("show", fakeId(2).toUpperCase(), "--json")).content).toBe("Cake.");
    expect(await run(["show", fakeId(9)])).toMatchObject({
      code: 1,
      stderr: "There is no memory with this id.\n",
    });
  });

  it("list names both days of what was added later than it happened", async () => {
    await server.operations.addMemory({ content: "Moved.", occurredAt: Date.UTC(2024, 1, 3) });
    expect(await printed("list", "-l", "1")).toMatch(/^\S+3 {2}2026-11-21 \(of 2024-02-03\) {2}Moved\.$/m);
  });

  it("open says that an address signs in only where it does", async () => {
    const path = process.env["PATH"];
    onTestFinished(() => void (process.env["PATH"] = path));
    process.env["PATH"] = home;
    expect(await run(["open"])).toMatchObject({
      stdout: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/\n$/),
      stderr: "There is no browser to open here. The console is at:\n",
    });
  });

  it("list prints lines and how to go on", async () => {
    expect(await printed("list")).toBe(
      `${end(2)}  2026-11-21  Cake.\n${end(1)}  2026-11-21  Tea\ufffd[2J. Green. #drink #todo\n`,
    );
    const first = await printed("list", "-l", "1");
    const cursor = /^… 1 more; continue with --cursor (\S+)$/m.exec(first)?.[1] ?? "";
    expect(await printed("list", "--cursor", cursor)).toMatch(/^\S+1 {2}.*\n$/);
    await printed("list", "-u", "ann", "-p", "", "-t", "x", "--sector", "semantic", "--client", "cursor");
    expect(server.lastInput("listMemories")).toMatchObject({
      filter: { userId: "ann", projects: [null], tags: ["x"], createdBy: "cursor" },
    });
    expect(JSON.parse(await printed("list", "--json")).total).toBe(2);
    expect((await run(["list", "-l", "0"])).code).toBe(2);
  });

  it("stats counts", async () => {
    expect(await printed("stats")).toMatch(/^ {2}memories +3\n.*semantic +2\n/m);
    expect(JSON.parse(await printed("stats", "--json"))).toMatchObject({ memory_count: 3 });
  });
});

describe("memoryd rm", () => {
  it("deletes nothing that nobody confirmed, and nothing at all when an id is unknown", async () => {
    const unasked = await run(["rm", fakeId(1)]);
    expect(unasked).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") });
    expect((await run(["rm", "-y", fakeId(1), fakeId(9)])).code).toBe(1);
    expect(server.calls.some(({ name }) => name === "deleteMemory")).toBe(false);
    expect(await printed("rm", "--yes", fakeId(1), fakeId(1).toUpperCase(), fakeId(2))).toBe(
      "deleted 2 memories; `memoryd trash` lists it\n",
    );
  });

  it("takes the ends of ids and other names of the command, and names what is no id before it deletes", async () => {
    expect(await run(["rm", "-y", end(1), "bad", end(2)])).toMatchObject({
      code: 2,
      stderr: '"bad" is no id of a memory; give the id, or its last 6 or more characters.\n',
    });
    expect((await run(["rm", "-y", end(1), "123456"])).stderr).toMatch(
      /no memory with an id that ends in 123456/,
    );
    expect((await run(["rm", "-y", "000000"])).stderr).toMatch(/no memory with an id that ends in 000000/);
    await server.operations.addMemory({ content: "Eleventh." });
    expect(server.calls.some(({ name }) => name === "deleteMemory")).toBe(false);
    expect(await printed("delete", "-y", end(1))).toBe("deleted 1 memory; `memoryd trash` lists it\n");
    expect(await printed("remove", "-y", end(2).toUpperCase())).toBe(
      "deleted 1 memory; `memoryd trash` lists it\n",
    );
    expect(JSON.parse(await printed("search", "anything", "--json"))).toHaveProperty("matches");
  });
});

describe("memoryd tag", () => {
  it("adds and takes away, whatever another command does to the note meanwhile", async () => {
    expect(await printed("tag", fakeId(1), "+home", "-todo", "-never")).toBe(
      `tagged ${end(1)} #drink #home\n`,
    );
    expect(server.lastInput("tagMemories")).toMatchObject({
      memories: [{ id: fakeId(1) }],
      add: ["home"],
      remove: ["todo", "never"],
    });
    expect(await printed("tag", fakeId(1), "+home")).toMatch(/^nothing to change: /);
    expect(JSON.parse(await printed("tag", fakeId(1), "-home", "-drink", "--json")).tags).toEqual([]);
    expect(await run(["tag", fakeId(9), "+home"])).toMatchObject({
      code: 1,
      stderr: "There is no memory with this id.\n",
    });
    for (const wrong of ["home", "+", "-"]) expect((await run(["tag", fakeId(1), wrong])).code).toBe(2);
  });
});

describe.skipIf(process.platform === "win32")("memoryd edit", () => {
  /** An editor that runs this with `file` and `text`. */
  function editor(script: string): string {
    const path = join(home, "an editor.mjs");
    writeFileSync(
      path,
      `import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
       const file = process.argv.at(-1);
       const text = readFileSync(file, "utf8");
       ${script}`,
    );
    return `"${process.execPath}" "${path}" --wait`;
  }
  const edit = (id: string, script: string) =>
    run(["edit", id], { VISUAL: editor(script), EDITOR: "false", TMPDIR: home });
  const left = () => readdirSync(home).filter((name) => name.startsWith("memoryd-edit-"));

  it("stores what the editor made of it, and leaves no file", async () => {
    const { code, stdout } = await edit(
      fakeId(2),
      `if ((statSync(file).mode & 0o077) !== 0) process.exit(9);
       writeFileSync(file, text.replace("Cake", "Two cakes"));`,
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: `changed ${end(2)} (version 2)\n` });
    expect(await contentOf(fakeId(2))).toBe("Two cakes.");
    expect(left()).toEqual([]);
  });

  it("changes nothing where nothing was edited, or all of it was taken out", async () => {
    expect(await edit(fakeId(1), "")).toMatchObject({ code: 0, stdout: "Nothing was changed.\n" });
    expect(await edit(fakeId(1), `writeFileSync(file, "\\n");`)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`memoryd rm ${end(1)}`),
    });
    expect(server.calls.some(({ name }) => name === "updateMemory")).toBe(false);
    expect(left()).toEqual([]);
  });

  it("overwrites no change that came in between, and keeps the text", async () => {
    // While the editor is open somebody else changes it.
    const [begun, changed] = [join(home, "begun"), join(home, "changed")];
    const editing = edit(
      fakeId(2),
      `writeFileSync(${JSON.stringify(begun)}, "");
       while (!existsSync(${JSON.stringify(changed)})) await new Promise((done) => setTimeout(done, 20));
       writeFileSync(file, "Mine.");`,
    );
    await expect.poll(() => existsSync(begun)).toBe(true);
    await server.operations.updateMemory({ id: fakeId(2), content: "Theirs." });
    writeFileSync(changed, "");
    const { code, stderr } = await editing;
    expect(code).toBe(1);
    expect(stderr).toMatch(/version 2/);
    expect(stderr).toMatch(/Your text is in .*memory\.md/);
    expect(await contentOf(fakeId(2))).toBe("Theirs.");
    const [folder = ""] = left();
    expect(statSync(join(home, folder, "memory.md")).size).toBe("Mine.".length);
  });

  it("says what to set without an editor, and names one that fails", async () => {
    expect(await run(["edit", fakeId(1)])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/VISUAL/),
    });
    expect(await edit(fakeId(1), "process.exit(3);")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("code 3"),
    });
  });
});

describe("memoryd query", () => {
  it("prints answers, else what perhaps answers, else that nothing does", async () => {
    const memory = await server.operations.getMemory({ id: fakeId(2) });
    const hit = (score: number, level: "answer" | "perhaps" | "near") => ({
      memory,
      score,
      level,
      path: [memory.id],
    });
    const found = vi.spyOn(server.operations, "queryMemory");
    found.mockResolvedValueOnce({
      hits: [hit(0.9, "answer"), hit(0.4, "perhaps")],
      relevant: 1,
      plausible: 2,
    });
    expect(await printed("query", "cake?")).toMatch(
      /^ {1,3}1\. 0\.90 .*\n.*\n1 more found, less sure; print them with --all\n$/,
    );
    found.mockResolvedValueOnce({ hits: [hit(0.4, "perhaps"), hit(0.1, "near")], relevant: 0, plausible: 1 });
    expect(await printed("query", "cake?")).toMatch(
      /^Nothing sure\. Perhaps:\n {1,3}1\. 0\.40 .*\n.*\n1 more/,
    );
    found.mockResolvedValueOnce({ hits: [hit(0.1, "near")], relevant: 0, plausible: 0 });
    expect(await printed("query", "chess?")).toMatch(/^Nothing that answers\.\n1 more/);
  });
});

it("takes periods in words for times, and refuses to undo since a time to come", async () => {
  await server.operations.addMemory({ content: "Long ago.", occurredAt: Date.UTC(2020, 1, 3) });
  expect(await printed("list", "--from", "2020", "--to", "2020")).toContain("Long ago.");
  expect((await run(["list", "--from", "last week"])).code).toBe(0);
  expect(await run(["undo", "--since", "2999-01-01"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("It must be a time before now"),
  });
});

it("says that a folder holds nothing that can be imported, with what is known", async () => {
  expect(await run(["import", mkdtempSync(join(home, "empty-")), "--dry-run"])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^There is nothing in it that can be imported\. Known are exports of memoryd, ChatGPT/,
    ),
  });
});
