import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ConfigError, loadConfig, readSettings, SETTINGS } from "../../src/config/config.ts";
import { shareMemory } from "../../src/config/limits.ts";

const KEY = "0123456789abcdef";
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "memoryd-config-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function file(content: unknown, name = "settings.json"): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

describe("readSettings", () => {
  it("has a default for every setting", () => {
    expect(readSettings({ env: {} })).toMatchObject({
      host: "127.0.0.1",
      port: 8080,
      logLevel: "info",
      allowedHosts: [],
      maxUploadBytes: 104_857_600,
    });
  });

  it("takes a flag before a variable, a variable before the file, the file before the default", () => {
    const configFile = file({ port: 1, host: "localhost", logLevel: "warn", allowedHosts: ["a.localhost"] });
    const env = { MEMORYD_PORT: "2", MEMORYD_HOST: "::1" };
    expect(readSettings({ flags: { port: "3" }, env, configFile })).toMatchObject({
      port: 3,
      host: "::1",
      logLevel: "warn",
      allowedHosts: ["a.localhost"],
    });
  });

  it.each(["auto", "8MiB", "64MB", "1 GiB", "67108864"])(
    "takes %s as a budget for memory",
    (memoryBudget) => {
      expect(readSettings({ flags: { memoryBudget }, env: {} }).memoryBudget).toBe(memoryBudget);
    },
  );

  it.each(["", "8MB", "0", "64", "-64MB", "1.5GB", "64MX", "65GiB", "lots"])(
    "refuses %j as a budget for memory",
    (memoryBudget) => {
      expect(() => readSettings({ flags: { memoryBudget }, env: {} })).toThrow(
        `--memory-budget is ${JSON.stringify(memoryBudget)}, but must be auto, or a size from 8MiB to 64GiB`,
      );
    },
  );

  it("shares a budget among caches and embedding threads, of which one is always there", () => {
    expect(shareMemory("auto", 4)).toEqual({});
    expect(shareMemory("64MB", 4)).toEqual({ threads: 1, cacheBytes: 64e6 });
    expect(shareMemory("120MB", 4)).toEqual({ threads: 2, cacheBytes: 60e6 });
    expect(shareMemory("1GB", 4)).toEqual({ threads: 4, cacheBytes: 820e6 });
    expect(shareMemory("1GB", 1)).toEqual({ threads: 1, cacheBytes: 1e9 });
  });

  it("ignores what Kubernetes sets beside a service called memoryd, and says so", () => {
    const env = {
      MEMORYD_PORT: "tcp://10.0.0.7:8080",
      MEMORYD_SERVICE_HOST: "10.0.0.7",
      MEMORYD_SERVICE_PORT: "8080",
      MEMORYD_PORT_8080_TCP: "tcp://10.0.0.7:8080",
      MEMORYD_PORT_8080_TCP_ADDR: "10.0.0.7",
    };
    expect(loadConfig({ env })).toMatchObject({
      port: 8080,
      warnings: [
        "MEMORYD_PORT is tcp://10.0.0.7:8080, which Kubernetes sets for a service; it is ignored. Use --port.",
      ],
    });
    expect(() => loadConfig({ env: { MEMORYD_PORT: "8o80" } })).toThrow(
      /MEMORYD_PORT is "8o80", but must be/,
    );
  });

  it("cannot be changed afterwards", () => {
    expect(Object.isFrozen(readSettings({ env: {} }))).toBe(true);
    expect(Object.isFrozen(loadConfig({ env: {} }))).toBe(true);
  });

  it("names every setting by one rule", () => {
    const dataDir = SETTINGS.find(({ name }) => name === "dataDir");
    expect(dataDir).toMatchObject({ flag: "--data-dir", variable: "MEMORYD_DATA_DIR" });
    for (const { flag, variable, description } of SETTINGS) {
      expect(variable).toBe(`MEMORYD_${flag.slice(2).replaceAll("-", "_").toUpperCase()}`);
      expect(description).not.toBe("");
    }
  });

  it("splits lists at commas and treats an empty variable as absent", () => {
    const env = { MEMORYD_ALLOWED_ORIGINS: "https://a.example, https://b.example,", MEMORYD_PORT: "" };
    expect(readSettings({ env })).toMatchObject({
      allowedOrigins: ["https://a.example", "https://b.example"],
      port: 8080,
    });
  });

  it("counts relative paths from the working directory, in a file from the file's folder", () => {
    expect(readSettings({ env: { MEMORYD_DATA_DIR: "d" } }).dataDir).toBe(join(process.cwd(), "d"));
    expect(readSettings({ env: {}, configFile: file({ dataDir: "d" }) }).dataDir).toBe(join(folder, "d"));
  });

  it.each([
    [{ flags: { port: "abc" } }, /^--port is "abc", but must be a whole number from 0 to 65535\.$/],
    [{ flags: { port: "-1" } }, /--port/],
    [{ flags: { port: "65536" } }, /--port/],
    [{ flags: { port: "80.5" } }, /--port/],
    [{ flags: { dataDir: "" } }, /--data-dir is "", but must be a text that is not empty/],
    [{ env: { MEMORYD_LOG_LEVEL: "loud" } }, /MEMORYD_LOG_LEVEL is "loud", but must be one of debug, info/],
    [{ env: { MEMORYD_ALLOWED_ORIGINS: "*" } }, /MEMORYD_ALLOWED_ORIGINS .*https:\/\/app\.example/],
    [{ env: { MEMORYD_ALLOWED_HOSTS: "https://x/y" } }, /MEMORYD_ALLOWED_HOSTS/],
    [{ flags: { prot: "1" } }, /--prot; did you mean --port\?/],
    [{ env: { MEMORYD_APIKEY: KEY } }, /MEMORYD_APIKEY; did you mean MEMORYD_API_KEY\?/],
    [{ configFile: "/no/such/file" }, /\/no\/such\/file cannot be read/],
  ])("refuses %j", (sources, message) => {
    const read = () => readSettings({ env: {}, ...sources });
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(message);
  });

  it.each([
    [{ datadir: "x" }, /"datadir"; did you mean dataDir\?/],
    [{ colour: "red" }, /"colour"; the settings are host, port/],
    [{ port: "8080" }, /"port" in .* is "8080", but must be a whole number/],
    [{ apiKey: KEY }, /apiKeyFile/],
    [[], /one JSON object/],
    ["{", /is not JSON/],
  ])("refuses the file %j", (content, message) => {
    expect(() => readSettings({ env: {}, configFile: file(content) })).toThrow(message);
  });

  it("reads a file with a byte order mark, and names UTF-16", () => {
    const configFile = file({});
    writeFileSync(configFile, '\ufeff{"port": 1}');
    expect(readSettings({ env: {}, configFile }).port).toBe(1);
    writeFileSync(configFile, Buffer.from('\ufeff{"port": 1}', "utf16le"));
    expect(() => readSettings({ env: {}, configFile })).toThrow(/perhaps UTF-16; save it as UTF-8/);
  });

  it("leaves variables of other programs alone", () => {
    expect(() => readSettings({ env: { MEMORYD_HOME: "/x", MEMORYD_BACKUP_SCRIPT: "y" } })).not.toThrow();
  });

  it("never reads a file of the working directory", () => {
    const before = process.cwd();
    mkdirSync(join(folder, "memoryd"));
    for (const name of ["config.json", "memoryd.json", "memoryd/config.json"]) file({ port: 1 }, name);
    process.chdir(folder);
    try {
      expect(readSettings({ env: {} }).port).toBe(8080);
    } finally {
      process.chdir(before);
    }
  });
});

