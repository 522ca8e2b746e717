/** Against the built worker and the bundled model: run `npm run build` first. The contract is kept in test/e2e. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Pcm } from "../../../src/core/documents/audio-decoder.ts";
import { WHISPER_DIRECTORY } from "../../../src/models/whisper/whisper-model.ts";
import {
  openTranscriber,
  type TranscriberOptions,
  type WhisperTranscriber,
} from "../../../src/models/whisper/whisper-transcriber.ts";
import { pieces, silence, tone } from "../../support/pcm.ts";

/** A window of the model takes three seconds of a processor that has nothing else to do. */
const TIMEOUT_MS = 180_000;

let transcriber: WhisperTranscriber;
let folder = "";
beforeEach(() => {
  // The process of the model sees no folder below /dev.
  folder = mkdtempSync(join(process.env["MEMORYD_TEST_DISK"] ?? tmpdir(), "memoryd-whisper-"));
});
afterEach(async () => {
  await transcriber.close();
  rmSync(folder, { recursive: true });
});

function open(options?: TranscriberOptions) {
  transcriber = openTranscriber(options);
  return transcriber;
}

describe("openTranscriber", { timeout: TIMEOUT_MS }, () => {
  it("starts no process before there is work, and lets it go when there was none for a while", async () => {
    open({ idleTimeoutMs: 1 });
    expect(transcriber.pid).toBeUndefined();
    const hearing = transcriber.transcribe(pieces(silence(1)));
    hearing.catch(() => undefined);
    await expect.poll(() => transcriber.pid).toBeTypeOf("number");
    await expect(hearing).rejects.toMatchObject({ code: "UNPROCESSABLE" });
    await expect.poll(() => transcriber.pid).toBeUndefined();
  });

  it("keeps the process while there is work", async () => {
    open();
    await expect(transcriber.transcribe(pieces(silence(1)))).rejects.toMatchObject({ code: "UNPROCESSABLE" });
    const { pid } = transcriber;
    await expect(transcriber.transcribe(pieces(silence(1)), { language: "Danish" })).rejects.toMatchObject({
      message: expect.stringContaining("no speech") as string,
    });
    expect(transcriber.pid).toBe(pid);
  });

  it("outlives its process, however that ends", async () => {
    open();
    async function* deadly(): Pcm {
      yield tone(1);
      process.kill(transcriber.pid ?? 0, "SIGKILL");
      yield* pieces(silence(600));
    }
    await expect(transcriber.transcribe(deadly())).rejects.toMatchObject({
      code: "MODEL_UNAVAILABLE",
      message: expect.stringContaining("SIGKILL") as string,
    });
    await expect(transcriber.transcribe(pieces(silence(1)))).rejects.toMatchObject({ code: "UNPROCESSABLE" });
  });

  it.skipIf(process.platform === "win32")("ends the process within its bounds", async () => {
    open({ limits: { maxResidentBytes: 100_000_000 } });
    await expect(transcriber.transcribe(pieces(tone(1)))).rejects.toMatchObject({
      code: "MODEL_UNAVAILABLE",
      message: expect.stringContaining("100000000 bytes") as string,
    });
  });

  it("says what to do where a file of another model is missing or damaged, and tries again the next time", async () => {
    const modelDirectory = join(folder, "model");
    open({ modelDirectory });
    const failure = async () => {
      const error: unknown = await transcriber.transcribe(pieces(tone(1))).catch((cause: unknown) => cause);
      expect(error).toMatchObject({ code: "MODEL_UNAVAILABLE" });
      return (error as Error).message;
    };
    expect(await failure()).toMatch(/encoder\.onnx is missing.*--whisper-model-dir/);

    mkdirSync(modelDirectory);
    for (const name of ["encoder.onnx", "vocab.json"]) {
      copyFileSync(join(WHISPER_DIRECTORY, name), join(modelDirectory, name));
    }
    expect(await failure()).toContain("decoder.onnx is missing");

    copyFileSync(join(WHISPER_DIRECTORY, "decoder.onnx"), join(modelDirectory, "decoder.onnx"));
    truncateSync(join(modelDirectory, "decoder.onnx"), 1_000_000);
    expect(await failure()).toMatch(/cannot|failed|invalid|protobuf/i);

    writeFileSync(join(modelDirectory, "vocab.json"), "{}");
    expect(await failure()).toContain("no languages");
  });
});
