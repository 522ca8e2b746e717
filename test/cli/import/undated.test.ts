import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { bindOperations } from "../../../src/core/operations.ts";
import { createMemoryWorld } from "../../support/memory-world.ts";
import { runCliHere } from "../../support/run-cli.ts";
import { startTestDaemon } from "../../support/test-daemon.ts";

const CHANGED = new Date("2024-05-01T10:00:00.000Z");

async function world() {
  const home = mkdtempSync(join(tmpdir(), "memoryd-undated-"));
  const server = await startTestDaemon(home, bindOperations(createMemoryWorld().ports));
  onTestFinished(async () => {
    await server.app.close();
    rmSync(home, { recursive: true, force: true });
  });
  const file = (name: string, content: string | Uint8Array, changed = CHANGED) => {
    const path = join(home, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    utimesSync(path, changed, changed);
    return path;
  };
  const run = async (...words: string[]) =>
    (await runCliHere(words, { home, env: { MEMORYD_DATA_DIR: home } })).stdout;
  const times = async () =>
    (JSON.parse(await run("list", "--json")) as { items: { occurred_at: string }[] }).items.map(
      ({ occurred_at }) => occurred_at,
    );
  return { file, run, times };
}

it("gives a record without a time that of its file, and knows it again when the file has changed", async () => {
  const { file, run, times } = await world();
  const lines = ['{"content": "The key is with Tom"}', '{"content": "Dated", "date": "2023-01-02"}'];
  const path = file("notes.jsonl", lines.join("\n"));
  expect(await run("import", path)).toContain("2 added");
  expect((await times()).sort()).toEqual(["2023-01-02T00:00:00.000Z", CHANGED.toISOString()]);
  file("notes.jsonl", [...lines, '{"content": "The saw is with Ilse"}'].join("\n"), new Date());
  expect(await run("import", path)).toContain("1 added, 2 there already");
});

it("gives what the reference memory server knows the time of its file, with the other fields of an entity", async () => {
  const { file, run } = await world();
  const entity = { type: "entity", name: "Ilse", entityType: "person", observations: ["likes rye"] };
  const relation = { type: "relation", from: "Ilse", to: "Kolb", relationType: "works_at", since: "2020" };
  const lines = [{ ...entity, aliases: ["Ilsebill"] }, relation].map((one) => JSON.stringify(one));
  // It called its file so at first.
  expect(await run("import", file("memory.json", lines.join("\n")))).toContain("in all 2 facts, 1 memory");
  const { items } = JSON.parse(await run("list", "--json")) as { items: object[] };
  expect(items).toMatchObject([
    { occurred_at: CHANGED.toISOString(), metadata: { source: "memory-server", aliases: ["Ilsebill"] } },
  ]);
  const { facts } = JSON.parse(await run("fact", "list", "--json")) as { facts: { predicate: string }[] };
  expect(facts.find(({ predicate }) => predicate === "works_at")).toMatchObject({
    valid_from: CHANGED.toISOString(),
    metadata: { since: "2020" },
  });
});

it("gives chats and what a service keeps of a person the time of their export, where they name none", async () => {
  const { file, run, times } = await world();
  const message = { id: "m", author: { role: "user" }, content: { parts: ["My lock has 5521."] } };
  const context = {
    id: "c",
    author: { role: "user" },
    content: { content_type: "user_editable_context", user_profile: "I keep hens." },
  };
  const mapping = {
    a: { message: context, parent: null, children: ["b"] },
    b: { message, parent: "a", children: [] },
  };
  const talks = JSON.stringify([{ id: "t", current_node: "b", mapping }]);
  // Unpacked by a program that makes a folder of the archive's name.
  file("export/chat/conversations-000.json", talks);
  expect(await run("import", file("export/chat/user.json", "{}").replace(/chat.*/, ""))).toContain("2 added");
  expect(await times()).toEqual([CHANGED.toISOString(), CHANGED.toISOString()]);
});
