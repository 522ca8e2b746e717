import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { findDocuments } from "../../src/cli/find-documents.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "memoryd-find-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(path: string, text = "x"): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

it("takes documents, and passes over what is ignored, linked, secret or of another kind", async () => {
  for (const path of [
    "a.md",
    "b.PDF",
    "c.png",
    "sub/d.txt",
    "sub/skip.txt",
    "out/e.md",
    ".env.local",
    "id_rsa",
    "k.pem",
    "node_modules/f.md",
    ".git/g.md",
  ])
    put(path);
  put("empty.md", "");
  put(".gitignore", "out/\n");
  put("sub/.gitignore", "*.txt\n!d.txt\n");
  symlinkSync(join(root, "a.md"), join(root, "link.md"));
  const { files, skipped, missing } = await findDocuments([root]);
  expect(files.map(({ path }) => relative(root, path))).toEqual(["a.md", "b.PDF", "sub/d.txt"]);
  expect(Object.fromEntries(skipped)).toMatchObject({
    link: 1,
    empty: 1,
    "left out by .gitignore": 2,
    "kept out by default": 5,
  });
  expect(missing).toEqual([]);
});

it("takes a file that is named, and names what is not there", async () => {
  put("notes.org");
  const { files, missing } = await findDocuments([join(root, "notes.org"), "nowhere.md"]);
  expect(files).toHaveLength(1);
  expect(missing).toEqual(["nowhere.md"]);
});
