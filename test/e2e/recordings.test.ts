/** Recordings through the daemon: found by what was said, within two seconds of when; stored once, whatever happens. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PCM_RATE } from "../../src/core/documents/audio-decoder.ts";
import { call, type DaemonProcess, startDaemonProcess } from "../support/daemon-process.ts";
import { hasEspeak, speak } from "../support/espeak.ts";
import { join as joinSound, silence } from "../support/pcm.ts";
import { wavFile } from "../support/wav-file.ts";

/** In seconds; between them others talk of other things. */
const KNOWN = [
  [45, "The boiler in the north tower was repaired on Monday.", "When was the boiler repaired?"],
  [140, "My sister sold the yellow bicycle to a baker.", "Who bought the yellow bicycle?"],
  [275, "The library will close for the winter holidays.", "When does the library close?"],
  [410, "Doctor Miller recommended more sleep and less coffee.", "What did the doctor recommend?"],
  [560, "The train to London leaves from platform seven.", "Where does the train to London leave?"],
] as const;
const FILLER = "We walked along the river. The weather was mild. Then we went home again.";
const FILLER_EVERY_S = 30;
const LENGTH_S = 600;
const TOLERANCE_S = 2;

let dataDir: string;
let daemon: DaemonProcess;
beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "memoryd-recordings-"));
  daemon = await startDaemonProcess(dataDir);
});
afterAll(async () => {
  await daemon?.kill();
  rmSync(dataDir, { recursive: true, force: true });
});

function wavOf(samples: Int16Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(wavFile([Float32Array.from(samples, (x) => x / 32_768)]));
}

function talk(): Int16Array {
  const sound = silence(LENGTH_S);
  const put = (second: number, samples: Int16Array) => sound.set(samples, second * PCM_RATE);
  const filler = speak(FILLER);
  for (let at = 0; at < LENGTH_S - 15; at += FILLER_EVERY_S) {
    if (KNOWN.every(([second]) => Math.abs(second - at) > 10)) put(at, filler);
  }
  for (const [second, text] of KNOWN) put(second, speak(text));
  return sound;
}

async function send(bytes: Uint8Array<ArrayBuffer>, filename: string, headers = {}): ReturnType<typeof call> {
  const form = new FormData();
  form.set("file", new Blob([bytes]), filename);
  form.set("language", "en");
  const response = await fetch(`${daemon.baseUrl}/ingest`, { method: "POST", body: form, headers });
  return { status: response.status, body: await response.json() };
}

async function ended(id: string) {
  for (;;) {
    const { body: job } = await call(daemon, "GET", `/jobs/${id}`);
    if (!["queued", "running"].includes(job.status)) return job;
    await sleep(200);
  }
}

/** Resolves when the job is in the middle of a recording. */
async function heardSome(id: string): Promise<void> {
  for (;;) {
    const { body: job } = await call(daemon, "GET", `/jobs/${id}`);
    if (job.progress.stage === "transcribing" && job.progress.done > 0) return;
    expect(["queued", "running"]).toContain(job.status);
    await sleep(50);
  }
}

describe.skipIf(!hasEspeak)("a talk of ten minutes", () => {
  it("is found by what was said, with the time", async () => {
    const { status, body } = await send(wavOf(talk()), "talk.wav", { prefer: "respond-async" });
    expect(status).toBe(202);
    const job = await ended(body.id);
    expect(job).toMatchObject({ status: "succeeded" });
    expect(job.result.extraction).toMatchObject({
      content_type: "audio",
      language: "en",
      duration_s: LENGTH_S,
    });
    for (const [second, , question] of KNOWN) {
      const { body: answer } = await call(daemon, "POST", "/memory/query", { query: question, k: 3 });
      // The root may stand before it: its summary is made of the same sentences.
      const chunk = answer.matches.find(
        (match: { source: { chunk_index: number } }) => match.source.chunk_index >= 0,
      );
      expect
        .soft(Math.abs(chunk.source.start_ms / 1_000 - second), `${question} ${chunk.content}`)
        .toBeLessThanOrEqual(TOLERANCE_S);
    }
  });

  it("that is cancelled ends and leaves nothing", async () => {
    const shifted = joinSound(silence(1), talk());
    const { body } = await send(wavOf(shifted), "again.wav", { prefer: "respond-async" });
    await heardSome(body.id);
    const { body: cancelled } = await call(daemon, "DELETE", `/jobs/${body.id}`);
    expect(cancelled.status).toBe("cancelled");
    expect((await call(daemon, "GET", "/documents")).body.total).toBe(1);
  });
});

describe.skipIf(!hasEspeak)("a recording in whose middle the daemon is killed", () => {
  it("is heard again from its beginning, and stored once", async () => {
    const start = talk().subarray(0, 75 * PCM_RATE);
    const form = { prefer: "respond-async" };
    const { body } = await send(wavOf(start), "start.wav", form);
    await heardSome(body.id);
    await daemon.kill();
    daemon = await startDaemonProcess(dataDir);
    // The same bytes are the same job, on its way or over.
    expect((await send(wavOf(start), "start.wav", form)).body.id).toBe(body.id);
    const job = await ended(body.id);
    expect(job).toMatchObject({ status: "succeeded", result: { deduplicated: false } });
    const { items } = (await call(daemon, "GET", "/memory/all?l=1000")).body;
    const own = items.filter((memory: Stored) => memory.source.document_id === job.result.document.id);
    expect(own.map(({ id }: Stored) => id).toSorted()).toEqual(job.result.memory_ids.toSorted());
    const places = own
      .map(({ source }: Stored) => source.chunk_index)
      .toSorted((a: number, b: number) => a - b);
    expect(places).toEqual(places.map((_: number, i: number) => i - 1));
    const stored = (await call(daemon, "GET", "/documents")).body.items;
    expect(stored.filter(({ filename }: { filename: string }) => filename === "start.wav")).toHaveLength(1);
  });
});

interface Stored {
  readonly id: string;
  readonly source: { readonly document_id: string; readonly chunk_index: number };
}

describe("what holds no speech", () => {
  it("of silence is 422, and nothing is stored", async () => {
    const before = (await call(daemon, "GET", "/documents")).body.total;
    const { status, body } = await send(wavOf(silence(5)), "silence.wav");
    expect(status).toBe(422);
    expect(body.detail).toMatch(/no speech/i);
    expect((await call(daemon, "GET", "/documents")).body.total).toBe(before);
  });

  it.each([
    ["nothing", new Uint8Array(), "a.wav", 422],
    ["a head alone", wavOf(silence(1)).slice(0, 44), "a.wav", 422],
    ["noise that is called MP3", new Uint8Array(5_000).map((_, i) => (i * 7_919) % 251), "a.mp3", 415],
    ["text that is called MP4", new TextEncoder().encode("Dear all, this is no film."), "a.mp4", 415],
  ])("of %s is refused", async (_, bytes, filename, expected) => {
    expect((await send(bytes, filename)).status).toBe(expected);
  });
});
