import { describe, expect, it } from "vitest";
import fc from "fast-check";
import { letterBits, mayBeNear, nearness, nearestName } from "../../../src/core/text/near-words.ts";

describe("nearness", () => {
  it.each([
    ["dentist", "dentsit"],
    ["dentist", "dentis"],
    ["dentist", "dentiist"],
    ["dentist", "dantist"],
    ["orthodontist", "orthodentits"],
  ])("knows %s in %s", (word, slip) => {
    expect(nearness(slip, word)).toBeGreaterThan(0.7);
    expect(nearness(slip, word)).toBe(nearness(word, slip));
  });

  it("is 1 for the same, and 0 for other words, short ones and codes", () => {
    expect(nearness("dentist", "dentist")).toBe(1);
    for (const [a = "", b = ""] of [
      ["dentist", "artist"],
      ["cat", "car"],
      ["7719", "7718"],
      ["summer", "winter"],
      ["dentist", "dintest"],
    ])
      expect(nearness(a, b)).toBe(0);
  });

  it("is 0 where the letters are too different", () => {
    const word = fc.string({
      unit: fc.constantFrom("a", "b", "c", "d", "ö", "я"),
      minLength: 3,
      maxLength: 10,
    });
    fc.assert(
      fc.property(word, word, (a, b) => {
        fc.pre(!mayBeNear(a, letterBits(a), letterBits(b)));
        expect(nearness(a, b)).toBe(0);
      }),
    );
    expect(mayBeNear("dentist", letterBits("dentist"), letterBits("dantist"))).toBe(true);
    expect(mayBeNear("dentist", letterBits("dentist"), letterBits("garden"))).toBe(false);
  });
});

describe("nearest name", () => {
  const known = ["--host", "--port", "--data-dir", "--log-level", "--allowed-hosts"];

  describe("nearestName", () => {
    it.each([
      ["--prot", "--port"],
      ["--datadir", "--data-dir"],
      ["--DATA_DIR", "--data-dir"],
      ["--log-lvl", "--log-level"],
      ["--hosts", "--host"],
    ])("takes %s for %s", (name, meant) => {
      expect(nearestName(name, known)).toBe(meant);
    });

    it.each(["--colour", "--path", "", "--x"])("has no guess for %j", (name) => {
      expect(nearestName(name, known)).toBeUndefined();
    });

    it("knows every known name, and what is left of it without one letter", () => {
      fc.assert(
        fc.property(fc.constantFrom(...known), fc.nat(), (name, at) => {
          expect(nearestName(name, known)).toBe(name);
          const place = 2 + (at % (name.length - 2));
          expect(nearestName(name.slice(0, place) + name.slice(place + 1), known)).toBe(name);
        }),
      );
    });
  });
});
