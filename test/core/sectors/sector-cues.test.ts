import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CUE_NAMES, CUE_TEXT_LENGTH, cuesOf } from "../../../src/core/sectors/sector-cues.ts";

const cue = (text: string, name: string) => cuesOf(text)?.[CUE_NAMES.indexOf(name)];

describe("cuesOf", () => {
  it("gives the share of the sentences that show a cue", () => {
    expect(cue("Press the button. The lamp is green. I waited.", "instruction")).toBeCloseTo(1 / 3);
  });

  it.each([
    ["Always rinse the rice first.", "instruction"],
    ["If the pump stops, call Arne.", "laterInstruction"],
    ["No deployments on Fridays.", "prohibition"],
    ["Step 1: export the contacts.", "numberedStep"],
    ["Invoices must be signed.", "obligation"],
    ["We missed the train.", "past"],
    ["They sang all night.", "past"],
    ["Signed on 14 May.", "month"],
    ["See you on Tuesday.", "weekday"],
    ["Dinner at 19:30.", "clock"],
    ["It rained last night.", "relativeTime"],
    ["I am so happy.", "feeling"],
    ["My heart sank.", "feelingInBody"],
    ["Ugh, again.", "interjection"],
    ["In hindsight it was obvious.", "hindsight"],
    ["I’ve learned to wait.", "reflection"],
    ["A mutex is a lock.", "isA"],
    ["Run `make` in src/core.", "code"],
    ["Alice: hello there.", "speaker"],
    ["WE SHOULD HAVE ASKED.", "hindsight"],
  ])("sees in %j: %s", (text, name) => {
    expect(cue(text, name)).toBe(1);
  });

  it.each([
    ["You may go.", "month"],
    ["We need a bed.", "past"],
    ["The light is on.", "instruction"],
    ["Alice: the door opened.", "articleFirst", 1],
  ])("is not misled by %j: %s", (text, name, value = 0) => {
    expect(cue(text, name)).toBe(value);
  });

  it("tells the opening clause from the rest", () => {
    expect(cue("The lamp is green, and I was glad.", "opening:feeling")).toBe(0);
    expect(cue("I was glad, the lamp is green.", "opening:feeling")).toBe(1);
  });

  it.each(["", " \n\t", "…", "👍👍", "---"])("says nothing of %j, which has no word", (text) => {
    expect(cuesOf(text)).toBeUndefined();
  });

  it.each([
    "Gestern habe ich mit der Bahn den letzten Zug nach Wien verpasst.",
    "Mañana por la mañana vamos al dentista con los niños.",
    "Il faut toujours fermer la porte avant de partir.",
    "昨日は友達と寿司を食べました。",
    "Вчера мы ездили на дачу.",
  ])("says nothing of %j, which is not English", (text) => {
    expect(cuesOf(text)).toBeUndefined();
  });

  it("gives every text as many cues, each in [0, 1]", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), (text) => {
        const cues = cuesOf(text) ?? new Float64Array(CUE_NAMES.length);
        expect(cues).toHaveLength(CUE_NAMES.length);
        expect(cues.every((value) => value >= 0 && value <= 1)).toBe(true);
      }),
    );
  });

  it("reads no further than its limit", () => {
    const start = "She laughed. ".repeat(CUE_TEXT_LENGTH / 10).slice(0, CUE_TEXT_LENGTH);
    expect(cuesOf(`${start} Press 1 and wait until Monday!`)).toEqual(cuesOf(start));
  });

  it("has no name twice", () => {
    expect(new Set(CUE_NAMES).size).toBe(CUE_NAMES.length);
  });
});
