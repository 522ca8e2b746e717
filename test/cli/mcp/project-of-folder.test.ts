import { describe, afterEach, beforeEach, expect, it } from "vitest";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  folderOfRoot,
  namedByPath,
  projectOfFolder,
  nameOfRemote,
  remoteIn,
} from "../../../src/cli/mcp/project-of-folder.ts";

describe("project of folder", () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), "memoryd-project-"));
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  function write(path: string, text: string): void {
    const file = join(home, path);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, text);
  }
  const at = (path: string): string | undefined => projectOfFolder(join(home, path));
  const REMOTE = '[remote "origin"]\n\turl = git@github.com:ada/notes.git\n';

  it("is the remote of the repository that a folder lies in", () => {
    write("notes/.git/config", REMOTE);
    mkdirSync(join(home, "notes/src/deep"), { recursive: true });
    expect(at("notes/src/deep")).toBe("github.com/ada/notes");
    expect(at("notes")).toBe("github.com/ada/notes");
  });

  it("is the same in a worktree, however it names its repository", () => {
    write("notes/.git/config", REMOTE);
    write("notes/.git/worktrees/fix/commondir", "../..\n");
    write("fix/.git", `gitdir: ${join(home, "notes/.git/worktrees/fix")}\n`);
    write("near/.git", "gitdir: ../notes/.git/worktrees/fix\n");
    expect([at("fix"), at("near")]).toEqual(["github.com/ada/notes", "github.com/ada/notes"]);
  });

  it("is a submodule's own", () => {
    write("notes/.git/config", REMOTE);
    write("notes/.git/modules/lib/config", '[remote "origin"]\n\turl = https://example.org/lib.git\n');
    write("notes/lib/.git", "gitdir: ../.git/modules/lib\n");
    expect(at("notes/lib")).toBe("example.org/lib");
  });

  it("without a remote is the main folder's name and a mark, in worktrees too", () => {
    write("notes/.git/config", "[core]\n");
    write("notes/.git/worktrees/fix/commondir", "../..");
    write("fix/.git", `gitdir: ${join(home, "notes/.git/worktrees/fix")}`);
    write("elsewhere/notes/.git/config", "[core]\n");
    expect(at("notes")).toMatch(/^notes~[0-9a-f]{8}$/);
    expect(at("fix")).toBe(at("notes"));
    expect(at("elsewhere/notes")).not.toBe(at("notes"));
  });

  it("follows a clone to what it is a clone of", () => {
    write("notes/.git/config", REMOTE);
    write("clone/.git/config", `[remote "origin"]\n\turl = ${join(home, "notes")}\n`);
    write("again/.git/config", '[remote "origin"]\n\turl = ../clone\n');
    write("bare.git/config", REMOTE);
    write("bare.git/HEAD", "ref: refs/heads/main\n");
    write("other/.git/config", `[remote "origin"]\n\turl = file://${join(home, "bare.git")}\n`);
    write("self/.git/config", '[remote "origin"]\n\turl = ../self\n');
    expect([at("clone"), at("again"), at("other")]).toEqual(Array(3).fill("github.com/ada/notes"));
    expect(at("self")).toMatch(/^self~/);
  });

  it("agrees among clones of a folder on this machine", () => {
    mkdirSync(join(home, "main.git"));
    for (const clone of ["a", "b"])
      write(`${clone}/.git/config`, `[remote "origin"]\n\turl = ${join(home, "main.git")}\n`);
    expect(at("a")).toMatch(/^main~/);
    expect(at("a")).toBe(at("b"));
  });

  it("is none outside of a repository, and where one is broken", () => {
    mkdirSync(join(home, "plain"));
    write("broken/.git", "nonsense");
    expect([at("plain"), at("broken"), at("missing")]).toEqual([undefined, undefined, undefined]);
  });

  it("takes file roots only, and names a folder that is no repository", () => {
    expect(folderOfRoot(pathToFileURL(home).href)).toBe(home);
    expect(folderOfRoot("https://example.org/")).toBeUndefined();
    expect(namedByPath(join(home, "plain"))).toMatch(/^plain~[0-9a-f]{8}$/);
  });
});

describe("git remote", () => {
  describe("nameOfRemote", () => {
    it.each([
      "https://github.com/ada/notes.git",
      "https://github.com/ada/notes",
      "https://github.com/ada/notes/",
      "https://ada:ghp_secret@github.com/ada/notes.git",
      "https://token@GitHub.com:443/ada/notes.git",
      "http://github.com/ada/notes.git",
      "git@github.com:ada/notes.git",
      "github.com:ada/notes.git",
      "ssh://git@github.com/ada/notes.git",
      "ssh://git@github.com:22/ada/notes",
      "ssh://git@ssh.github.com:443/ada/notes.git",
      "git://github.com/ada/notes.git",
      "git+ssh://git@github.com/ada/notes.git",
    ])("is the same for %s", (remote) => {
      expect(nameOfRemote(remote)).toBe("github.com/ada/notes");
    });

    it.each([
      ["https://git.example:8443/x/y.git", "git.example:8443/x/y"],
      ["git@git.example:~ada/notes.git", "git.example/ada/notes"],
      ["ssh://[::1]:2222/srv/notes.git", "[::1]/srv/notes"],
      ["https://dev.azure.com/org/project/_git/repo", "dev.azure.com/org/project/_git/repo"],
      ["https://gitlab.com/a/b/c/d.git", "gitlab.com/a/b/c/d"],
    ])("of %s is %s", (remote, name) => {
      expect(nameOfRemote(remote)).toBe(name);
    });

    it.each([
      "/srv/git/notes.git",
      "../notes",
      "file:///srv/git/notes.git",
      "C:\\git\\notes",
      "c:/git/notes",
      "",
    ])("does not name what is on this machine: %s", (remote) => {
      expect(nameOfRemote(remote)).toBeUndefined();
    });
  });

  describe("remoteIn", () => {
    it("is origin's address, wherever it stands", () => {
      const config =
        '[core]\n\tbare = false\n[remote "fork"]\n\turl = f\n[remote "origin"]\n\tfetch = x\n\turl = o ; mine\n';
      expect(remoteIn(config)).toBe("o");
    });

    it("is the first one where none is called origin", () => {
      expect(
        remoteIn('[branch "x"]\r\n  url = no\r\n[Remote "b"]\r\n  URL="b c"\r\n[remote "a"]\n url=a'),
      ).toBe("b c");
      expect(remoteIn("[core]\n\turl = no\n")).toBeUndefined();
    });

    it("is not one that a comment or another section names", () => {
      expect(
        remoteIn('[remote "origin"]\n# url = a\n; url = b\npushurl = c\n[url "x"]\n\tinsteadOf = d'),
      ).toBeUndefined();
    });
  });
});
