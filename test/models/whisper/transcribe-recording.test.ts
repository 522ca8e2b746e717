import { describe, expect, it } from "vitest";
import type { Pcm } from "../../../src/core/documents/audio-decoder.ts";
import {
  type TranscribedPart,
  transcribeRecording,
  type Whisper,
  cutSegments,
} from "../../../src/models/whisper/transcribe-recording.ts";
import { join, pieces, silence, tone } from "../../support/pcm.ts";
import { at, TINY, TOKENS } from "./tiny-vocabulary.ts";
import fc from "fast-check";

/** What a scripted model writes for a window, at one temperature after another; it is as sure as it is told to be. */
interface Script {
  readonly writes: readonly (readonly number[])[];
  readonly noSpeech?: number;
  readonly sure?: number;
  readonly language?: string;
}

/** A model that writes what the script of the window says. */
function scripted(scripts: readonly Script[]) {
  const windows: number[] = [];
  const languages: number[] = [];
  const whisper: Whisper = {
    vocabulary: TINY,
    async encode(sound) {
      const script = scripts[windows.length] ?? { writes: [[]] };
      windows.push(sound.findLastIndex((sample) => sample !== 0) + 1);
      let attempt = -1;
      let written: number[] = [];
      return {
        restart() {
          attempt += 1;
          written = [];
        },
        async read(tokens) {
          const scores = new Float32Array(TOKENS).fill(-30);
          if (tokens.includes(TINY.start)) {
            scores[TINY.noSpeech] = Math.log((script.noSpeech ?? 0.01) / (1 - (script.noSpeech ?? 0.01)));
            scores[TINY.languages.get(script.language ?? "en") ?? 0] = 0;
            return scores;
          }
          if (tokens.includes(TINY.transcribe)) languages.push(tokens[0] ?? 0);
          else written = [...written, ...tokens];
          const line = script.writes[Math.min(attempt, script.writes.length - 1)] ?? [];
          const next = line[written.length] ?? TINY.endOfText;
          scores[next] = script.sure ?? 20;
          return scores;
        },
      };
    },
  };
  return { whisper, windows, languages };
}

async function hear(scripts: readonly Script[], audio: Pcm, language?: string) {
  const { whisper, windows, languages } = scripted(scripts);
  const parts: TranscribedPart[] = [];
  for await (const part of transcribeRecording(whisper, audio, language)) parts.push(part);
  return {
    parts,
    windows,
    languages,
    segments: parts.flatMap(({ segments }) => segments),
    last: parts.at(-1),
  };
}

const line = [at(0), 0, 1, 2, 3, at(4)];

