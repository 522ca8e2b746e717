/** Whatever ends a daemon, in the middle of its work, leaves nothing running that it started. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { PCM_RATE } from "../../src/core/documents/audio-decoder.ts";
import { longPdf } from "../fixtures/documents/pdf-documents.ts";
import { call, type DaemonProcess, startDaemonProcess } from "../support/daemon-process.ts";
import { tone } from "../support/pcm.ts";
import { wavFile } from "../support/wav-file.ts";

const hasProc = process.platform === "linux";
if (!hasProc) console.warn("there is no /proc: the tests of what a daemon leaves running are skipped");
const hasFfmpeg = spawnSync("ffmpeg", ["-version"]).status === 0;
if (!hasFfmpeg) console.warn("ffmpeg is not installed: what it leaves running is not tested");

const RECORDING = wavFile([Float32Array.from(tone(1_200), (x) => x / 32_768)], { rate: PCM_RATE });
/** FFmpeg reads no plain WAV: that needs no decoder. */
const asFlac = () =>
  spawnSync("ffmpeg", ["-v", "error", "-i", "pipe:0", "-f", "flac", "pipe:1"], {
    input: RECORDING,
    maxBuffer: RECORDING.length,
  }).stdout;
/** They take some seconds to read. */
const PAGES = 1_000;

let pdf: Uint8Array;
let dataDir: string;
let daemon: DaemonProcess | undefined;
beforeAll(async () => {
  if (hasProc) pdf = await longPdf(PAGES);
});
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "memoryd-children-"));
});
afterEach(async () => {
  await daemon?.kill();
  rmSync(dataDir, { recursive: true, force: true });
});

interface Child {
  readonly pid: number;
  readonly startTime: string;
  readonly command: string;
}

/** Processes that live, by the pid of their parent. */
function processes(): ReadonlyMap<number, readonly Child[]> {
  const found = new Map<number, Child[]>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      const [state, parent, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (state === "Z" || state === "X") continue;
      const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ");
      const child = { pid: Number(name), startTime: rest[17] ?? "", command };
      found.set(Number(parent), [...(found.get(Number(parent)) ?? []), child]);
    } catch {
      // Gone in the meantime.
    }
  }
  return found;
}

/** Its children, and theirs. */
function below(pid: number, all = processes()): Child[] {
  return (all.get(pid) ?? []).flatMap((child) => [child, ...below(child.pid, all)]);
}

function isLiving({ pid, startTime }: Child): boolean {
  return Array.from(processes().values())
    .flat()
    .some((other) => other.pid === pid && other.startTime === startTime);
}

async function send({ baseUrl }: DaemonProcess, bytes: Uint8Array, filename: string): Promise<string> {
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(bytes)]), filename);
  form.set("language", "en");
  const headers = { prefer: "respond-async" };
  const response = await fetch(`${baseUrl}/ingest`, { method: "POST", body: form, headers });
  return ((await response.json()) as { readonly id: string }).id;
}

describe
  .skipIf(!hasProc)
  .each([
    ["the decoders that come with it", "off", /media-worker/],
    ...(hasFfmpeg ? [["the system's FFmpeg", "auto", /ffmpeg/] as const] : []),
  ] as const)("a daemon with %s", (_, setting, decoder) => {
  /** Its children, once a recording is heard and a document is read. */
  async function atWork(): Promise<readonly Child[]> {
    const started = await startDaemonProcess(dataDir, { MEMORYD_FFMPEG: setting });
    daemon = started;
    const recording =
      setting === "off"
        ? await send(started, RECORDING, "talk.wav")
        : await send(started, asFlac(), "talk.flac");
    const pages = await send(started, pdf, "pages.pdf");
    const stageOf = async (id: string) =>
      (await call(started, "GET", `/jobs/${id}`)).body.progress.stage as string;
    await expect.poll(() => stageOf(recording), { timeout: 30_000 }).toBe("transcribing");
    await expect.poll(() => stageOf(pages), { timeout: 30_000 }).toBe("extracting");
    const commands = () =>
      below(started.pid)
        .map(({ command }) => command)
        .join("\n");
    for (const name of [/whisper-worker/, /extraction-worker/, decoder]) {
      await expect.poll(commands, { timeout: 30_000 }).toMatch(name);
    }
    return below(started.pid);
  }

  it("that is stopped has ended them all when it ends", async () => {
    const children = await atWork();
    expect(await daemon?.stop()).toBe(0);
    expect(children.filter(isLiving)).toEqual([]);
  });

  it("that is killed leaves them to end by themselves", async () => {
    const children = await atWork();
    await daemon?.kill();
    await expect.poll(() => children.filter(isLiving), { timeout: 30_000 }).toEqual([]);
  });
});

it.skipIf(process.platform === "win32")("a daemon keeps its debugger shut", async () => {
  daemon = await startDaemonProcess(dataDir, { NODE_OPTIONS: "--inspect-port=0" });
  process.kill(daemon.pid, "SIGUSR1");
  for (let n = 0; n < 5; n += 1) expect((await call(daemon, "GET", "/livez")).status).toBe(200);
  expect(await daemon.stop()).toBe(0);
  expect(daemon.output()).not.toMatch(/debugger/i);
});
