import { describe, expect, it } from "vitest";
import { Compile } from "typebox/compile";
import { SECTORS } from "../../src/core/memory.ts";
import { SECTOR_NAMES, SectorName, Tags, UserId } from "../../src/schemas/fields.ts";
import { nullable, optional } from "../../src/schemas/shapes.ts";

describe("the wire's sectors", () => {
  it("are the core's", () => {
    expect(SECTOR_NAMES).toEqual(SECTORS);
  });
});

describe("nullable", () => {
  it("adds null to what a schema takes, and nothing else", () => {
    const sector = Compile(nullable(SectorName));
    expect([null, "episodic", "other", 5].map((value) => sector.Check(value))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    const tags = Compile(optional(Tags));
    expect([null, ["a"], [""], [null], "a"].map((value) => tags.Check(value))).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});

describe("UserId", () => {
  const userId = Compile(UserId);

  it.each([
    "a",
    "ada",
    "ada lovelace",
    "...",
    ".a",
    "..a",
    "a..",
    ". ",
    "\u2028",
    "a/b",
    "Ünï",
    "😀".repeat(256),
    "a".repeat(256),
  ])("takes %j", (id) => {
    expect(userId.Check(id)).toBe(true);
  });

  it.each([
    "",
    ".",
    "..",
    "a\nb",
    "a\tb",
    "a\u0000",
    "\u007f",
    "\u0085",
    "\ud800",
    "a".repeat(257),
    "😀".repeat(257),
  ])("refuses %j", (id) => {
    expect(userId.Check(id)).toBe(false);
  });
});
