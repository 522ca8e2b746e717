/** Every kind of file of a store is damaged, cut and removed: it opens whole, or rebuilt, or is salvaged. */
import { createHash } from "node:crypto";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ServiceError } from "../../src/core/errors.ts";
import { addMemory } from "../../src/core/memories/add-memories.ts";
import { examineStopped } from "../../src/daemon/doctor.ts";
import { salvageStopped } from "../../src/daemon/salvage-store.ts";
import { tableOf } from "../../src/storage/tables/table-spec.ts";
import { createMemoryWorld, type MemoryWorld } from "../support/memory-world.ts";
import { openStoreOnDisk, type StoreOnDisk } from "../support/store-on-disk.ts";

const NAMES = { index: "export.ndjson", originals: "originals" };
const ORIGINAL = Buffer.from("the bytes of a document");
const SHA256 = createHash("sha256").update(ORIGINAL).digest("hex");

let world: MemoryWorld;
let top: string;
let whole: string;
/** Content by id: of rows in tables alone, and of those that the journal has too. */
const [inTables, inJournal] = [new Map<string, string>(), new Map<string, string>()];
let deleted: string;

beforeAll(async () => {
  world = createMemoryWorld();
  top = mkdtempSync(join(tmpdir(), "memoryd-salvage-"));
  whole = join(top, "whole");
  const store = await openStoreOnDisk(whole, world);
  for (let round = 0; round < 3; round += 1) await add(store, inTables, `early ${round}`);
  await store.opened.checkpointer.flush();
  // From here on the journal begins anew.
  await store.opened.purge.run({
    originals: { listUnneeded: async () => [], removeUnneeded: async () => [] },
  });
  [deleted = ""] = inTables.keys();
  inTables.delete(deleted);
  await remove(store, deleted);
  for (let round = 0; round < 2; round += 1) {
    await add(store, inJournal, `late ${round}`);
    await reinforce(store, round);
    await store.opened.checkpointer.flush();
  }
  await add(store, inJournal, "last");
  await store.close();
  mkdirSync(join(whole, "files"));
  writeFileSync(join(whole, "files", SHA256), ORIGINAL);
});
afterAll(() => rmSync(top, { recursive: true, force: true }));

async function add(store: StoreOnDisk, into: Map<string, string>, what: string): Promise<void> {
  for (let i = 0; i < 20; i += 1) {
    const content = `${what} ${i}: ${"tea and biscuits ".repeat(i)}`;
    const { memory } = await addMemory(store.ports, { content, userId: "u", sessionId: `s${i % 3}` });
    into.set(memory.id, content);
  }
}

const remove = ({ opened }: StoreOnDisk, id: string) =>
  opened.store.commit(() => ({ changes: [{ table: "memories", id, row: null }], result: undefined }));

const reinforce = ({ opened }: StoreOnDisk, n: number) =>
  opened.store.commit(({ now }) => {
    const id = [...inJournal.keys()][n] ?? "";
    return {
      changes: [{ table: "signals", id, row: { salience: 0.9, lastSeenAt: now } }],
      result: undefined,
    };
  });

const filesOf = (directory: string) =>
  readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((path) => statSync(join(directory, path)).isFile())
    .sort();

