import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { call, type DaemonProcess, startDaemonProcess } from "../support/daemon-process.ts";
import { runCli } from "../support/run-cli.ts";
import { times } from "../support/stress.ts";

const KILLS = times(2);

let root: string;
let dataDir: string;
let daemon: DaemonProcess;
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "memoryd-backup-"));
  dataDir = join(root, "data");
  daemon = await startDaemonProcess(dataDir, { MEMORYD_CHECKPOINT_BYTES: "65536" });
});
afterEach(async () => {
  await daemon.kill();
  rmSync(root, { recursive: true, force: true });
});

const cli = (...words: string[]) => runCli(words, { home: root, env: {} });

/** Adds notes until it is stopped, and answers those that were acknowledged, in order. */
function writeOnAndOn(): { readonly done: string[]; stop(): Promise<void> } {
  const done: string[] = [];
  const over = new AbortController();
  const writing = (async () => {
    for (let i = 0; !over.signal.aborted; i += 1) {
      const content = `Note ${i} of the writer`;
      const answer = await call(daemon, "POST", "/memory/add", { content }).catch(() => undefined);
      if (answer?.status === 200) done.push(content);
    }
  })();
  return {
    done,
    async stop() {
      over.abort();
      await writing;
    },
  };
}

/** What a restored backup serves. */
async function contentsOf(backup: string, folder: string): Promise<string[]> {
  const target = join(root, `restored-${backup}`);
  const restored = await cli("restore", join(folder, backup), "--to", target);
  expect(restored).toMatchObject({ code: 0 });
  const other = await startDaemonProcess(target);
  try {
    const { body } = await call(other, "GET", "/memory/all?limit=1000");
    return body.items.map(({ content }: { content: string }) => content);
  } finally {
    await other.kill();
  }
}

describe("memoryd backup", () => {
  it("while notes are written has every one that was answered before it began", async () => {
    const folder = join(root, "backups");
    const writer = writeOnAndOn();
    const expected: string[][] = [];
    for (const name of ["one", "two"]) {
      await sleep(500);
      expected.push([...writer.done]);
      const made = await cli("backup", "--to", folder, "--name", name, "--data-dir", dataDir, "--json");
      expect(made).toMatchObject({ code: 0 });
    }
    await writer.stop();
    for (const [i, name] of ["one", "two"].entries()) {
      const contents = await contentsOf(name, folder);
      expect(contents).toEqual(expect.arrayContaining(expected[i] ?? []));
      // No hole: notes are added one after the other.
      expect([...contents].sort()).toEqual(Array.from(contents, (_, n) => `Note ${n} of the writer`).sort());
    }
  });

  it("killed with the daemon leaves no half backup, and is made after the next start", async () => {
    const folder = join(dataDir, "backups");
    for (let round = 0; round < KILLS; round += 1) {
      const writer = writeOnAndOn();
      await sleep(200);
      await call(daemon, "POST", "/backups", { name: `killed-${round}` });
      await sleep(Math.random() * 500);
      await daemon.kill();
      await writer.stop();
      daemon = await startDaemonProcess(dataDir, { MEMORYD_CHECKPOINT_BYTES: "65536" });
      const made = await cli("backup", "--name", `after-${round}`, "--data-dir", dataDir);
      expect(made).toMatchObject({ code: 0 });
      for (const name of readdirSync(folder)) {
        expect(name).not.toMatch(/^\./);
        expect(await cli("backup", "verify", name, "--data-dir", dataDir)).toMatchObject({ code: 0 });
      }
      expect(await contentsOf(`after-${round}`, folder)).toEqual(expect.arrayContaining(writer.done));
    }
  });
});
