import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nodeDisk } from "../../src/storage/disk.ts";
import {
  INCOMING_NAME,
  MOVED_NAME,
  whereDataIs,
  writeIncoming,
  writeMoved,
} from "../../src/storage/moved.ts";
import { occupy } from "../../src/storage/occupy.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "memoryd-moved-"));
  for (const name of ["a", "b", "c"]) mkdirSync(at(name));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const at = (name: string) => join(root, name);
const moved = (from: string, to: string, id = "1") => writeMoved(nodeDisk, at(from), { id, to: at(to) });
const store = (name: string) => mkdirSync(join(at(name), "journal"), { recursive: true });

describe("whereDataIs", () => {
  it("is the directory itself, also where there is none", () => {
    expect(whereDataIs(at("a"))).toBe(at("a"));
    expect(whereDataIs(at("not there"))).toBe(at("not there"));
  });

  it("follows one mark after the other", async () => {
    store("c");
    await moved("a", "b");
    await moved("b", "c");
    expect(whereDataIs(at("a"))).toBe(at("c"));
  });

  it("refuses to take a place without data for it: a disk may not be there", async () => {
    await moved("a", "b");
    expect(() => whereDataIs(at("a"))).toThrow(/was moved to .+, and is not there\. Connect that disk/);
    rmSync(at("b"), { recursive: true });
    expect(() => whereDataIs(at("a"))).toThrow("Connect that disk");
  });

  it("stops where a move has arrived that is not tidied up, also one back home", async () => {
    store("a");
    await moved("a", "b");
    store("b");
    const { id } = await writeIncoming(nodeDisk, at("a"), at("b"));
    expect(whereDataIs(at("a"))).toBe(at("b"));
    await moved("b", "a", id);
    expect(whereDataIs(at("a"))).toBe(at("a"));
    expect(whereDataIs(at("b"))).toBe(at("a"));
  });

  it("says so when marks lead in a circle or are damaged", async () => {
    await moved("a", "b");
    await moved("b", "a");
    expect(() => whereDataIs(at("a"))).toThrow("in a circle");
    writeFileSync(join(at("c"), MOVED_NAME), "{");
    expect(() => whereDataIs(at("c"))).toThrow(/MOVED is damaged/);
  });
});

describe("occupy", () => {
  it("does not make a store anew where one was moved from while this started", async () => {
    await moved("a", "b");
    await expect(occupy(at("a"))).rejects.toMatchObject({ code: "STORE_UNUSABLE", retryAfterSeconds: 1 });
    expect(readdirSync(at("a"))).toEqual([MOVED_NAME]);
  });

  it("does not open what has come over in part", async () => {
    await writeIncoming(nodeDisk, at("b"), at("a"));
    store("b");
    await expect(occupy(at("b"))).rejects.toThrow(
      /unfinished move from .+ goes on with it; to give it up, remove/,
    );
  });

  it("finishes a move that has happened", async () => {
    store("a");
    store("b");
    const { id } = await writeIncoming(nodeDisk, at("b"), at("a"));
    await moved("a", "b", id);
    await (await occupy(at("b"))).release();
    expect(existsSync(join(at("b"), INCOMING_NAME))).toBe(false);
    expect(readdirSync(at("a"))).toEqual([MOVED_NAME]);
  });
});
