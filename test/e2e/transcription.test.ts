/** The bundled speech model at work: the contract, and that it makes nothing up. */
import { existsSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openTranscriber, type WhisperTranscriber } from "../../src/models/whisper/whisper-transcriber.ts";
import { transcriberContract } from "../contract/transcriber.contract.ts";
import { hasEspeak, speak } from "../support/espeak.ts";
import { chords, drums, hum, join, noise, pieces, silence, tone } from "../support/pcm.ts";
import { readWav } from "../support/wav.ts";

/** Eleven seconds of a president, public domain; not shipped. */
const SPEECH = process.env["MEMORYD_SPEECH"] ?? "../shared/data/speech/inaugural-1961.wav";
const hasSpeech = existsSync(SPEECH);
if (!hasSpeech) console.warn(`${SPEECH} is not there: tests with real speech are skipped`);

if (hasEspeak) {
  transcriberContract("openTranscriber", openTranscriber, () => speak("The boiler was serviced on Monday."));
}

describe("the bundled model", () => {
  let transcriber: WhisperTranscriber;
  beforeAll(() => {
    transcriber = openTranscriber();
  });
  afterAll(() => transcriber.close());

  const heard = async (samples: Int16Array) => (await transcriber.transcribe(pieces(samples))).segments;

  it.each([
    ["faint noise", noise(30, 20)],
    ["noise", noise(40, 1_500)],
    ["loud noise", noise(30, 12_000)],
    ["mains hum", hum(30)],
    ["a tone", tone(30)],
    ["a short beep", join(silence(1), tone(0.3, 1_000), silence(3))],
    ["chords and a melody", chords(45)],
    ["drums", drums(35)],
  ])("hears nothing said in %s", async (_, samples) => {
    await expect(heard(samples)).rejects.toMatchObject({ code: "UNPROCESSABLE" });
  });

  it.skipIf(!hasSpeech)("hears real speech, when it was said, and its language", async () => {
    const { samples } = readWav(readFileSync(SPEECH));
    const { segments, language } = await transcriber.transcribe(pieces(samples));
    expect(language).toBe("en");
    const text = segments.map((segment) => segment.text).join(" ");
    expect(text).toMatch(/ask not what your country can do for you,? ask what you can do for your country/i);
    const last = segments.find((segment) => /ask what you can do/i.test(segment.text));
    expect(last?.startMs).toBeGreaterThan(6_000);
    expect(last?.startMs).toBeLessThan(9_500);
  });

  it.skipIf(!hasEspeak)("invents nothing around speech, and finds it at its time", async () => {
    const said = speak("The boiler was serviced on Monday.");
    const segments = await heard(join(silence(50), said, silence(70), said, noise(50, 300)));
    expect(segments.map(({ text }) => text).join(" ")).toMatch(/^[^.]*boiler[^.]*\. ?[^.]*boiler[^.]*\.?$/i);
    const starts = segments.filter(({ text }) => /boiler/i.test(text)).map(({ startMs }) => startMs / 1_000);
    const second = 120 + said.length / 16_000;
    expect(Math.abs((starts[0] ?? 0) - 50)).toBeLessThan(2);
    expect(Math.abs((starts[1] ?? 0) - second)).toBeLessThan(2);
  });
});
