import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bindOperations } from "../../src/core/operations.ts";
import { createMemoryWorld } from "../support/memory-world.ts";
import { runCliHere } from "../support/run-cli.ts";
import { startTestDaemon } from "../support/test-daemon.ts";
import type { TestServer } from "../support/test-server.ts";

let home: string;
let server: TestServer;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "memoryd-cli-"));
  server = await startTestDaemon(home, bindOperations(createMemoryWorld().ports));
});
afterEach(async () => {
  await server.app.close();
  rmSync(home, { recursive: true, force: true });
});

const users = (...words: string[]) =>
  runCliHere(["users", ...words], { home, env: { TZ: "UTC", MEMORYD_DATA_DIR: home } });
const printed = async (...words: string[]) => {
  const { code, stdout, stderr } = await users(...words);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
};
const add = (content: string, user_id: string) =>
  server.post("/memory/add", { content, user_id, tags: ["garden"], occurred_at: "2026-11-20" });
const addFact = (user_id: string) =>
  server.post("/api/temporal/fact", { subject: "Ann", predicate: "owns", object: "a kite", user_id });

describe("memoryd users list", () => {
  it("says who has how much", async () => {
    expect(await printed("list")).toBe("No user has stored anything.\n");
    await add("Planted garlic in bed three.", "ann");
    await add("Planted leeks in bed four.", "bob/b");
    await addFact("ann");
    expect(await printed("list")).toBe(
      "ann\n    1 memory, 1 fact · 2026-11-20\nbob/b\n    1 memory · 2026-11-20\n",
    );
    expect(await printed("list", "-l", "1")).toMatch(/^… and 1 more$/m);
    expect(JSON.parse(await printed("list", "--json")).total).toBe(2);
  });
});

describe("memoryd users summary", () => {
  it("prints sentences, facts and figures", async () => {
    await add("Planted garlic in bed three of the allotment.", "a b");
    await addFact("a b");
    const text = await printed("summary", "a b", "--fresh");
    expect(text).toMatch(/^a b · 1 memory, 1 fact · 2026-11-20$/m);
    expect(text).toMatch(/^ {2}Planted garlic in bed three of the allotment\.$/m);
    expect(text).toMatch(/^ {2}Ann · owns · a kite$/m);
    expect(text).toMatch(/^ {2}tags +garden 1$/m);
    expect(JSON.parse(await printed("summary", "a b", "--json")).memory_count).toBe(1);
  });

  it("says that there is nobody", async () => {
    expect(await users("summary", "nobody")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/nothing stored/),
    });
  });
});

const IN_BACKUPS =
  "1 backup from before may still hold it; `memoryd compact --now --backups` makes a new one in their place\n";

describe("memoryd users delete", () => {
  it("says the counts and deletes nothing where nobody can be asked", async () => {
    await add("Planted garlic in bed three.", "ann");
    await addFact("ann");
    expect(await users("delete", "ann")).toMatchObject({
      code: 2,
      stderr:
        "ann has 1 memory; 1 fact stays (--include-facts); nothing was deleted: there is no terminal to ask at. Give --yes to go on without asking.\n",
    });
    expect((await users("delete", "ann", "--include-facts")).stderr).toMatch(/^ann has 1 memory, 1 fact; /);
    expect((await server.get("/memory/all")).json().total).toBe(1);
  });

  it("says which facts stay, where there is nothing else too", async () => {
    await add("Planted garlic in bed three.", "ann");
    await addFact("ann");
    expect(await printed("delete", "ann", "--yes")).toBe(
      "deleted 1 memory; 1 fact stays (--include-facts)\n" + IN_BACKUPS,
    );
    expect(await printed("delete", "ann", "--yes")).toBe(
      "There was nothing to delete; 1 fact stays (--include-facts)\n",
    );
    expect((await users("delete", "ann")).stderr).toMatch(
      /^ann has no memories; 1 fact stays \(--include-facts\); /,
    );
    expect((await users("delete", "bob")).stderr).toMatch(/^bob has nothing stored; /);
  });

  it("deletes what it is told to with --yes", async () => {
    await add("Planted garlic in bed three.", "ann");
    await addFact("ann");
    expect(await printed("delete", "ann", "--yes", "--include-facts")).toBe(
      "deleted 1 memory, 1 fact\n" + IN_BACKUPS,
    );
    expect(await printed("delete", "ann", "--yes", "--backups")).toBe(
      "There was nothing to delete.\nmade the backup two, and removed 1 older one\n",
    );
    expect(await printed("delete", "ann", "--yes", "--keep-documents")).toBe(
      "There was nothing to delete.\n",
    );
    expect(server.lastInput("deleteUserMemories")).toMatchObject({
      keepsDocuments: true,
      includesFacts: false,
    });
  });
});
