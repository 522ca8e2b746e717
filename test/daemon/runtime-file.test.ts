import { cpSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  baseUrl,
  newLocalToken,
  readRuntimeInfo,
  removeRuntimeInfo,
  type RuntimeInfo,
  writeRuntimeInfo,
} from "../../src/daemon/runtime-file.ts";

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "memoryd-runtime-"));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const info: RuntimeInfo = {
  address: "127.0.0.1",
  port: 8080,
  pid: 7,
  instanceId: "one",
  version: "0.1.0",
  startedAt: 1,
  token: newLocalToken(),
};

describe("the runtime file", () => {
  it("gives back what was written, and leaves nothing else behind", () => {
    writeRuntimeInfo(dataDir, info);
    expect(readRuntimeInfo(dataDir)).toMatchObject(info);
    expect(readdirSync(dataDir)).toEqual(["daemon.json"]);
  });

  it.skipIf(process.platform === "win32")("can be read by its owner only", () => {
    writeFileSync(join(dataDir, `daemon.json.${info.pid}.tmp`), "left behind", { mode: 0o644 });
    writeRuntimeInfo(dataDir, info);
    expect(statSync(join(dataDir, "daemon.json")).mode & 0o777).toBe(0o600);
  });

  it.each(["", "{", "[]", `{"pid": "seven"}`])("takes the damaged file %j for none", (content) => {
    writeFileSync(join(dataDir, "daemon.json"), content);
    expect(readRuntimeInfo(dataDir)).toBeUndefined();
  });

  it("is taken away by the instance that wrote it only", () => {
    writeRuntimeInfo(dataDir, info);
    removeRuntimeInfo(dataDir, "another");
    expect(readRuntimeInfo(dataDir)).toMatchObject(info);
    removeRuntimeInfo(dataDir, "one");
    expect(readRuntimeInfo(dataDir)).toBeUndefined();
    removeRuntimeInfo(dataDir, "one");
  });

  it("stays with a directory that is moved, and is none of a copy's", () => {
    writeRuntimeInfo(dataDir, info);
    const [copy, moved] = [`${dataDir}-copy`, `${dataDir}-moved`];
    try {
      cpSync(dataDir, copy, { recursive: true });
      expect(readRuntimeInfo(copy)).toBeUndefined();
      renameSync(dataDir, moved);
      expect(readRuntimeInfo(moved)).toMatchObject(info);
    } finally {
      for (const folder of [copy, moved]) rmSync(folder, { recursive: true, force: true });
    }
  });

  it("draws tokens that fit into a header and never repeat", () => {
    const tokens = Array.from({ length: 100 }, newLocalToken);
    expect(new Set(tokens).size).toBe(100);
    for (const token of tokens) expect(token).toMatch(/^[\w-]{43}$/);
  });
});

describe("baseUrl", () => {
  it.each([
    ["127.0.0.1", "http://127.0.0.1:80"],
    ["0.0.0.0", "http://127.0.0.1:80"],
    ["::", "http://[::1]:80"],
    ["::1", "http://[::1]:80"],
    ["localhost", "http://localhost:80"],
  ])("reaches %s at %s", (address, url) => {
    expect(baseUrl({ address, port: 80 })).toBe(url);
  });
});
