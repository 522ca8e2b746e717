import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { lockDataDirectory } from "../../src/storage/lock.ts";
import { runCli, runCliHere } from "../support/run-cli.ts";
import { selfSignedCertificate } from "../support/self-signed-certificate.ts";
import { startTestDaemon } from "../support/test-daemon.ts";
import type { TestServer } from "../support/test-server.ts";

let home: string;
let dataDir: string;
let server: TestServer | undefined;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "memoryd-cli-"));
  dataDir = join(home, "data");
});
afterEach(async () => {
  await server?.app.close();
  server = undefined;
  rmSync(home, { recursive: true, force: true });
});

const options = () => ({ home, env: { TZ: "UTC", MEMORYD_DATA_DIR: dataDir } });
const run = (...words: string[]) => runCliHere(words, options());

/** A daemon on the data directory. */
async function serve(tls?: { readonly cert: string; readonly key: string }): Promise<void> {
  // Makes the directory too.
  await run("keys", "list");
  server = await startTestDaemon(dataDir, {}, { tls });
}

describe.each(["without a daemon", "with a daemon", "with a daemon that speaks HTTPS"])(
  "memoryd keys, %s",
  (how) => {
    beforeEach(async () => {
      if (how !== "without a daemon")
        await serve(how.includes("HTTPS") ? selfSignedCertificate() : undefined);
    });

    it("makes, lists and revokes keys, and takes all back", async () => {
      const first = await run("keys", "create", "--name", "laptop", "--user", "ann", "--expires", "90d");
      expect(first).toMatchObject({ code: 0 });
      // The key alone, so that it can be piped.
      expect(first.stdout).toMatch(/^mk_[0-9a-f]{8}_\S+\n$/);
      expect(first.stderr).toMatch(/laptop: write, for the user ann, until 20/);
      expect(first.stderr).toMatch(/first key.*401.*memoryd auth off/);

      const second = await run("keys", "create", "-n", "boss", "--scope", "admin", "--json");
      expect(JSON.parse(second.stdout)).toMatchObject({ name: "boss", scope: "admin", first: false });
      expect(second.stderr).not.toMatch(/first key/);

      expect((await run("keys", "create", "-n", "boss")).stderr).toMatch(/There is a key of this name/);
      expect((await run("keys", "revoke", "boss")).stdout).toMatch(
        /^Revoked the key boss: admin, for all users/,
      );
      expect((await run("keys", "revoke", "nobody")).stderr).toMatch(/There is no key "nobody"/);

      const list = await run("keys", "list");
      expect(list.stdout).toMatch(/mk_[0-9a-f]{8}… {2}active {3}the key laptop: .*never used\n/);
      expect(list.stdout).toMatch(/revoked {2}the key boss: .*\nEvery request needs a key\.\n$/);
      expect(list.stdout).not.toContain(first.stdout.trim());

      const off = await run("auth", "off");
      expect(off).toMatchObject({ code: 0, stdout: "Removed 2 keys.\n" });
      expect((await run("keys", "list")).stdout).toBe("There are no keys.\nNo key is needed.\n");
    });
  },
);

describe("memoryd keys", () => {
  it.each([
    [["--expires", "yesterday"], /It must be a span such as/],
    [["--expires", "2020-01-01"], /a date to come/],
    [["--expires", "0d"], /It must be a span such as/],
    [["--scope", "root"], /choices are read, write, admin|Allowed choices/],
  ])("refuses %j", async (words, message) => {
    const refused = await run("keys", "create", "-n", "a", ...words);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toMatch(message);
    expect(existsSync(join(dataDir, "KEYS"))).toBe(false);
  });

  it("checks without a daemon what the daemon checks", async () => {
    expect((await run("keys", "create", "-n", "a", "-u", ".")).stderr).toMatch(/--user .*must not be "\."/);
    expect((await run("keys", "create", "-n", "a", "-u", "ann", "--scope", "admin")).code).toBe(1);
    expect(existsSync(join(dataDir, "KEYS"))).toBe(false);
  });

  it("waits for nobody who holds the directory", async () => {
    await run("keys", "list");
    const lock = await lockDataDirectory(dataDir);
    const refused = await run("keys", "create", "-n", "a");
    await lock.release();
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toMatch(/is in use by another memoryd/);
  });

  it("says what to do about damaged keys, and can remove them", async () => {
    await run("keys", "create", "-n", "a");
    writeFileSync(join(dataDir, "KEYS"), "");
    for (const command of [
      ["keys", "list"],
      ["keys", "create", "-n", "b"],
    ])
      expect((await run(...command)).stderr).toMatch(/damaged.*memoryd auth off/);
    expect((await runCli(["start"], options())).stderr).toMatch(/damaged.*memoryd auth off/);
    expect((await run("auth", "off")).code).toBe(0);
    expect(existsSync(join(dataDir, "KEYS"))).toBe(false);
  });
});
