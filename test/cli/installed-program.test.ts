import { describe, expect, it } from "vitest";
import { installedProgram, checkVersions } from "../../src/cli/installed-program.ts";

it.each([
  "/home/ada/.npm/_npx/3f2a/node_modules/memoryd/bin/memoryd.js",
  "C:\\Users\\ada\\AppData\\Local\\npm-cache\\_npx\\3f\\node_modules\\memoryd\\bin\\memoryd.js",
  "/home/ada/.cache/pnpm/dlx/x/node_modules/memoryd/bin/memoryd.js",
  "/tmp/bunx-1000-memoryd@latest/node_modules/memoryd/bin/memoryd.js",
])("refuses %s, and says what to do", (launcher) => {
  expect(() => installedProgram("memoryd service install", { node: "/node", launcher })).toThrow(
    /npm install --global memoryd.*`memoryd service install`/,
  );
});

it("names both paths of a program that stays", () => {
  const launcher = "/usr/lib/node_modules/memoryd/bin/memoryd.js";
  expect(installedProgram("x", { node: "/node", launcher })).toEqual({ node: "/node", launcher });
});

describe("check versions", () => {
  function check(own: string, daemon: string): string {
    try {
      checkVersions(own, daemon);
      return "fine";
    } catch (error) {
      return (error as Error).message;
    }
  }

  it("says which of two versions to upgrade", () => {
    expect(check("0.2.0", "0.2.0")).toBe("fine");
    expect(check("0.2.1", "0.2.0")).toBe("fine");
    expect(check("0.3.0", "0.2.9")).toMatch(/^The daemon that runs is memoryd 0.2.9.*memoryd restart/);
    expect(check("0.2.0", "0.10.0")).toMatch(/upgrade the program that the agent starts/);
    expect(check("1.2.0", "1.9.0")).toBe("fine");
    expect(check("2.0.0", "1.9.0")).toMatch(/^The daemon/);
  });
});
