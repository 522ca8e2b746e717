import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { findDocuments } from "../../src/files/find-documents.ts";

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
    "c.gif",
    "sub/d.txt",
    "sub/skip.txt",
    "out/e.md",
    ".env.local",
    "id_rsa",
    "k.pem",
    "node_modules/f.md",
    ".obsidian/app.json",
    ".git/g.md",
  ])
    put(path);
  put("empty.md", "");
  put(".gitignore", "out/\n");
  put("sub/.gitignore", "*.txt\n!d.txt\n");
  symlinkSync(join(root, "a.md"), join(root, "link.md"));
  const { files, skipped, missing } = await findDocuments([root]);
  expect(files.map(({ path }) => relative(root, path))).toEqual(["a.md", "b.PDF", "sub/d.txt"]);
  const named = skipped.map(({ path, reason }) => `${relative(root, path)}: ${reason}`);
  expect(named).toEqual(
    expect.arrayContaining([
      "link.md: link",
      "empty.md: empty",
      "out: left out by .gitignore",
      "id_rsa: kept out by default",
      ".obsidian: kept out by default",
      "node_modules: kept out by default",
    ]),
  );
  expect(skipped.filter(({ reason }) => reason === "kept out by default")).toHaveLength(6);
  expect(missing).toEqual([]);
});

it("says what reads a mailbox", async () => {
  put("Inbox.mbox");
  const { skipped } = await findDocuments([root]);
  expect(skipped.map(({ reason }) => reason)).toEqual(["a mailbox, which `memoryd import` reads"]);
});

it("takes a file that is named, and names what is not there", async () => {
  put("notes.org");
  const { files, missing } = await findDocuments([join(root, "notes.org"), "nowhere.md"]);
  expect(files).toHaveLength(1);
  expect(missing).toEqual(["nowhere.md"]);
});

it("says once what is named and stands in a named folder too, and not of what was taken in", async () => {
  put("empty.md", "");
  put("notes.odd");
  const { files, skipped } = await findDocuments([root, join(root, "empty.md"), join(root, "notes.odd")]);
  expect(files.map(({ path }) => relative(root, path))).toEqual(["notes.odd"]);
  expect(skipped).toEqual([{ path: join(root, "empty.md"), kind: ".md", reason: "empty", isNamed: true }]);
});

it("heeds what the repository above says, and nothing above the repository", async () => {
  put(".gitignore", "*.draft.md\n");
  put("repo/.gitignore", "secret/\n*.tmp.md\n");
  put("repo/.git/HEAD");
  for (const path of ["a.md", "a.draft.md", "a.tmp.md", "secret/b.md"]) put(`repo/sub/${path}`);
  const { files } = await findDocuments([join(root, "repo/sub")]);
  expect(files.map(({ path }) => relative(root, path))).toEqual(
    ["repo/sub/a.draft.md", "repo/sub/a.md"].toSorted(),
  );
});

it("keeps out folders that hold keys, and says so of what was named", async () => {
  for (const path of [".env.d/x.md", ".kube/a.md", ".venv/b.md", "ok.md"]) put(path);
  expect((await findDocuments([root])).files).toHaveLength(1);
  put(".env");
  expect((await findDocuments([join(root, ".env")])).skipped).toEqual([
    {
      path: join(root, ".env"),
      kind: "file without an extension",
      reason: "kept out by default",
      isNamed: true,
    },
  ]);
});

it("passes over a folder whose .gitignore would take too long, and folders that lie too deep", async () => {
  put("stars/.gitignore", `${"*a".repeat(100)}*b`);
  put("stars/a.md");
  put("globs/.gitignore", `${"**/a/".repeat(80)}b`);
  put(`${"d/".repeat(70)}x.md`);
  const { files, skipped } = await findDocuments([root]);
  expect(files).toEqual([]);
  expect(skipped.map(({ reason }) => reason).toSorted()).toEqual([
    "its .gitignore has a pattern with too many stars",
    "its .gitignore has a pattern with too many stars",
    "lies more than 64 folders deep",
  ]);
});

it.each([
  ["*.log", "deep/er/a.log.md", true],
  ["a*.md", "deep/er/a.md", false],
  ["build/", "build/a.md", false],
  ["/todo.md", "todo.md", false],
  ["/todo.md", "sub/todo.md", true],
  ["docs/*.md", "docs/sub/a.md", true],
  ["docs/**/a.md", "docs/x/y/a.md", false],
  ["**/tmp", "a/b/tmp/c.md", false],
  ["a?c.md", "abc.md", false],
  ["[!ab].md", "b.md", true],
  ["# a.md", "# a.md", true],
  ["\\#x.md", "#x.md", false],
  ["*.md\n!keep.md", "keep.md", true],
  ["*.md\n!keep.md", "other.md", false],
  ["trailing.md   ", "trailing.md", false],
  ["A.md", "a.md", true],
  ["a/**/b/c.md", "a/x/b/c.md", false],
])("heeds %j for %s (ingested: %s)", async (patterns, path, isFound) => {
  put(".gitignore", patterns);
  put(path);
  expect((await findDocuments([root])).files).toHaveLength(isFound ? 1 : 0);
});

it("takes of a folder what naming the file takes, and neither secrets nor what tools write", async () => {
  const taken = [
    "Makefile",
    "README",
    "a.py",
    "b.csv",
    "c.json",
    "d.yaml",
    "e.log",
    "f.org",
    "g.rst",
    "h.vtt",
    "i.toml",
  ];
  for (const path of [
    ...taken,
    "credentials.json",
    "prod.env",
    "secrets.yaml",
    "package-lock.json",
    "app.min.js",
    "x.zip",
    "data",
  ])
    put(path);
  const { files, skipped } = await findDocuments([root]);
  expect(files.map(({ path }) => relative(root, path))).toEqual(taken);
  const named = skipped.map(({ path, kind, reason }) => `${relative(root, path)} ${kind}: ${reason}`);
  expect(named.toSorted()).toEqual([
    "app.min.js .js: written by a tool",
    "credentials.json .json: kept out by default",
    "data file without an extension: not a kind that is read",
    "package-lock.json .json: written by a tool",
    "prod.env .env: kept out by default",
    "secrets.yaml .yaml: kept out by default",
    "x.zip .zip: not a kind that is read",
  ]);
});
