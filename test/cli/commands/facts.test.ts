import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fakeId } from "../../support/fake-operations.ts";
import { runCliHere } from "../../support/run-cli.ts";
import { startTestDaemon } from "../../support/test-daemon.ts";
import type { TestServer } from "../../support/test-server.ts";

let home: string;
let server: TestServer;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "memoryd-cli-"));
  server = await startTestDaemon(home);
});
afterEach(async () => {
  await server.app.close();
  rmSync(home, { recursive: true, force: true });
});

const fact = (...words: string[]) =>
  runCliHere(["fact", ...words], { home, env: { TZ: "UTC", MEMORYD_DATA_DIR: home } });
const printed = async (...words: string[]) => {
  const { code, stdout, stderr } = await fact(...words);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
};
async function movedOnce(): Promise<void> {
  const place = { subject: "Ada", predicate: "lives in", user_id: "ada" };
  await server.post("/api/temporal/fact", { ...place, object: "London", valid_from: "2016-01-01" });
  await server.post("/api/temporal/fact", { ...place, object: "Paris", valid_from: "2021-01-01" });
}

describe("memoryd fact add", () => {
  it("records with everything that was said, and tells what it ended", async () => {
    await printed("add", "Ada", "lives in", "London", "--from", "2016-01-01", "-u", "ada");
    const stdout = await printed(
      "add",
      "Ada",
      "lives in",
      "Paris",
      "--from=2021-01-01",
      "--to=2024-01-01",
      "--confidence=0.8",
      "--user=ada",
      '--metadata={"from":"letter"}',
    );
    expect(stdout).toBe(
      `recorded ${fakeId(2).slice(-8)}\n  Ada · lives in · Paris\n  2021-01-01 – 2024-01-01 · confidence 0.8\n` +
        `  ended, split or replaced ${fakeId(1).slice(-8)}\n`,
    );
    expect(server.lastInput("recordFact")).toMatchObject({
      confidence: 0.8,
      metadata: { from: "letter" },
      userId: "ada",
    });
    expect(await printed("add", "Ada", "lives in", "London", "--from", "2016-01-01", "-u", "ada")).toMatch(
      /^already recorded /,
    );
    const json = JSON.parse(
      await printed("add", "Ada", "speaks", "Dutch", "--many", "-p", "family", "--json"),
    );
    expect(json).toMatchObject({ cardinality: "many", project: "family", superseded: [] });
  });

  it("takes the end of the id of the memory that it comes from", async () => {
    const added = await server.post("/memory/add", { content: "Ada moved to Paris" });
    const { id } = added.json<{ id: string }>();
    await printed("add", "Ada", "lives in", "Paris", "--source", id.slice(-8));
    expect(server.lastInput("recordFact")).toMatchObject({ sourceMemoryId: id });
    const { code, stderr } = await fact("add", "Ada", "lives in", "Rome", "--source", "ffffff");
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("no memory with an id") });
  });

  it("shows facts that may say the same, and how to end one", async () => {
    await movedOnce();
    const id = fakeId(2).slice(-8);
    expect(await printed("add", "Ada", "lives_in", "Rome", "-u", "ada")).toMatch(
      new RegExp(
        `\\n  similar: Ada · lives in · Paris\\n    if it no longer holds: memoryd fact end ${id}\\n$`,
      ),
    );
  });

  it("passes on why the daemon refuses, and refuses wrong options itself", async () => {
    expect(
      await fact("add", "Ada", "lives in", "x", "--from", "2020-01-02", "--to", "2020-01-01"),
    ).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/valid_/),
    });
    for (const words of [
      ["-c", "2"],
      ["--metadata", "[]"],
    ]) {
      expect((await fact("add", "Ada", "lives in", "x", ...words)).code).toBe(2);
    }
    expect((await fact("add", "Ada", "lives in")).code).toBe(2);
    expect((await fact("end", "me", "city")).stderr).toContain("takes one id, as `memoryd fact get SUBJECT`");
    expect((await fact("ad")).stderr).toMatch(/Did you mean add\?/);
  });
});

