import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { changeConfigFile, readConfigFile } from "../../../src/cli/agents/change-file.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "memoryd-agents-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("changeConfigFile", () => {
  it("makes a file and its folder, and no backup", () => {
    const path = join(folder, "a", "mcp.json");
    expect(readConfigFile(path)).toBeUndefined();
    expect(changeConfigFile(path, 0o600, "", () => "{}")).toEqual({ changed: true, backup: undefined });
    expect(readFileSync(path, "utf8")).toBe("{}");
    expect(readdirSync(join(folder, "a"))).toEqual(["mcp.json"]);
  });

  it("keeps the mode and the text before", () => {
    const path = join(folder, "mcp.json");
    writeFileSync(path, "old", { mode: 0o640 });
    const mode = statSync(path).mode;
    const backup = `${path}.before-memoryd`;
    expect(changeConfigFile(path, 0o600, "", (text) => `${text}er`)).toEqual({ changed: true, backup });
    expect([readFileSync(path, "utf8"), readFileSync(backup, "utf8")]).toEqual(["older", "old"]);
    expect([statSync(path).mode, statSync(backup).mode]).toEqual([mode, mode]);
    expect(changeConfigFile(path, 0o600, "", (text) => text)).toEqual({ changed: false, backup: undefined });
  });

  it.skipIf(process.platform === "win32")("follows a link and leaves it one", () => {
    const [path, target] = [join(folder, "link.json"), join(folder, "real.json")];
    writeFileSync(target, "old");
    symlinkSync(target, path);
    changeConfigFile(path, 0o600, "", () => "new");
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(readFileSync(target, "utf8")).toBe("new");
  });

  it("does not write over what somebody else wrote meanwhile", () => {
    const path = join(folder, "mcp.json");
    writeFileSync(path, "old");
    const change = () => {
      writeFileSync(path, "theirs");
      return "new";
    };
    expect(() => changeConfigFile(path, 0o600, "", change)).toThrow("changed by another program just now");
    expect(readFileSync(path, "utf8")).toBe("theirs");
    expect(readdirSync(folder).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  it("names a path that cannot be read or written", () => {
    const path = join(folder, "file", "mcp.json");
    writeFileSync(join(folder, "file"), "");
    expect(() => changeConfigFile(folder, 0o600, "", () => "new")).toThrow(`${folder} cannot be read: `);
    expect(() => changeConfigFile(path, 0o600, "", () => "new")).toThrow(`${path} cannot be `);
  });

  it.skipIf(process.platform === "win32")("names a link that leads nowhere", () => {
    const path = join(folder, "link.json");
    symlinkSync(join(folder, "gone.json"), path);
    expect(() => changeConfigFile(path, 0o600, "", () => "new")).toThrow(
      `${path} cannot be written: there is no`,
    );
  });

  it.skipIf(process.platform === "win32")("does not take what it cannot look at for absent", () => {
    const path = join(folder, "loop");
    symlinkSync(path, path);
    expect(() => readConfigFile(join(path, "mcp.json"))).toThrow("mcp.json cannot be read: ");
  });

  it("refuses to read what is not UTF-8", () => {
    writeFileSync(join(folder, "x"), Buffer.from([0xff, 0xfe, 0x7b]));
    expect(() => readConfigFile(join(folder, "x"))).toThrow("is not UTF-8");
  });
});