describe("loadConfig", () => {
  it("takes the key from the variable or from a file, without the line end", () => {
    expect(loadConfig({ env: {} }).apiKey).toBeUndefined();
    expect(loadConfig({ env: { MEMORYD_API_KEY: KEY } }).apiKey).toBe(KEY);
    expect(loadConfig({ env: {}, flags: { apiKeyFile: file(`${KEY}\n`, "key") } }).apiKey).toBe(KEY);
  });

  it.each([
    ["a short key", { MEMORYD_API_KEY: KEY.slice(1) }, /MEMORYD_API_KEY has 15 characters.* at least 16/],
    ["an empty key", { MEMORYD_API_KEY: "" }, /0 characters/],
    ["a key that no header can carry", { MEMORYD_API_KEY: `${KEY} x` }, /visible ASCII/],
    ["two keys", { MEMORYD_API_KEY: KEY, MEMORYD_API_KEY_FILE: "/k" }, /Both/],
    ["a key file that is not there", { MEMORYD_API_KEY_FILE: "/no/key" }, /\/no\/key cannot be read/],
    ["another address without a key", { MEMORYD_HOST: "0.0.0.0" }, /0\.0\.0\.0.*MEMORYD_API_KEY/],
    [
      "another host name without a key",
      { MEMORYD_ALLOWED_HOSTS: "box.lan:8080" },
      /box\.lan:8080.*MEMORYD_API_KEY/,
    ],
    [
      "a time zone that there is none of",
      { MEMORYD_TIME_ZONE: "Mars/Olympus" },
      /--time-zone.*Mars\/Olympus/,
    ],
  ])("refuses %s", (_, env, message) => {
    expect(() => loadConfig({ env })).toThrow(message);
  });

  it("never repeats a key in a refusal", () => {
    const secret = "s e c r e t   k e y";
    expect(() => loadConfig({ env: { MEMORYD_API_KEY: secret } })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining(secret) }),
    );
  });

  it("needs no key for names of this machine, with a port or without", () => {
    const allowedHosts = ["notes.localhost", "localhost:9000", "[::1]:80", "127.0.0.2"];
    expect(loadConfig({ env: { MEMORYD_ALLOWED_HOSTS: allowedHosts.join(",") } })).toMatchObject({
      allowedHosts,
    });
  });

  it("listens on other addresses with a key", () => {
    const env = { MEMORYD_API_KEY: KEY, MEMORYD_HOST: "0.0.0.0", MEMORYD_ALLOWED_HOSTS: "box.lan" };
    expect(loadConfig({ env })).toMatchObject({ host: "0.0.0.0", allowedHosts: ["box.lan"] });
  });
});

