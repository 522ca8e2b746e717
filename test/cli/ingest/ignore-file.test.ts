import { describe, expect, it } from "vitest";
import { parseIgnoreFile } from "../../../src/cli/ingest/ignore-file.ts";

describe("parseIgnoreFile", () => {
  it.each<[string, string, boolean, boolean | undefined]>([
    ["*.log", "a.log", false, true],
    ["*.log", "deep/er/a.log", false, true],
    ["*.log", "a.txt", false, undefined],
    ["build/", "build", true, true],
    ["build/", "build", false, undefined],
    ["/todo.md", "todo.md", false, true],
    ["/todo.md", "sub/todo.md", false, undefined],
    ["docs/*.md", "docs/a.md", false, true],
    ["docs/*.md", "docs/sub/a.md", false, undefined],
    ["docs/**/a.md", "docs/x/y/a.md", false, true],
    ["docs/**/a.md", "docs/a.md", false, true],
    ["docs/**", "docs/x/y", false, true],
    ["**/tmp", "a/b/tmp", true, true],
    ["a?c.txt", "abc.txt", false, true],
    ["[ab].txt", "b.txt", false, true],
    ["[!ab].txt", "b.txt", false, undefined],
    ["# a comment", "# a comment", false, undefined],
    ["\\#x", "#x", false, true],
    ["a.b", "axb", false, undefined],
    ["*.md\n!keep.md", "keep.md", false, false],
    ["trailing   ", "trailing", false, true],
    ["[", "[", false, true],
    ["[]a]x", "]x", false, true],
    ["[a-c]1", "b1", false, true],
    ["[^a-c]1", "b1", false, undefined],
    ["\\*", "*", false, true],
    ["\\*", "a", false, undefined],
    ["a/**/b/**/c", "a/x/b/b/y/c", false, true],
    ["docs/**", "docs", true, undefined],
    ["*a*b", "xaxxb", false, true],
    ["é?", "é👍", false, true],
  ])("%j and %s (folder: %s): %s", (text, path, isFolder, expected) => {
    expect(parseIgnoreFile(text).ignores(path, isFolder)).toBe(expected);
  });

  it("stays quick for a pattern of many stars", () => {
    const stars = `${"*a".repeat(100)}*b`;
    const folders = `${"**/a/".repeat(80)}b`;
    expect(parseIgnoreFile(stars).ignores("a".repeat(250), false)).toBeUndefined();
    expect(parseIgnoreFile(folders).ignores("a/".repeat(1_000) + "c", false)).toBeUndefined();
  });
});
