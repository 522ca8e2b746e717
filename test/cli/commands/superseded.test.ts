import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { fakeId } from "../../support/fake-operations.ts";
import { runCliHere } from "../../support/run-cli.ts";
import { startTestDaemon } from "../../support/test-daemon.ts";
import type { TestServer } from "../../support/test-server.ts";

let home: string;
let server: TestServer;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "memoryd-cli-"));
  server = await startTestDaemon(home);
  await server.operations.addMemory({ content: "The port is 4310." });
  await server.operations.addMemory({ content: "The port is 4311." });
});
afterEach(async () => {
  await server.app.close();
  rmSync(home, { recursive: true, force: true });
});
const run = (...words: string[]) => runCliHere(words, { home, env: { MEMORYD_DATA_DIR: home } });

it("says that a note replaces another, and that one still holds", async () => {
  const [old, late] = [fakeId(1).slice(-8), fakeId(2).slice(-8)];
  const pair = await run("superseded", "--guessed");
  expect(pair.stdout).toContain(`${old}  `);
  expect(pair.stdout).toContain(`replaced by ${late}`);
  expect(server.lastInput("listSuperseded")).toMatchObject({ how: "inferred" });
  expect(await run("supersede", late, old)).toMatchObject({
    code: 0,
    stdout: `${late} replaces ${old}: The port is 4310.\n`,
  });
  expect((await server.operations.getMemory({ id: fakeId(2) })).supersedes).toEqual([fakeId(1)]);
  expect(await run("still-holds", old)).toMatchObject({ code: 0, stdout: `${old} still holds.\n` });
  expect((await run("still-holds", "no-such-id")).code).not.toBe(0);
});

it("keeps what another command says of the note at the same time", async () => {
  await server.operations.addMemory({ content: "The port is 4312." });
  const { operations } = server;
  let other: { readonly supersedes: string[] } | undefined;
  const read = async (id: string) => {
    const [memory] = (await operations.listMemories({ filter: { idEnd: id }, limit: 1, offset: 0 })).items;
    if (memory === undefined) throw new Error(`${id} is missing`);
    return memory;
  };
  vi.spyOn(operations, "getMemory").mockImplementation(async ({ id }) => {
    const memory = await read(id);
    const change = id === fakeId(3) ? other : undefined;
    if (change === undefined) return memory;
    other = undefined;
    await operations.updateMemory({ id, ...change });
    return memory;
  });
  other = { supersedes: [fakeId(1)] };
  expect(await run("supersede", fakeId(3), fakeId(2))).toMatchObject({ stderr: "" });
  expect(await read(fakeId(3))).toMatchObject({ supersedes: [fakeId(1), fakeId(2)] });
});
