import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { call, type DaemonProcess, startDaemonProcess } from "../support/daemon-process.ts";
import { runCli } from "../support/run-cli.ts";

const TIMEOUT_MS = 120_000;
const POLL = { timeout: 60_000, interval: 200 };

let home: string;
let folder: string;
let daemon: DaemonProcess;
beforeEach(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "memoryd-watch-")));
  folder = join(home, "notes");
  mkdirSync(folder);
  daemon = await startDaemonProcess(join(home, "data"));
}, TIMEOUT_MS);
afterEach(async () => {
  await daemon.stop();
  rmSync(home, { recursive: true, force: true });
});

const env = () => ({ MEMORYD_DATA_DIR: join(home, "data") });
const cli = (...words: string[]) => runCli(words, { home, env: env() });
const put = (name: string, text: string) => writeFileSync(join(folder, name), text);
const note = (bird: string) => `The ${bird} was seen at the old mill on a windy morning.`;
const BIRDS = ["bittern", "crane", "egret", "heron", "stork"];

async function documents(
  query = "",
): Promise<{ id: string; filename: string; tags: string[]; user_id: string | null }[]> {
  return (await call(daemon, "GET", `/documents${query}`)).body.items;
}
const names = async () => (await documents()).map(({ filename }) => filename).toSorted();
const inTrash = async (): Promise<number> => (await call(daemon, "GET", "/trash")).body.items.length;

it(
  "follows a folder: new, changed, renamed, half-written and deleted files, over a restart, until it is removed",
  async () => {
    for (const bird of BIRDS) put(`${bird}.md`, note(bird));
    put(".gitignore", "draft.md\n");
    put("draft.md", "Not to be known.");
    symlinkSync(folder, join(folder, "loop"));
    expect(await cli("watch", "add", folder, "--user", "ann", "--tag", "birds")).toMatchObject({
      code: 0,
      stderr: "",
    });
    expect(await cli("watch", "add", folder)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("followed already"),
    });
    await expect.poll(names, POLL).toEqual(BIRDS.map((bird) => `${bird}.md`));
    expect((await documents())[0]).toMatchObject({ tags: ["birds"], user_id: "ann" });

    const heron = (await documents()).find(({ filename }) => filename === "heron.md")?.id;
    renameSync(join(folder, "heron.md"), join(folder, "grey-heron.md"));
    // As editors save: the new text in another file, which takes the name.
    put("crane.md.tmp~", `${note("crane")} Twice.`);
    renameSync(join(folder, "crane.md.tmp~"), join(folder, "crane.md"));
    rmSync(join(folder, "egret.md"));
    await expect.poll(names, POLL).toEqual(["bittern.md", "crane.md", "grey-heron.md", "stork.md"]);
    expect((await documents()).find(({ filename }) => filename === "grey-heron.md")?.id).toBe(heron);
    const { items } = (await call(daemon, "GET", "/trash")).body;
    const egret = items.find(({ content }: { content: string }) => content.includes("egret"));
    expect(egret).toMatchObject({ deleted_by: "memoryd-watch", content: expect.stringContaining("egret") });
    // With the crane of before.
    await expect(inTrash()).resolves.toBe(2);

    // A file that grows for longer than one look takes is one document in the end, and none before.
    const growing = join(folder, "ibis.md");
    let isWriting = true;
    const writing = (async () => {
      for (let n = 0; n < 10; n += 1) {
        appendFileSync(growing, `${note("ibis")} Part ${n}.\n`);
        await new Promise((done) => setTimeout(done, 400));
      }
      isWriting = false;
    })();
    await expect.poll(names, POLL).toContain("ibis.md");
    expect(isWriting).toBe(false);
    await writing;
    expect(await inTrash()).toBe(2);

    // What a person takes out of the trash stays, though its file is gone.
    expect((await call(daemon, "POST", `/trash/${egret.id}/restore`)).status).toBe(200);
    await daemon.stop();
    put("stork.md", `${note("stork")} Again.`);
    rmSync(join(folder, "bittern.md"));
    daemon = await startDaemonProcess(join(home, "data"));
    await expect.poll(names, POLL).toEqual(["crane.md", "egret.md", "grey-heron.md", "ibis.md", "stork.md"]);
    await expect
      .poll(
        async () =>
          JSON.stringify(
            await call(daemon, "POST", "/memory/query", { query: "stork again", user_id: "ann" }),
          ),
        POLL,
      )
      .toContain("Again.");

    expect(await cli("watch", "remove", folder)).toMatchObject({ code: 0 });
    expect((await cli("watch", "list")).stdout).toContain("No folder is followed");
    expect(await names()).toHaveLength(5);
  },
  TIMEOUT_MS,
);

it(
  "deletes nothing of a folder that is gone or empty, says so, and goes on when it is back",
  async () => {
    for (const bird of BIRDS) put(`${bird}.md`, note(bird));
    put("broken.pdf", "%PDF-1.7 broken");
    await cli("watch", "add", folder);
    await expect.poll(names, POLL).toHaveLength(5);
    const list = async () => (await cli("watch", "list")).stdout;
    await expect.poll(list, POLL).toMatch(/6 files\n {2}failed .*broken\.pdf: /);

    renameSync(folder, join(home, "unmounted"));
    await expect.poll(list, { ...POLL, timeout: 90_000 }).toMatch(/5 documents of them stay/);
    expect(daemon.output()).toMatch(/is gone, or its files are; 5 documents of them stay/);
    mkdirSync(folder);
    renameSync(join(home, "unmounted"), join(home, "notes-back"));
    expect(await names()).toHaveLength(5);
    rmSync(folder, { recursive: true });
    renameSync(join(home, "notes-back"), folder);
    put("ibis.md", note("ibis"));
    await expect.poll(names, { ...POLL, timeout: 90_000 }).toHaveLength(6);
    expect(await inTrash()).toBe(0);
  },
  TIMEOUT_MS * 2,
);

it(
  "refuses what is no folder, the data directory, and a folder inside or around another",
  async () => {
    put("a.md", "x");
    expect(await cli("watch", "add", join(home, "nowhere"))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/There is no folder/),
    });
    expect(await cli("watch", "add", join(folder, "a.md"))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/is no folder/),
    });
    expect(await cli("watch", "add", join(home, "data"))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/data directory of memoryd/),
    });
    expect(await cli("watch", "remove", folder)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/is not followed/),
    });
    const [inner, beside] = [join(folder, "inner"), join(home, "notes2")];
    mkdirSync(inner);
    mkdirSync(beside);
    for (const each of [inner, beside]) expect(await cli("watch", "add", each)).toMatchObject({ stderr: "" });
    expect(await cli("watch", "add", folder)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`${folder} holds ${inner}, which is followed`),
    });
    expect(await cli("watch", "add", folder, "--user", "ann")).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("for another user or project"),
    });
    await cli("watch", "remove", inner);
    expect(await cli("watch", "add", inner, "--user", "ann")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`${inner} lies in ${folder}, which is followed`),
    });
  },
  TIMEOUT_MS,
);
