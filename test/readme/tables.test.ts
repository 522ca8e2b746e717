/** What the README lists, against the program. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { SETTINGS } from "../../src/config.ts";
import type { ErrorCode } from "../../src/core/errors.ts";
import { STATUS_BY_CODE } from "../../src/http/problem.ts";
import { createTestServer } from "../support/test-server.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const readme = readFileSync(resolve(ROOT, "README.md"), "utf8");

/** Defaults that depend on the machine, in words. */
const DEFAULTS: Readonly<Record<string, string>> = {
  dataDir: "the user's data folder, see below",
  embeddingWorkers: "cores less one, 1 to 4",
};

function defaultOf({ name, default: usual }: (typeof SETTINGS)[number]): string {
  const words = DEFAULTS[name];
  if (words !== undefined) return words;
  return usual === "" || (Array.isArray(usual) && usual.length === 0) ? "" : `\`${String(usual)}\``;
}

it("has the settings that the program has", () => {
  const rows = SETTINGS.map(
    (setting) =>
      `| \`${setting.flag}\` | \`${setting.variable}\` | ${defaultOf(setting)} | ${setting.description} |`,
  );
  expect(readme).toContain(
    ["| flag | variable | default | what |", "|---|---|---|---|", ...rows, ""].join("\n"),
  );
});

it("has the routes that the program describes, and no others", async () => {
  const answer = await createTestServer().get("/openapi.json");
  const { paths } = answer.json<{ paths: Record<string, object> }>();
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ":$1")}`),
  );
  const listed = Array.from(readme.matchAll(/^\| `([A-Z]+ \/[^`]*)`/gm), ([, call]) => call);
  expect(new Set(listed)).toEqual(new Set(described));
});

/** Codes that no route answers: of routes to come, and of a daemon that does not start. */
const NOT_ANSWERED: ReadonlySet<string> = new Set<ErrorCode>(["STORE_UNUSABLE"]);

it("has every error with its status", () => {
  const rows = Array.from(readme.matchAll(/^\| (\d{3}) \| ([^|]+) \|/gm));
  const listed = rows.flatMap(([, status, codes = ""]) =>
    codes.split(", ").map((code) => `${status} ${code}`),
  );
  const expected = Object.entries(STATUS_BY_CODE)
    .filter(([code]) => !NOT_ANSWERED.has(code))
    .map(([code, status]) => `${status} \`${code}\``);
  expect(new Set(listed)).toEqual(new Set(expected));
});

it("names npm scripts that are there", () => {
  const { scripts } = JSON.parse(readFileSync(resolve(ROOT, "package.json"), "utf8")) as { scripts: object };
  const named = Array.from(readme.matchAll(/npm run ([\w:]+)/g), ([, name]) => name);
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(named));
});
