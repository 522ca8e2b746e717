import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutSpeech } from "../../../src/core/documents/cut-speech.ts";
import type { Block } from "../../../src/core/documents/extraction.ts";

const spoken = (text: string, startS: number, endS: number): Block => ({
  type: "paragraph",
  text,
  startMs: startS * 1_000,
  endMs: endS * 1_000,
});

describe("cutSpeech", () => {
  it("joins sentences that follow on each other, three at most, and begins anew at a pause", () => {
    expect(
      cutSpeech([
        spoken("One is here.", 0, 2),
        spoken("Two is here.", 2, 4),
        spoken("Three is here.", 4, 6),
        spoken("Four is here.", 6, 8),
        spoken("Five comes late.", 10, 12),
      ]),
    ).toEqual([
      { content: "One is here. Two is here. Three is here.", startMs: 0, endMs: 6_000 },
      { content: "Four is here.", startMs: 6_000, endMs: 8_000 },
      { content: "Five comes late.", startMs: 10_000, endMs: 12_000 },
    ]);
  });

  it("ends a chunk of two sentences at a breath, one of one not", () => {
    const sentences = [spoken("A b.", 0, 1), spoken("C d.", 1.5, 2), spoken("E f.", 2.5, 3)];
    expect(cutSpeech(sentences).map(({ content }) => content)).toEqual(["A b. C d.", "E f."]);
  });

  it("joins segments into sentences, and takes the time of an end within a segment from its share", () => {
    expect(
      cutSpeech([
        spoken("The lighthouse of", 0, 4),
        spoken("Varnholm fell. Nobody", 4, 6),
        spoken("saw it.", 9, 10),
      ]).map(({ content, startMs }) => [content, startMs]),
    ).toEqual([
      ["The lighthouse of Varnholm fell. Nobody", 0],
      ["saw it.", 9_000],
    ]);
    const [, second] = cutSpeech([spoken(`${"a".repeat(49)}. ${"b".repeat(49)}.`, 0, 100)]);
    expect(second).toMatchObject({ startMs: 50_000, endMs: 100_000 });
  });

  it("puts no space between characters of a script without", () => {
    expect(cutSpeech([spoken("今日は", 0, 1), spoken("いい天気です。", 1, 2)])[0]?.content).toBe(
      "今日はいい天気です。",
    );
  });

  it("keeps every word once, in order, in chunks of a minute at most whose starts do not fall", () => {
    const segment = fc.record({
      words: fc.array(fc.stringMatching(/^[a-z]{1,8}[.]?$/), { minLength: 1, maxLength: 400 }),
      pauseMs: fc.integer({ min: 0, max: 5_000 }),
      lengthMs: fc.integer({ min: 1, max: 400_000 }),
    });
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 8 }), (segments) => {
        let at = 0;
        const blocks = segments.map(({ words, pauseMs, lengthMs }): Block => {
          const startMs = at + pauseMs;
          at = startMs + lengthMs;
          return { type: "paragraph", text: words.join(" "), startMs, endMs: at };
        });
        const chunks = cutSpeech(blocks);
        const all = segments.flatMap(({ words }) => words);
        expect(chunks.flatMap(({ content }) => content.split(" "))).toEqual(all);
        const starts = chunks.map(({ startMs }) => startMs);
        expect(starts).toEqual(starts.toSorted((a, b) => a - b));
        for (const { startMs, endMs } of chunks) {
          expect(endMs).toBeGreaterThanOrEqual(startMs);
          expect(endMs - startMs).toBeLessThanOrEqual(60_000);
          expect(endMs).toBeLessThanOrEqual(at);
        }
      }),
    );
  });
});
