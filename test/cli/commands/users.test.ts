import { describe, afterEach, beforeEach, expect, it } from "vitest";
import { mkdirSync, mkdtempSync, rmSync, existsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bindOperations } from "../../../src/core/operations.ts";
import { createMemoryWorld } from "../../support/memory-world.ts";
import { runCliHere, runCli } from "../../support/run-cli.ts";
import { startTestDaemon } from "../../support/test-daemon.ts";
import type { TestServer } from "../../support/test-server.ts";
import { lockDataDirectory } from "../../../src/storage/files/lock.ts";
import { selfSignedCertificate } from "../../support/self-signed-certificate.ts";

describe("users", () => {
  let home: string;
  let server: TestServer;
  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), "memoryd-cli-"));
    server = await startTestDaemon(home, bindOperations(createMemoryWorld().ports));
  });
  afterEach(async () => {
    await server.app.close();
    rmSync(home, { recursive: true, force: true });
  });

  const users = (...words: string[]) =>
    runCliHere(["users", ...words], { home, env: { TZ: "UTC", MEMORYD_DATA_DIR: home } });
  const printed = async (...words: string[]) => {
    const { code, stdout, stderr } = await users(...words);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return stdout;
  };
  const add = (content: string, user_id: string) =>
    server.post("/memory/add", { content, user_id, tags: ["garden"], occurred_at: "2026-11-20" });
  const addFact = (user_id: string) =>
    server.post("/api/temporal/fact", { subject: "Ann", predicate: "owns", object: "a kite", user_id });

  describe("memoryd users list", () => {
    it("says who has how much", async () => {
      expect(await printed("list")).toBe("No user has stored anything.\n");
      await add("Planted garlic in bed three.", "ann");
      await add("Planted leeks in bed four.", "bob/b");
      await addFact("ann");
      expect(await printed("list")).toBe(
        "ann\n    1 memory, 1 fact · 2026-11-20\nbob/b\n    1 memory · 2026-11-20\n",
      );
      expect(await printed("list", "-l", "1")).toMatch(/^… and 1 more$/m);
      expect(JSON.parse(await printed("list", "--json")).total).toBe(2);
    });
  });

  describe("memoryd users summary", () => {
    it("prints sentences, facts and figures", async () => {
      await add("Planted garlic in bed three of the allotment.", "a b");
      await addFact("a b");
      const text = await printed("summary", "a b");
      expect(text).toMatch(/^a b · 1 memory, 1 fact · 2026-11-20$/m);
      expect(text).toMatch(/^ {2}Planted garlic in bed three of the allotment\.$/m);
      expect(text).toMatch(/^ {2}Ann · owns · a kite$/m);
      expect(text).toMatch(/^ {2}tags +garden 1$/m);
      expect(JSON.parse(await printed("summary", "a b", "--json")).memory_count).toBe(1);
    });

    it("says that there is nobody", async () => {
      expect(await users("summary", "nobody")).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/nothing stored/),
      });
    });
  });

  const IN_BACKUPS =
    "1 backup from before may still hold it; `memoryd compact --now --backups` makes a new one in their place\n";

  describe("memoryd users delete", () => {
    it("says the counts and deletes nothing where nobody can be asked", async () => {
      await add("Planted garlic in bed three.", "ann");
      await addFact("ann");
      expect(await users("delete", "ann")).toMatchObject({
        code: 2,
        stderr:
          "ann has 1 memory; 1 fact stays (--include-facts); nothing was deleted: there is no terminal to ask at. Give --yes to go on without asking.\n",
      });
      expect((await users("delete", "ann", "--include-facts")).stderr).toMatch(/^ann has 1 memory, 1 fact; /);
      expect((await server.get("/memory/all")).json().total).toBe(1);
    });

    it("says which facts stay, where there is nothing else too", async () => {
      await add("Planted garlic in bed three.", "ann");
      await addFact("ann");
      expect(await printed("delete", "ann", "--yes")).toBe(
        "deleted 1 memory; 1 fact stays (--include-facts)\n" + IN_BACKUPS,
      );
      expect(await printed("delete", "ann", "--yes")).toBe(
        "There was nothing to delete; 1 fact stays (--include-facts)\n",
      );
      expect((await users("delete", "ann")).stderr).toMatch(
        /^ann has no memories; 1 fact stays \(--include-facts\); /,
      );
      expect((await users("delete", "bob")).stderr).toMatch(/^bob has nothing stored; /);
    });

    it("deletes what it is told to with --yes", async () => {
      await add("Planted garlic in bed three.", "ann");
      await addFact("ann");
      expect(await printed("delete", "ann", "--yes", "--include-facts")).toBe(
        "deleted 1 memory, 1 fact\n" + IN_BACKUPS,
      );
      expect(await printed("delete", "ann", "--yes", "--backups")).toBe(
        "There was nothing to delete.\nmade the backup two, and removed 1 older one\n",
      );
      expect(await printed("delete", "ann", "--yes", "--keep-documents")).toBe(
        "There was nothing to delete.\n",
      );
      expect(server.lastInput("deleteUserMemories")).toMatchObject({
        keepsDocuments: true,
        includesFacts: false,
      });
    });
  });
});

describe("key commands", () => {
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
    mkdirSync(dataDir);
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

        const unasked = await run("auth", "off");
        expect(unasked).toMatchObject({ code: 2, stdout: "" });
        expect(unasked.stderr).toMatch(/^No key was removed: .*--yes/);
        expect((await run("keys", "list")).stdout).toContain("Every request needs a key.");

        const off = await run("auth", "off", "--yes");
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
      expect((await run("keys", "create", "-n", "a", "-u", "..")).stderr).toMatch(
        /--user .*must not be "\."/,
      );
      expect((await run("keys", "create", "-n", "a", "-u", "ann", "--scope", "admin")).code).toBe(1);
      expect(existsSync(join(dataDir, "KEYS"))).toBe(false);
    });

    it("waits for nobody who holds the directory", async () => {
      mkdirSync(dataDir);
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
      expect((await run("auth", "off", "--yes")).code).toBe(0);
      expect(existsSync(join(dataDir, "KEYS"))).toBe(false);
    });
  });
});
