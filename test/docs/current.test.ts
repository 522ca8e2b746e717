/** What the README and docs/ list, against the program. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { program } from "../../src/cli/main.ts";
import type { ErrorCode } from "../../src/core/errors.ts";
import { STATUS_BY_CODE } from "../../src/http/problem.ts";
import { generatedPages, ROOT } from "./generated-pages.ts";
import { listPages } from "./pages.ts";

const pages = listPages();
const textOf = (path: string): string => readFileSync(join(ROOT, path), "utf8");

it("docs/ has the routes, commands and settings of the program; else run `npm run docs`", async () => {
  for (const [path, { is, shouldBe }] of await generatedPages())
    expect({ path, text: is }).toEqual({ path, text: shouldBe });
});

/** Codes that no route answers: of a daemon that does not start. */
const NOT_ANSWERED: ReadonlySet<string> = new Set<ErrorCode>(["STORE_UNUSABLE"]);

it("docs/http-api.md has every error with its status", () => {
  const rows = Array.from(textOf("docs/http-api.md").matchAll(/^\| (\d{3}) +\| ([^|]+?) +\|/gm));
  const listed = rows.flatMap(([, status, codes = ""]) =>
    codes.split(", ").map((code) => `${status} ${code}`),
  );
  const expected = Object.entries(STATUS_BY_CODE)
    .filter(([code]) => !NOT_ANSWERED.has(code))
    .map(([code, status]) => `${status} \`${code}\``);
  expect(new Set(listed)).toEqual(new Set(expected));
});

it("README.md has at most 250 lines and names every page of docs/", () => {
  const readme = textOf("README.md");
  expect(readme.split("\n").length).toBeLessThanOrEqual(250);
  const named = new Set(Array.from(readme.matchAll(/\]\((docs\/[^)#]+)/g), ([, path]) => path));
  const others = pages.filter(({ path }) => /^docs\/[^/]+$/.test(path) && !named.has(path));
  expect(others.map(({ path }) => path)).toEqual([]);
});

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(text: string): Set<string> {
  const headings = text.matchAll(/^#+ (.+)$/gm);
  return new Set(
    Array.from(headings, ([, heading = ""]) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

const allOf = (command: Command): Command[] => [command, ...command.commands.flatMap(allOf)];
const FLAGS = new Set(allOf(program([])).flatMap(({ options }) => options.map(({ long }) => long ?? "")));
/** Of npm, and what commander adds. */
const FOREIGN_FLAGS: ReadonlySet<string> = new Set(["--ignore-scripts", "--help"]);

/** A page without its examples. */
const prose = (text: string): string => text.replace(/^```[^]*?^```$/gm, "");

/** What the command line does not have of a command, or "". */
function faultOf(words: string): string {
  let command = program([]);
  for (const word of words.replace(/"[^"]*"|[|;].*/g, "").split(/\s+/)) {
    const name = word.replace(/[=,.:)].*$/, "");
    const next = command.commands.find((each) => each.name() === name);
    if (next !== undefined) command = next;
    else if (/^--[a-z]/.test(name) && name !== "--help") {
      if (!command.options.some(({ long }) => long === name)) return `${command.name()} ${name}`;
    } else if (/^[a-z]+$/.test(name) && command.parent === null) return name;
  }
  return "";
}

describe.each([...pages, { path: "src/README.md", text: textOf("src/README.md") }])(
  "$path",
  ({ path, text }) => {
    it("links to pages and headings that are there", () => {
      const prose = text.replace(/^```[^]*?^```$/gm, "").replace(/`[^`\n]*`/g, "");
      const broken = Array.from(prose.matchAll(/\]\(([^)\s]+)\)/g), ([, link = ""]) => link)
        .filter((link) => !/^https?:/.test(link))
        .filter((link) => {
          const [file = "", anchor] = link.split("#");
          const target = file === "" ? path : join(dirname(path), file);
          if (!existsSync(join(ROOT, target))) return true;
          return anchor !== undefined && !anchorsOf(textOf(target)).has(anchor);
        });
      expect(broken).toEqual([]);
    });

    it("names commands and options that are there", () => {
      const typed = text.matchAll(/(?:`|\$ )memoryd ([^`\n]+)/g);
      expect(Array.from(typed, ([, words = ""]) => faultOf(words)).filter((fault) => fault !== "")).toEqual(
        [],
      );
    });

    it("names flags that are there", () => {
      const named = Array.from(prose(text).matchAll(/`(--[a-z][a-z-]+)/g), ([, flag = ""]) => flag);
      expect(named.filter((flag) => !FLAGS.has(flag) && !FOREIGN_FLAGS.has(flag))).toEqual([]);
    });

    it("names npm scripts that are there", () => {
      const { scripts } = JSON.parse(textOf("package.json")) as { scripts: object };
      const named = Array.from(text.matchAll(/npm run ([\w:]+)/g), ([, name]) => name);
      expect(Object.keys(scripts)).toEqual(expect.arrayContaining(named));
    });
  },
);