describe("memoryd fact get, search and compare", () => {
  beforeEach(movedOnce);

  it("get says what is true now, then, ever, or of one id", async () => {
    expect(await printed("get", "ada")).toBe(
      `Ada · lives in · Paris\n    from 2021-01-01 · ${fakeId(2).slice(-8)}\n`,
    );
    expect(await printed("get", "ada", "lives in", "--at", "2020-01-01")).toContain("London");
    expect(await printed("get", "ada", "--all", "-l", "1")).toMatch(/^… 1 more fact;/m);
    expect(await printed("get", "ada", "owns")).toBe("Nothing found.\n");
    expect(await printed("get", "ada", "-u", "bob")).toBe("Nothing found.\n");
    expect(await printed("get", fakeId(1))).toContain("2016-01-01 – 2021-01-01");
    expect(JSON.parse(await printed("get", fakeId(1), "--json")).fact.object).toBe("London");
    expect(await fact("get", fakeId(9))).toMatchObject({
      code: 1,
      stderr: "There is no fact with this id.\n",
    });
  });

  it("search takes a part or a pattern", async () => {
    expect(await printed("search", "l?nd*")).toContain("London");
    expect(await printed("search", "lives", "--field", "object")).toBe("Nothing found.\n");
    expect(JSON.parse(await printed("search", "ada", "--json")).total).toBe(2);
    expect((await fact("search", "x", "--field", "all")).stderr).toMatch(/field/);
  });

  it("compare lists what became different", async () => {
    expect(await printed("compare", "2020-01-01", "2022-01-01", "--subject", "ada")).toBe(
      "2020-01-01 → 2022-01-01: 0 added, 0 removed, 1 changed, 0 unchanged\n~ Ada · lives in · London → Paris\n",
    );
    expect(await printed("compare", "2015-01-01", "2022-01-01")).toContain("\n+ Ada · lives in · Paris\n");
    expect(await printed("compare", "2022-01-01", "2015-01-01")).toContain("\n- Ada · lives in · Paris\n");
  });

  it("timeline draws, or prints what the daemon says", async () => {
    const lines = (await printed("timeline", "ADA")).split("\n");
    expect(lines).toEqual([
      "lives in",
      expect.stringMatching(/^ {2}├─+┤ +2016-01-01 – 2021-01-01 {2}London$/),
      expect.stringMatching(/^ {2} +├─+▶ {2}from 2021-01-01 {10}Paris$/),
      "",
    ]);
    expect(JSON.parse(await printed("timeline", "ada", "lives in", "--json")).timeline).toHaveLength(3);
    expect(await printed("timeline", "ada", "--from", "2022-01-01")).toBe("Nothing found.\n");
  });
});

describe("memoryd fact list, end and rm", () => {
  beforeEach(movedOnce);

  it("lists all, ends one by the end of its id, and erases after asking", async () => {
    expect(await printed("list")).toMatch(/^Ada · lives in · Paris\n/);
    expect(await printed("list", "--at", "2018")).toContain("London");
    expect(await printed("end", fakeId(2).slice(-6), "--at", "2024-03")).toMatch(
      /^ended 00000002\n[^]*2021-01-01 – 2024-03-01/,
    );
    expect((await fact("rm", fakeId(1))).stderr).toMatch(/^Nothing was erased: .*--yes/);
    expect((await fact("rm", "--yes", fakeId(1), "bad")).stderr).toBe(
      '"bad" is no id of a fact; give the id, or its last 6 or more characters.\n',
    );
    expect(await printed("list", "--at", "2018")).toContain("London");
    expect(await printed("rm", "--yes", fakeId(1))).toBe("erased 1 fact\n");
    expect(await printed("list", "--at", "2018")).toBe("Nothing found.\n");
  });
});
