import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { bindOperations } from "../../../src/core/operations.ts";
import { createMemoryWorld } from "../../support/memory-world.ts";
import { runCliHere } from "../../support/run-cli.ts";
import { startTestDaemon } from "../../support/test-daemon.ts";

async function world() {
  const home = mkdtempSync(join(tmpdir(), "memoryd-counts-"));
  const { ports } = createMemoryWorld();
  let made = 10;
  Object.assign(ports.ids, { newId: () => `019aa5a0-0000-7000-8000-0000000000${(made += 1)}` });
  const server = await startTestDaemon(home, bindOperations(ports));
  onTestFinished(async () => {
    await server.app.close();
    rmSync(home, { recursive: true, force: true });
  });
  const file = join(home, "in.ndjson");
  const run = async (...words: string[]) =>
    (await runCliHere(words, { home, env: { MEMORYD_DATA_DIR: home } })).stdout;
  return { file, run };
}

it("counts what a file holds twice apart from what was there before", async () => {
  const { file, run } = await world();
  const lines = ["tea", "tea", "coffee", "tea"].map((content) => JSON.stringify({ content }));
  writeFileSync(file, lines.join("\n"));
  expect(await run("import", file)).toBe(
    "2 added, 0 there already, 2 left out, 0 failed\n  left out 2: records that stand in it twice\n",
  );
  expect(await run("import", file)).toBe("0 added, 4 there already, 0 left out, 0 failed\n");
});

it("counts the waypoints of an export of an earlier version as added where its memories are, though none is stored", async () => {
  const { run } = await world();
  for (const text of ["one", "two", "three"]) await run("add", text);
  const exported = (await run("export")).trim().split("\n");
  const ids = exported.slice(1, 4).map((line) => (JSON.parse(line) as { id: string }).id);
  const waypoints = ids.slice(1).map((target, i) => {
    const edge = {
      source: ids[i],
      target,
      kind: "next",
      weight: 0.5,
      created_at: "2026-01-01T00:00:00.000Z",
    };
    return JSON.stringify({ type: "waypoint", ...edge });
  });
  const end = JSON.stringify({ type: "end", memories: 3, documents: 0, waypoints: 2, facts: 0 });
  const other = await world();
  writeFileSync(other.file, [...exported.slice(0, -1), ...waypoints, end].join("\n"));
  expect(await other.run("import", other.file)).toBe(
    "5 added, 0 there already, 0 left out, 0 failed\n  in all 3 memories, 2 waypoints\n",
  );
  expect(await other.run("import", other.file)).toContain("0 added, 5 there already, ");
});

it("tells to run the same command again when the daemon ends meanwhile", async () => {
  const home = mkdtempSync(join(tmpdir(), "memoryd-cut-off-"));
  const { ports } = createMemoryWorld();
  const operations = bindOperations(ports);
  let isCutOff = true;
  const server = await startTestDaemon(home, {
    addMemories: async (...given) => {
      const added = await operations.addMemories(...given);
      if (isCutOff) server.app.server.closeAllConnections();
      return added;
    },
  });
  onTestFinished(async () => {
    await server.app.close();
    rmSync(home, { recursive: true, force: true });
  });
  const file = join(home, "in.ndjson");
  writeFileSync(file, ["tea", "coffee"].map((content) => JSON.stringify({ content })).join("\n"));
  const run = () => runCliHere(["import", file], { home, env: { MEMORYD_DATA_DIR: home } });
  expect(await run()).toMatchObject({
    code: 1,
    stderr:
      "memoryd stopped answering; look at `memoryd status` and its log. Run the same command again to complete the import; nothing is added twice.\n",
  });
  isCutOff = false;
  expect((await run()).stdout).toBe("0 added, 2 there already, 0 left out, 0 failed\n");
});
