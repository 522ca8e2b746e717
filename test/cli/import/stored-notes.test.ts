import { expect, it } from "vitest";
import { readStored } from "../../../src/cli/commands/import.ts";
import type { Daemon } from "../../../src/cli/connect.ts";

const note = (path: string, content: string, more: object = {}) => ({
  content,
  tags: [],
  metadata: { path, source: "markdown", title: "01", ...more },
  occurred_at: 1_000,
});
async function finder(...stored: readonly ReturnType<typeof note>[]) {
  const memories = stored.map((each, i) => ({
    ...each,
    id: String(i),
    user_id: null,
    project: null,
    occurred_at: new Date(each.occurred_at).toISOString(),
  }));
  async function* list() {
    await Promise.resolve();
    yield* memories;
  }
  return readStored({ api: { memories: { list } } } as unknown as Daemon, undefined);
}

it("finds a note whichever folder above it was named", async () => {
  const find = await finder(note("2024/01.md", "Ran."), note("b.md", "Sat."));
  expect(find(note("01.md", "Ran."), true)).toBe("0");
  expect(find(note("vault/b.md", "Sat."), true)).toBe("1");
});

it("takes notes of one name and text in other folders for others, and changed ones for new", async () => {
  const find = await finder(note("2024/01.md", "Ran."));
  expect(find(note("2025/01.md", "Ran."), true)).toBeUndefined();
  expect(find(note("4/01.md", "Ran."), true)).toBeUndefined();
  expect(find(note("2024/01.md", "Ran fast."), true)).toBeUndefined();
  expect(find(note("2024/01.md", "Ran.", { mood: "good" }), true)).toBeUndefined();
  expect(find({ ...note("2024/01.md", "Ran."), user_id: "ann" }, true)).toBeUndefined();
});

it("takes a memory for one note only, the one at its path if there is one", async () => {
  const find = await finder(note("2024/01.md", "Ran."), note("01.md", "Ran."));
  expect(find(note("01.md", "Ran."), true)).toBe("1");
  expect(find(note("2024/01.md", "Ran."), true)).toBe("0");
  const one = await finder(note("01.md", "Ran."));
  expect(one(note("a/01.md", "Ran."), true)).toBe("0");
  expect(one(note("b/01.md", "Ran."), true)).toBeUndefined();
});

it("heeds the time that a note names, and not the one of its file", async () => {
  const find = await finder(note("01.md", "Ran."));
  const later = { ...note("01.md", "Ran."), occurred_at: 2_000 };
  expect(find(later, true)).toBeUndefined();
  expect(find(later, false)).toBe("0");
});
