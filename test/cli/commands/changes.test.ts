import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { bindOperations } from "../../../src/core/operations.ts";
import { createMemoryWorld } from "../../support/memory-world.ts";
import { runCliHere } from "../../support/run-cli.ts";
import { startTestDaemon } from "../../support/test-daemon.ts";
import type { TestServer } from "../../support/test-server.ts";

let home: string;
let server: TestServer;
let all: ReturnType<typeof bindOperations>;
let ids: string[];
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "memoryd-history-"));
  const world = createMemoryWorld();
  world.now = Date.UTC(2026, 10, 21, 10, 15);
  ids = [];
  Object.assign(world.ports.ids, {
    newId: () => {
      ids.push(`019aa5a0-0000-7000-8000-0000000000${ids.length + 10}`);
      return ids.at(-1);
    },
  });
  all = bindOperations(world.ports);
  server = await startTestDaemon(home, all);
});
afterEach(async () => {
  await server.app.close();
  rmSync(home, { recursive: true, force: true });
});

async function printed(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCliHere(words, {
    home,
    env: { TZ: "UTC", MEMORYD_DATA_DIR: home },
  });
  expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: "" });
  return stdout;
}

it("lists the versions of a memory, restores one and erases the earlier ones", async () => {
  const { memory } = await all.addMemory({ content: "tea at four", createdBy: "ann" });
  await all.updateMemory({ id: memory.id, content: "tea at \u001b[2Jfive", tags: ["x"], changedBy: "agent" });
  const end = memory.id.slice(-8);
  expect(await printed("history", end)).toBe(
    [
      "2  2026-11-21 10:15  updated by agent",
      "   tea at \ufffd[2Jfive #x",
      "1  2026-11-21 10:15  created by ann",
      "   tea at four",
      "",
    ].join("\n"),
  );
  expect(await printed("history", end, "--restore", "1")).toBe(`restored ${end} (version 3)\n`);
  expect(await printed("history", end, "--erase")).toBe(`erased 2 earlier versions of ${end}\n`);
  expect(JSON.parse(await printed("history", end, "--json"))).toMatchObject({ total: 1 });
});

it("deletes into the trash, restores from it, and empties it", async () => {
  const first = (await all.addMemory({ content: "first" })).memory.id;
  const second = (await all.addMemory({ content: "second" })).memory.id;
  expect(await printed("trash")).toBe("The trash is empty.\n");
  await printed("rm", "-y", first, second);
  expect((await printed("trash")).split("\n").sort()).toEqual([
    "",
    `${first.slice(-8)}  2026-11-21 10:15 by memoryd-cli  first`,
    `${second.slice(-8)}  2026-11-21 10:15 by memoryd-cli  second`,
  ]);
  expect(await printed("trash", "restore", first.slice(-8))).toBe(`restored ${first.slice(-8)}  first\n`);
  expect(await printed("trash", "empty", "-y", second.slice(-8))).toBe("removed 1 memory for good\n");
  expect(await printed("rm", "-y", "--erase", first)).toBe("deleted 1 memory for good\n");
  expect(await printed("trash", "empty", "-y")).toBe("The trash is empty.\n");
  const unknown = await runCliHere(["trash", "restore", "ffffffff"], {
    home,
    env: { MEMORYD_DATA_DIR: home },
  });
  expect(unknown.stderr).toBe("There is no deleted memory with an id that ends in ffffffff.\n");
});

it("finds what is in the trash where long texts end a page before its limit", async () => {
  const short = await startTestDaemon(home, {
    ...all,
    listTrash: async (input) => await all.listTrash({ ...input, limit: Math.min(input.limit, 2) }),
  });
  try {
    for (const content of ["one", "two", "three", "four", "five"]) {
      const { id } = (await all.addMemory({ content })).memory;
      await all.deleteMemory({ id, trash: true });
    }
    const end = ids[0]?.slice(-8) ?? "";
    expect(await printed("trash", "restore", end)).toBe(`restored ${end}  one\n`);
  } finally {
    await short.app.close();
  }
});

it("shows what an undo takes back, and asks", async () => {
  const { memory } = await all.addMemory({ content: "as it was", createdBy: "ann" });
  await all.updateMemory({ id: memory.id, content: "spoilt", changedBy: "agent" });
  const end = memory.id.slice(-8);
  const words = ["undo", "--client", "agent", "--since", "2026-01-01"];
  const asked = await runCliHere(words, { home, env: { MEMORYD_DATA_DIR: home } });
  expect(asked.code).toBe(2);
  expect(asked.stdout).toBe(`${end}  updated  spoilt\n`);
  const askedForJson = await runCliHere([...words, "--json"], { home, env: { MEMORYD_DATA_DIR: home } });
  expect(askedForJson).toMatchObject({ stdout: "", stderr: expect.stringContaining("updated  spoilt\n") });
  expect((await all.getMemory({ id: memory.id })).content).toBe("spoilt");
  expect(await printed(...words, "--yes")).toBe(`${end}  updated  spoilt\ntook back 1 change\n`);
  expect((await all.getMemory({ id: memory.id })).content).toBe("as it was");
  expect(await printed(...words)).toBe("There is nothing to take back.\n");
  expect(JSON.parse(await printed(...words, "--json"))).toEqual({ items: [] });
});

it("names what is meant where the letter of a span means nothing, and takes no time to come", async () => {
  const run = (since: string) =>
    runCliHere(["undo", "--since", since, "--yes"], { home, env: { MEMORYD_DATA_DIR: home } });
  expect(await run("2m")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("got 2m (2min is minutes, 2mo months)."),
  });
  expect(await run("9999")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("It must be a time before now; got 9999"),
  });
});
