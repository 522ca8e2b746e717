import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutSegments } from "../../../src/models/whisper/transcribe-recording.ts";
import { at, TINY, TOKENS } from "./tiny-vocabulary.ts";

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