/** The file without what is unlike in every store. */
const kindOf = (path: string) =>
  path.replace(/[0-9a-f-]{30,}|\d{6,}-?/g, "#").replace(/#\.(lance|txn)$/, "#");

const DAMAGES: Readonly<Record<string, (path: string) => void>> = {
  damaged: (path) => {
    const bytes = readFileSync(path);
    for (const place of [0.3, 0.6]) {
      const at = Math.floor(bytes.length * place);
      bytes[at] = (bytes[at] ?? 0) ^ 0x20;
    }
    writeFileSync(path, bytes);
  },
  truncated: (path) => writeFileSync(path, readFileSync(path).subarray(0, statSync(path).size >> 1)),
  removed: (path) => rmSync(path),
};

type Outcome = "whole" | "rebuilt" | "salvage";

async function open(directory: string): Promise<Outcome> {
  let store: StoreOnDisk;
  try {
    store = await openStoreOnDisk(directory, world);
  } catch (error) {
    expect(error).toBeInstanceOf(ServiceError);
    return "salvage";
  }
  try {
    const ids = [...inTables.keys(), ...inJournal.keys()];
    const memories = await store.opened.store.readMemories(ids);
    for (const [id, content] of [...inTables, ...inJournal]) expect(memories.get(id)?.content).toBe(content);
    expect(memories.has(deleted)).toBe(false);
    const { losses } = store.opened;
    return losses.length > 0 || [...store.opened.store.lackingVectors()].length > 0 ? "rebuilt" : "whole";
  } finally {
    await store.close();
  }
}

/** The memories of an export, by id. */
function linesIn(file: string): Map<string, string> {
  const records = readFileSync(file, "utf8").trim().split("\n");
  const parsed = records.map((line) => JSON.parse(line) as { type?: string; id: string; content: string });
  return new Map(parsed.filter(({ type }) => type === "memory").map(({ id, content }) => [id, content]));
}

async function salvage(directory: string) {
  const out = join(top, "out");
  rmSync(out, { recursive: true, force: true });
  const { memories, doubtful } = await salvageStopped(directory, out, NAMES, () => {});
  const found = linesIn(join(out, NAMES.index));
  expect(found.size).toBe(memories);
  const apart = doubtful === 0 ? new Map<string, string>() : linesIn(join(out, "doubtful.ndjson"));
  return { found, apart };
}

/** What cannot be whole any more: rows of a harmed file that stand nowhere else. */
function mayBeLost(path: string): ReadonlySet<string> {
  if (path.startsWith("journal/"))
    return new Set([...inJournal].flatMap(([id, text]) => (text.startsWith("last") ? id : [])));
  const isOfMemories = tableOf(path.split("/")[1]?.replace(/\.lance$/, "") ?? "") === "memories";
  return new Set(isOfMemories && path.includes("/data/") ? inTables.keys() : []);
}

type Found = Awaited<ReturnType<typeof salvage>>;

/** @param isApart whether it is not known which rows were deleted. */
function check({ found, apart }: Found, lost: ReadonlySet<string>, isApart = false): void {
  const given = new Map(isApart ? [...apart, ...found] : found);
  for (const [id, content] of [...inTables, ...inJournal])
    if (given.has(id) || !lost.has(id)) expect(given.get(id)).toBe(content);
  expect(given.has(deleted)).toBe(false);
}

it.each(Object.entries(DAMAGES))("each kind of file %s", async (how, damage) => {
  const files = filesOf(whole).filter((path) => !/(^|\/)(lock|reserve)/.test(path));
  const seen = new Set<string>();
  const outcomes = new Map<string, Outcome>();
  for (const path of files) {
    // Of checkpoints and of memories all are tried: which of them it is makes the difference.
    const kind = /^CHECKPOINT|memories/.test(path) ? path : kindOf(path);
    if (seen.has(kind)) continue;
    seen.add(kind);
    const directory = join(top, "harmed");
    rmSync(directory, { recursive: true, force: true });
    cpSync(whole, directory, { recursive: true });
    damage(join(directory, path));
    try {
      check(await salvage(directory), mayBeLost(path), path.includes("/_deletions/"));
      const wrong = (await examineStopped(directory)).filter(({ status }) => status === "wrong");
      const outcome = await open(directory);
      if (outcome !== "whole") expect(wrong).not.toEqual([]);
      outcomes.set(path, outcome);
    } catch (error) {
      expect.fail(`${path} ${how}: ${(error as Error).stack ?? ""}`);
    }
  }
  expect(outcomes.size).toBeGreaterThan(20);
  expect(new Set(outcomes.values())).toEqual(new Set(["whole", "rebuilt", "salvage"]));
});

it("gives what the journal has where no manifest of memories is left, and nothing that was deleted", async () => {
  const directory = join(top, "harmed");
  rmSync(directory, { recursive: true, force: true });
  cpSync(whole, directory, { recursive: true });
  for (const path of filesOf(directory))
    if (/memories.*\.manifest$/.test(path)) DAMAGES["removed"]?.(join(directory, path));
  await expect(openStoreOnDisk(directory, world)).rejects.toMatchObject({ code: "STORE_UNUSABLE" });
  const salvaged = await salvage(directory);
  check(salvaged, new Set(inTables.keys()));
  expect(salvaged.found.size).toBe(inJournal.size);
});

it("reads tables and journal where every checkpoint is gone", async () => {
  const directory = join(top, "harmed");
  rmSync(directory, { recursive: true, force: true });
  cpSync(whole, directory, { recursive: true });
  for (const path of filesOf(directory))
    if (path.startsWith("CHECKPOINT")) DAMAGES["removed"]?.(join(directory, path));
  check(await salvage(directory), new Set());
});

it("writes nothing into a data directory, which would remove it", async () => {
  const salvaged = salvageStopped(whole, join(whole, "saved"), NAMES, () => {});
  await expect(salvaged).rejects.toThrow("is inside the data directory");
  expect(readdirSync(whole)).not.toContain("saved");
});

it("keeps apart what is not as it was written", async () => {
  const directory = join(top, "harmed");
  rmSync(directory, { recursive: true, force: true });
  cpSync(whole, directory, { recursive: true });
  const [id = "", content = ""] = [...inTables].find(([, text]) => text.startsWith("early 1 7:")) ?? [];
  for (const path of filesOf(directory)) {
    const file = join(directory, path);
    const bytes = readFileSync(file);
    const at = bytes.indexOf(content.slice(0, 10));
    if (!path.startsWith("tables/memories") || at === -1) continue;
    bytes[at] = "E".charCodeAt(0);
    writeFileSync(file, bytes);
  }
  const salvaged = await salvage(directory);
  check(salvaged, new Set([id]));
  expect(salvaged.found.has(id)).toBe(false);
  expect(salvaged.apart).toEqual(new Map([[id, `E${content.slice(1)}`]]));
});
