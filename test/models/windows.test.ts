import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutWindow, MAX_WINDOW_TEXT, WINDOW, type Unit } from "../../src/models/windows.ts";

const SIZES = { pieces: 8, overlap: 3, rest: 10 };

/** Units of white-space-separated runs, a piece each. */
function unitsOf(text: string): Unit[] {
  return Array.from(text.matchAll(/\S+/g), ({ index, 0: run }) => ({
    start: index,
    end: index + run.length,
    pieces: [{ id: 1_000, word: run, isWord: true }],
  }));
}

/** All windows of a text, as texts. */
function windowsOf(text: string, sliceLength = MAX_WINDOW_TEXT, sizes = SIZES): string[] {
  const windows: string[] = [];
  for (let start = 0; start < text.length;) {
    const slice = text.slice(start, start + sliceLength);
    const window = cutWindow(slice, unitsOf(slice), start + slice.length === text.length, sizes);
    if (window.units.length > 0) windows.push(slice.slice(window.units[0]?.start, window.end).trim());
    expect(window.next).toBeGreaterThan(0);
    start += window.next;
  }
  return windows;
}

describe("cutWindow", () => {
  it("takes a text that is not much too long whole", () => {
    expect(windowsOf("a b c d e f g h i j")).toEqual(["a b c d e f g h i j"]);
  });

  it("cuts at the words, each window beginning before the end of the last", () => {
    expect(windowsOf("a b c d e f g h i j k l m n o p q")).toEqual([
      "a b c d e f g h",
      "f g h i j k l m n o".slice(0, 15),
      "k l m n o p q",
    ]);
  });

  it("prefers the end of a sentence, and to begin with one", () => {
    expect(windowsOf("a b c d. e f. g h i j k l")).toEqual(["a b c d. e f.", "e f. g h i j k l"]);
  });

  it("takes the end of a line for the end of a sentence", () => {
    expect(windowsOf("a b c d e f\ng h i j k l")).toEqual(["a b c d e f", "d e f\ng h i j k l"]);
  });

  it("crosses white space that is longer than a window's text", () => {
    expect(windowsOf(`a${" ".repeat(500)}b`, 64)).toEqual(["a", "b"]);
  });

  it("leaves out no word and goes on to the end, wherever the text is sliced", () => {
    const word = fc.stringMatching(/^[a-z]{1,9}[.?]?$/);
    const space = fc.constantFrom(" ", "\n", "   ", "\n\n");
    const text = fc.array(fc.tuple(word, space), { maxLength: 80 }).map((pairs) => pairs.flat().join(""));
    fc.assert(
      fc.property(text, fc.integer({ min: 40, max: 200 }), (content, sliceLength) => {
        const numbered = content
          .split(/(\s+)/)
          .map((part, i) => (/\S/.test(part) ? `${i}${part}` : part))
          .join("");
        const windows = windowsOf(numbered, sliceLength);
        const seen = new Set(windows.flatMap((window) => window.split(/\s+/)));
        expect([...seen]).toEqual(numbered.split(/\s+/).filter(Boolean));
      }),
    );
  });

  it("never takes more pieces than the model can read", () => {
    expect(WINDOW.rest).toBeLessThanOrEqual(510);
    expect(WINDOW.pieces).toBeLessThanOrEqual(WINDOW.rest);
  });
});
