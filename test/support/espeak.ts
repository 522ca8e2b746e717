import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PCM_RATE } from "../../src/core/documents/audio-decoder.ts";
import { readWav } from "./wav.ts";

/** Whether espeak-ng, which reads texts aloud, is installed: tests that need it are skipped where it is not. */
export const hasEspeak = spawnSync("espeak-ng", ["--version"]).status === 0;
if (!hasEspeak) console.warn("espeak-ng is not installed: tests that need speech of its making are skipped");

/** The text read aloud, at 150 words a minute. */
export function speak(text: string, voice = "en-gb"): Int16Array {
  const folder = mkdtempSync(join(tmpdir(), "memoryd-speech-"));
  try {
    const file = join(folder, "speech.wav");
    const { status, stderr } = spawnSync("espeak-ng", ["-v", voice, "-s", "150", "-w", file, "--stdin"], {
      input: text,
    });
    if (status !== 0) throw new Error(`espeak-ng failed: ${stderr.toString()}`);
    const { samples, rate } = readWav(readFileSync(file));
    return resample(samples, rate);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** By straight lines between samples: what is lost above 8 kHz is no speech of espeak's. */
function resample(samples: Int16Array, rate: number): Int16Array {
  const step = rate / PCM_RATE;
  return Int16Array.from({ length: Math.floor(samples.length / step) }, (_, i) => {
    const at = Math.floor(i * step);
    const share = i * step - at;
    const [here = 0, next = here] = samples.subarray(at, at + 2);
    return Math.round(here + (next - here) * share);
  });
}