describe("the settings as they are shown", () => {
  it("name the flag, the variable, the file or nothing that each comes from", () => {
    const configFile = file({ logLevel: "warn", maxUploadBytes: 2048 });
    const env = { MEMORYD_PORT: "2", MEMORYD_LOG_LEVEL: "error" };
    const { shown } = loadConfig({ flags: { host: "::1" }, env, configFile });
    const one = (name: string) => shown.items.find((each) => each.name === name);
    expect(one("host")).toMatchObject({ value: "::1", source: "flag", from: "--host", default: "127.0.0.1" });
    expect(one("port")).toMatchObject({ value: 2, source: "variable", from: "MEMORYD_PORT" });
    expect(one("logLevel")).toMatchObject({ value: "error", source: "variable" });
    expect(one("maxUploadBytes")).toMatchObject({ value: 2048, source: "file", from: configFile });
    expect(one("ffmpeg")).toMatchObject({ value: "auto", source: "default", from: null });
    expect(shown.configFile).toBe(configFile);
    expect(shown.items).toHaveLength(SETTINGS.length);
  });

  it("hold no secret, neither keys nor credentials in addresses", () => {
    const env = {
      MEMORYD_API_KEY: KEY,
      MEMORYD_HTTP_PROXY: "http://ada:pa/ss@proxy.example:3128/?token=t0ken",
    };
    const { shown } = loadConfig({ env });
    expect(shown.secrets).toEqual([{ name: "MEMORYD_API_KEY", from: "MEMORYD_API_KEY" }]);
    const text = JSON.stringify(shown);
    for (const secret of [KEY, "pa/ss", "t0ken"]) expect(text).not.toContain(secret);
    expect(text).toContain("proxy.example:3128");
  });
});
