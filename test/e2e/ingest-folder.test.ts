import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { call, type DaemonProcess, startDaemonProcess } from "../support/daemon-process.ts";
import { NOTE_HEIGHT, NOTE_WIDTH, noteAt, png } from "../fixtures/documents/pictures.ts";
import { runCli } from "../support/run-cli.ts";

const TIMEOUT_MS = 120_000;

let home: string;
let folder: string;
let daemon: DaemonProcess;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "memoryd-folder-"));
  folder = join(home, "notes");
  mkdirSync(folder);
  daemon = await startDaemonProcess(join(home, "data"));
}, TIMEOUT_MS);
afterEach(async () => {
  await daemon.stop();
  rmSync(home, { recursive: true, force: true });
});

const env = () => ({ MEMORYD_DATA_DIR: join(home, "data") });
const put = (name: string, text: string) => writeFileSync(join(folder, name), text);
const note = (bird: string) => `The ${bird} was seen at the old mill on a windy morning.`;

it(
  "takes a folder in, says what it passed over, and fails for a file that was named in vain",
  async () => {
    put("a.md", note("heron"));
    put("b.png", "x");
    put(".env", "TOKEN=1");
    const first = await runCli(["ingest", folder], { home, env: env() });
    expect(first).toMatchObject({ code: 0, stderr: "" });
    expect(first.stdout).toMatch(/^1 added, 0 replaced, 0 unchanged, 0 removed; 1 new memory\n/);
    expect(first.stdout).toContain("kept out by default");
    const named = await runCli(["ingest", join(folder, ".env")], { home, env: env() });
    expect(named).toMatchObject({ code: 1 });
    expect(named.stdout).toContain("Not ingested: kept out by default.");
  },
  TIMEOUT_MS,
);

it(
  "reads front matter: tags, date and other fields of the memories, and no text of them",
  async () => {
    put(
      "bees.md",
      "---\ntags: [bees]\ndate: 2025-01-03\nrating: 4\npath: /etc/passwd\n---\nThe bees came back early.",
    );
    expect(await runCli(["ingest", folder, "--tag", "mine"], { home, env: env() })).toMatchObject({
      code: 0,
    });
    const { body } = await call(daemon, "GET", "/memory/all");
    expect(body.items).toMatchObject([
      {
        content: "The bees came back early.",
        tags: ["mine", "bees"],
        occurred_at: "2025-01-03T00:00:00.000Z",
        metadata: { rating: 4, path: join(folder, "bees.md") },
      },
    ]);
  },
  TIMEOUT_MS,
);

it(
  "reads pictures of text with their confidence, and skips those of a folder that hold none",
  async () => {
    writeFileSync(join(folder, "note.png"), png(NOTE_WIDTH, NOTE_HEIGHT, noteAt));
    writeFileSync(
      join(folder, "blank.png"),
      png(300, 200, () => 255),
    );
    const { code, stdout } = await runCli(["ingest", folder], { home, env: env() });
    expect(stdout).toMatch(/^1 added/);
    expect(stdout).toContain("skipped 1 .png: The picture holds no text that can be read.");
    expect(code).toBe(0);
    const { body } = await call(daemon, "GET", "/documents");
    expect(body.items[0].extraction).toMatchObject({ content_type: "png", confidence: expect.any(Number) });
    expect(await runCli(["ingest", join(folder, "blank.png")], { home, env: env() })).toMatchObject({
      code: 1,
    });
  },
  TIMEOUT_MS,
);
