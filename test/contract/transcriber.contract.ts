import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { millisecondsOf, type Pcm, type Transcriber } from "../../src/core/documents/audio-decoder.ts";
import { pieces, silence } from "../support/pcm.ts";

/** As much as may be taken in before it has been heard: two windows of the model. */
const MAX_AHEAD_MS = 60_000;

/**
 * Every Transcriber passes these tests: the real one, and the fake that other tests rely on. `speech` is at least a
 * second of it, in English.
 */
export function transcriberContract(name: string, open: () => Transcriber, readSpeech: () => Int16Array) {
  describe(`${name} keeps the Transcriber contract`, () => {
    let transcriber: Transcriber;
    let speech: Int16Array;
    beforeAll(() => {
      transcriber = open();
      speech = readSpeech();
    });
    afterAll(() => transcriber.close());
    const durationMs = () => millisecondsOf(speech.length);

    it("gives segments in the order of time, within the recording, and tells how far it is", async () => {
      const heard: number[] = [];
      const transcript = await transcriber.transcribe(pieces(speech), {
        language: "EN-gb",
        onProgress: (ms) => heard.push(ms),
      });
      expect(transcript).toMatchObject({ language: "en", durationMs: durationMs() });
      expect(transcript.segments.length).toBeGreaterThan(0);
      let last = 0;
      for (const { startMs, endMs, text } of transcript.segments) {
        expect(startMs).toBeGreaterThanOrEqual(last);
        expect(endMs).toBeGreaterThan(startMs);
        expect(text).toMatch(/^\S(.*\S)?$/);
        last = endMs;
      }
      expect(last).toBeLessThanOrEqual(transcript.durationMs);
      expect(heard).toEqual(heard.toSorted((a, b) => a - b));
      expect(heard.at(-1)).toBe(durationMs());
    });

    it("hears the same in pieces of any size, again and again", async () => {
      const whole = await transcriber.transcribe(pieces(speech, speech.length));
      expect(await transcriber.transcribe(pieces(speech, 999))).toEqual(whole);
    });

    it("lists the languages it knows for one it does not", async () => {
      await expect(transcriber.transcribe(pieces(speech), { language: "klingon" })).rejects.toMatchObject({
        code: "UNPROCESSABLE",
        message: expect.stringMatching(/klingon.*\ben\b.*\bfr\b/) as string,
      });
    });

    it.each([
      ["nothing", silence(0)],
      ["a moment", silence(0.01)],
      ["a minute of silence", silence(60)],
    ])("finds no speech in %s", async (_, samples) => {
      await expect(transcriber.transcribe(pieces(samples))).rejects.toMatchObject({ code: "UNPROCESSABLE" });
    });

    it("hears one at a time, in the order of asking", async () => {
      const events: string[] = [];
      const transcribe = async (label: string) => {
        await transcriber.transcribe(told(pieces(speech), () => events.push(`${label} begins`)));
        events.push(`${label} ends`);
      };
      await Promise.all(["a", "b"].map(transcribe));
      expect(events).toEqual(["a begins", "a ends", "b begins", "b ends"]);
    });

    it("takes no more than it can hear soon, and stops when aborted, though its source is endless", async () => {
      const controller = new AbortController();
      const reason = new Error("changed my mind");
      let taken = 0;
      let isClosed = false;
      let mostAhead = 0;
      let heard = 0;
      async function* endless(): Pcm {
        try {
          for (;;) {
            taken += durationMs();
            mostAhead = Math.max(mostAhead, taken - heard);
            yield speech;
          }
        } finally {
          isClosed = true;
        }
      }
      const onProgress = (ms: number) => {
        heard = ms;
        controller.abort(reason);
      };
      await expect(
        transcriber.transcribe(endless(), { language: "en", signal: controller.signal, onProgress }),
      ).rejects.toBe(reason);
      expect(mostAhead).toBeLessThan(MAX_AHEAD_MS + durationMs());
      await expect.poll(() => isClosed).toBe(true);
    });

    it("leaves a source that gives nothing when aborted", async () => {
      const controller = new AbortController();
      const stuck = {
        [Symbol.asyncIterator]: () => ({
          next: () => {
            setTimeout(() => controller.abort(new Error("enough")), 10);
            return new Promise<never>(() => undefined);
          },
        }),
      };
      await expect(transcriber.transcribe(stuck, { signal: controller.signal })).rejects.toThrow("enough");
    });

    it("does not begin what is aborted before its turn", async () => {
      let begun = 0;
      const audio = () => told(pieces(speech), () => (begun += 1));
      const signal = AbortSignal.abort(new Error("never mind"));
      await expect(transcriber.transcribe(audio(), { signal })).rejects.toThrow("never mind");

      const controller = new AbortController();
      const first = transcriber.transcribe(pieces(speech));
      const second = transcriber.transcribe(audio(), { signal: controller.signal });
      controller.abort(new Error("not needed"));
      await expect(second).rejects.toThrow("not needed");
      expect(begun).toBe(0);
      expect(await first).toMatchObject({ language: "en" });
    });

    it("passes the source's own error on, and goes on with the next", async () => {
      const broken = new Error("no more of it");
      async function* failing(): Pcm {
        yield speech;
        throw broken;
      }
      await expect(transcriber.transcribe(failing())).rejects.toBe(broken);
      expect(await transcriber.transcribe(pieces(speech))).toMatchObject({ language: "en" });
    });

    it("refuses what runs, what waits and what comes later once closed", async () => {
      const closed = open();
      const calls = [closed.transcribe(pieces(speech)), closed.transcribe(pieces(speech))];
      const outcomes = Promise.allSettled(calls);
      await closed.close();
      await closed.close();
      const later = await Promise.allSettled([closed.transcribe(pieces(speech))]);
      for (const outcome of [...(await outcomes), ...later]) {
        expect(outcome).toMatchObject({ status: "rejected", reason: { code: "NOT_READY" } });
      }
    });
  });
}

/** The same audio; `tell` is called when its first piece is asked for. */
async function* told(audio: Pcm, tell: () => void): Pcm {
  tell();
  yield* audio;
}
