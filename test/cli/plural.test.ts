import { expect, it } from "vitest";
import { plural } from "../../src/cli/plural.ts";

it("counts one of a thing as one", () => {
  expect([0, 1, 2].map((count) => plural(count, "fact"))).toEqual(["0 facts", "1 fact", "2 facts"]);
  expect(plural(1, "memory", "memories")).toBe("1 memory");
  expect(plural(12, "memory", "memories")).toBe("12 memories");
});
