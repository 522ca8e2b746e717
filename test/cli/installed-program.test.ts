import { expect, it } from "vitest";
import { installedProgram } from "../../src/cli/installed-program.ts";

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
