import { expect, it } from "vitest";
import { checkVersions } from "../../../src/cli/installed-program.ts";

function check(own: string, daemon: string): string {
  let said = "fine";
  try {
    checkVersions(own, daemon, (text) => (said = `warned: ${text}`));
  } catch (error) {
    said = (error as Error).message;
  }
  return said;
}

it("says which of two versions to upgrade", () => {
  expect(check("0.2.0", "0.2.0")).toBe("fine");
  expect(check("0.2.1", "0.2.0")).toMatch(/^warned: .*memoryd restart/);
  expect(check("0.3.0", "0.2.9")).toMatch(/^The daemon that runs is memoryd 0.2.9.*memoryd restart/);
  expect(check("0.2.0", "0.10.0")).toMatch(/upgrade the program that the agent starts/);
  expect(check("1.2.0", "1.9.0")).toMatch(/^warned/);
  expect(check("2.0.0", "1.9.0")).toMatch(/^The daemon/);
});
