import { describe, expect, it } from "vitest";
import { nameOfRemote, remoteIn } from "../../../src/cli/mcp/project-of-folder.ts";

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
