import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
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
