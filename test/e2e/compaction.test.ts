import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { readdir, readlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MINILM } from "../../src/models/bundled-models.ts";
import { call, type DaemonProcess, startDaemonProcess } from "../support/daemon-process.ts";
import { placesOf, readEveryByte } from "../support/every-byte.ts";
import { fillStore } from "../support/fill-store.ts";
import { runCli } from "../support/run-cli.ts";
import { times } from "../support/stress.ts";

const KILLS = times(3);
const LATEST_KILL_MS = 900;
const MANY = 4_000;

let dataDir: string;
let daemon: DaemonProcess;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "memoryd-compact-"));
});
afterEach(async () => {
  await daemon?.kill();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Letters that no compressor makes shorter. */
const marker = () => `mk${randomBytes(15).toString("hex")}`;
const compactNow = () =>
  runCli(["compact", "--now", "--json", "--data-dir", dataDir], { home: dataDir, env: {} });

async function add(body: object, headers: Record<string, string> = {}): Promise<string> {
  const response = await fetch(`${daemon.baseUrl}/memory/add`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  return ((await response.json()) as { id: string }).id;
}

async function remove(path: string): Promise<void> {
  expect((await call(daemon, "DELETE", path)).status).toBe(200);
}

describe("compact --now", () => {
  it("leaves no byte of what was deleted, with the daemon running", async () => {
    daemon = await startDaemonProcess(dataDir, { MEMORYD_CHECKPOINT_BYTES: "65536" });
    const gone: string[] = [];
    const doomed = () => {
      gone.push(marker());
      return gone.at(-1) ?? "";
    };
    const kept = [marker(), marker(), marker()];
    await add({ content: `It stays: ${kept[0]}`, tags: [kept[1]], metadata: { deep: { note: kept[2] } } });
    const memories: string[] = [];
    const user = marker();
    for (let i = 0; i < 5; i += 1) {
      const content = `The ${doomed()} goes away, number ${i}`;
      const metadata = { [doomed()]: [doomed()] };
      const key = { "idempotency-key": doomed() };
      memories.push(
        await add({ content, tags: [doomed()], metadata, user_id: user, session_id: doomed() }, key),
      );
    }
    const changed = await add({ content: `Once ${doomed()}`, tags: [doomed()], project: doomed() });
    const { body: fact } = await call(daemon, "POST", "/api/temporal/fact", {
      subject: doomed(),
      predicate: doomed(),
      object: doomed(),
      metadata: { a: doomed() },
    });
    const { body: ingested } = await call(daemon, "POST", "/ingest", {
      text: `# ${doomed()}\n\n${"A paragraph of its own. ".repeat(60)}\n\n${doomed()} is the end.`,
      metadata: { filename: `${doomed()}.md`, note: doomed() },
      tags: [doomed()],
    });
    await call(daemon, "POST", "/memory/query", { query: `what of the ${gone[0]}?` });
    const patch = { content: "Now another text", tags: [], project: null };
    expect((await call(daemon, "PATCH", `/memory/${changed}`, patch)).status).toBe(200);
    expect((await call(daemon, "DELETE", `/memory/${changed}/history`)).status).toBe(200);

    // Some is in the tables, some in the journal; keys of requests are stored as hashes only.
    const before = await readEveryByte(dataDir);
    const unfound = [...gone, ...kept].filter((text) => placesOf(text, before).length === 0);
    expect(unfound.length).toBe(5);

    for (const id of memories) await remove(`/memory/${id}`);
    await remove(`/api/temporal/fact/${fact.id}?erase=true`);
    await remove(`/documents/${ingested.document.id}`);
    const { code, stdout, stderr } = await compactNow();
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const report = JSON.parse(stdout);
    expect(report.originals.files).toBe(1);
    expect(report.tables.find(({ table }: { table: string }) => table === "memories").rows).toBeGreaterThan(
      5,
    );

    await noneLeft(gone, kept);
    const ids = [...memories, user, fact.id, ingested.document.id, ...ingested.memory_ids];
    const after = await readEveryByte(dataDir);
    // What is kept of a repeatable request, and of a job, names what it made for a day.
    const places = ids
      .flatMap((id: string) => placesOf(id, after))
      .filter((place) => !/requests|jobs/.test(place));
    expect(places).toEqual([]);
    if (process.platform === "linux") expect(await deletedFilesHeldOpen(daemon.pid)).toEqual([]);
    expect(await daemon.stop()).toBe(0);
    await noneLeft(gone, kept);
  });

  it("starts the daemon where none runs, and erases what a crash had left aside", async () => {
    daemon = await startDaemonProcess(dataDir);
    const gone = [marker(), marker()];
    const kept = marker();
    const first = await add({ content: `goes ${gone[0]}` });
    await add({ content: `stays ${kept}` });
    const second = await add({ content: `goes too ${gone[1]}` });
    await remove(`/memory/${first}`);
    await remove(`/memory/${second}`);
    await daemon.kill();
    const before = await readEveryByte(dataDir);
    for (const text of gone) expect(placesOf(text, before).length).toBeGreaterThan(0);
    const { code, stdout } = await compactNow();
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ originals: { files: 0 } });
    expect((await runCli(["stop", "--data-dir", dataDir], { home: dataDir })).code).toBe(0);
    await noneLeft(gone, [kept]);
  });

  it("is done once for two who ask at the same time, and answers both", async () => {
    daemon = await startDaemonProcess(dataDir);
    const gone = marker();
    const id = await add({ content: `goes ${gone}` });
    await remove(`/memory/${id}`);
    const answers = await Promise.all([compactNow(), compactNow(), compactNow()]);
    expect(answers.map(({ code }) => code)).toEqual([0, 0, 0]);
    await noneLeft([gone], []);
  });
});

describe(`a daemon that is killed ${KILLS} times while it compacts ${MANY} memories`, () => {
  it("has everything that was answered, and goes on", async () => {
    await fillStore({ directory: dataDir, count: MANY, stamp: MINILM.stamp });
    const gone: string[] = [];
    const kept = new Map<string, string>();
    let count = MANY;
    for (let round = 0; round < KILLS; round += 1) {
      daemon = await startDaemonProcess(dataDir, { MEMORYD_CHECKPOINT_BYTES: "65536" });
      expect((await call(daemon, "GET", "/stats")).body.memory_count).toBe(count);
      for (const [id, text] of kept)
        expect((await call(daemon, "GET", `/memory/${id}`)).body.content).toContain(text);
      const text = marker();
      const doomed = await add({ content: `goes ${text}` });
      await remove(`/memory/${doomed}`);
      gone.push(text);
      void call(daemon, "POST", "/compact").catch(() => undefined);
      const until = Date.now() + Math.random() * LATEST_KILL_MS;
      while (Date.now() < until) {
        const staying = marker();
        kept.set(await add({ content: `stays ${staying}` }), staying);
        count += 1;
      }
      await daemon.kill();
    }
    daemon = await startDaemonProcess(dataDir);
    const { code, stderr } = await compactNow();
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    await noneLeft(gone, [...kept.values()]);
    expect((await call(daemon, "GET", "/stats")).body).toMatchObject({
      memory_count: count,
      store: { unerased: 0 },
    });
  });
});

it("erases by itself, in a quiet moment", async () => {
  daemon = await startDaemonProcess(dataDir, { MEMORYD_COMPACT_AFTER_MINUTES: "1" });
  const gone = marker();
  await remove(`/memory/${await add({ content: `goes ${gone}` })}`);
  const deadline = Date.now() + 150_000;
  while ((await call(daemon, "GET", "/compact")).body.last === undefined) {
    expect(Date.now()).toBeLessThan(deadline);
    await sleep(1_000);
  }
  await noneLeft([gone], []);
}, 200_000);

async function noneLeft(gone: readonly string[], kept: readonly string[]): Promise<void> {
  const found = await readEveryByte(dataDir);
  expect(gone.flatMap((text) => placesOf(text, found))).toEqual([]);
  expect(kept.filter((text) => placesOf(text, found).length === 0)).toEqual([]);
  expect(found.unseen).toEqual([]);
}

async function deletedFilesHeldOpen(pid: number): Promise<string[]> {
  const folder = `/proc/${pid}/fd`;
  const targets = await Promise.all(
    (await readdir(folder)).map((name) => readlink(join(folder, name)).catch(() => "")),
  );
  return targets.filter((target) => target.startsWith(dataDir) && target.endsWith("(deleted)"));
}