describe("transcribeRecording", () => {
  it("places what is said in the recording", async () => {
    const { segments, last, windows } = await hear([{ writes: [line] }], pieces(tone(5)));
    expect(segments).toEqual([{ startMs: 0, endMs: 4_000, text: "the boiler leaks." }]);
    expect(last).toMatchObject({ transcribedMs: 5_000, language: "en" });
    expect(windows).toHaveLength(1);
  });

  it("goes on where the last text ended", async () => {
    const first = [at(0), 0, 1, at(20), at(20)];
    const { segments, parts } = await hear(
      [{ writes: [first] }, { writes: [line] }, { writes: [line] }],
      pieces(tone(55), 777),
    );
    expect(segments.map(({ startMs }) => startMs)).toEqual([0, 20_000, 50_000]);
    expect(parts.map(({ transcribedMs }) => transcribedMs)).toEqual([20_000, 50_000, 55_000, 55_000]);
  });

  it("skips silence without asking the model, but for a moment before what is loud", async () => {
    const { segments, windows, last } = await hear(
      [{ writes: [line] }],
      pieces(join(silence(100), tone(5), silence(100))),
    );
    expect(windows).toHaveLength(1);
    expect(segments).toMatchObject([{ startMs: 99_800, endMs: 103_800 }]);
    expect(last?.transcribedMs).toBe(205_000);
  });

  it("drops what is said to be where nothing is to be heard", async () => {
    const writes = [[at(0), 0, 1, at(2), at(8), 4, at(9)]];
    const { segments } = await hear([{ writes }], pieces(join(tone(3), silence(10), tone(1))));
    expect(segments.map(({ text }) => text)).toEqual(["the boiler"]);
  });

  it("lets the first window with speech settle the language", async () => {
    const { languages, last } = await hear(
      [
        { writes: [line], noSpeech: 0.9, sure: -30, language: "en" },
        { writes: [line], language: "de" },
        { writes: [line], language: "en" },
      ],
      pieces(tone(85)),
    );
    expect(languages).toEqual([12, 13, 13]);
    expect(last?.language).toBe("de");
  });

  it("takes a given language for granted", async () => {
    const { languages } = await hear([{ writes: [line], language: "en" }], pieces(tone(5)), "de");
    expect(languages).toEqual([13]);
  });

  it("tries again when the text repeats itself, and gives up a window that only repeats", async () => {
    const loop = [at(0), ...Array.from({ length: 40 }, () => 1)];
    const healed = await hear([{ writes: [loop, line] }], pieces(tone(5)));
    expect(healed.segments).toMatchObject([{ text: "the boiler leaks." }]);
    const { segments, last } = await hear([{ writes: [loop] }], pieces(tone(5)));
    expect(segments).toEqual([]);
    expect(last).toMatchObject({ transcribedMs: 5_000, language: undefined });
  });

  it("takes a short phrase for nothing where the model doubts that anybody speaks", async () => {
    const writes = [[at(0), 0, at(1)]];
    expect((await hear([{ writes, noSpeech: 0.9 }], pieces(tone(5)))).segments).toEqual([]);
    expect((await hear([{ writes, noSpeech: 0.1 }], pieces(tone(5)))).segments).toHaveLength(1);
  });

  it("ends a recording of nothing", async () => {
    const { parts, windows } = await hear([], pieces(silence(0)));
    expect(windows).toEqual([]);
    expect(parts).toMatchObject([{ transcribedMs: 0, segments: [] }]);
  });
});

describe("cut segments", () => {
  const seconds = (count: number) => count * 16_000;
  const cut = (tokens: readonly number[], length = 30) => cutSegments(tokens, seconds(length), TINY);

  describe("cutSegments", () => {
    it("cuts at the times, and goes on where something has begun that does not end", () => {
      expect(cut([at(0), 0, 1, at(2), at(2.5), 2, 3, at(4), at(4.5)])).toEqual({
        segments: [
          { from: 0, to: seconds(2), text: "the boiler" },
          { from: seconds(2.5), to: seconds(4), text: "leaks." },
        ],
        next: seconds(4.5),
      });
    });

    it("goes on after the window when it ends with what was said", () => {
      expect(cut([at(0), 0, 1, at(2)]).next).toBe(seconds(30));
      expect(cut([at(0)]).next).toBe(seconds(30));
      expect(cut([]).next).toBe(seconds(30));
    });

    it("takes text without a closing time to the end", () => {
      expect(cut([at(1), 0, 1], 12)).toEqual({
        segments: [{ from: seconds(1), to: seconds(12), text: "the boiler" }],
        next: seconds(12),
      });
    });

    it("gives text from just after the sound to what was before, and drops text from long after", () => {
      const { segments } = cut([at(0), 1, at(4.5), at(5.5), 2, at(6), at(9), 4, at(11)], 5);
      expect(segments).toEqual([{ from: 0, to: seconds(4.5), text: "boiler leaks" }]);
    });

    it("gives any tokens segments in order within the window, and moves on", () => {
      const token = fc.oneof(
        fc.integer({ min: 0, max: 8 }),
        fc.integer({ min: TINY.firstTime, max: TOKENS - 1 }),
      );
      fc.assert(
        fc.property(
          fc.array(token, { maxLength: 60 }),
          fc.integer({ min: 1_600, max: 480_000 }),
          (tokens, length) => {
            const { segments, next } = cutSegments(tokens, length, TINY);
            let last = 0;
            for (const { from, to, text } of segments) {
              expect(from).toBeGreaterThanOrEqual(last);
              expect(to).toBeGreaterThan(from);
              expect(text).toMatch(/^\S(.*\S)?$/);
              last = to;
            }
            expect(last).toBeLessThanOrEqual(length);
            expect(next).toBeGreaterThan(0);
            expect(next).toBeLessThanOrEqual(length);
          },
        ),
      );
    });
  });
});
