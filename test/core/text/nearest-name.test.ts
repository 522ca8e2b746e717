import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nearestName } from "../../../src/core/text/near-words.ts";

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
