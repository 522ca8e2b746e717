/** No regular expression of the program takes long, whatever text it is given. */
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { createContext, runInContext, Script } from "node:vm";
import { parseSync } from "oxc-parser";
import { describe, expect, it, vi } from "vitest";
import { PATTERN_MEANINGS } from "../src/schemas/text-rules.ts";
import { hostileTexts, type HostileText } from "./support/hostile-texts.ts";

const SRC = resolve(import.meta.dirname, "../src");
/** What is linear takes a tenth of it, also the first time, when it is compiled. */
const SCREENING = { chars: 4_000, ms: 2 };
/** As a second for 200 000 characters. What grows as the square takes more than twice as long. */
const FULL = { chars: 40_000, ms: 200 };
/** Only what never ends takes so long, even on a machine that is very busy. */
const PATIENCE_MS = 10_000;

interface Expression {
  readonly source: string;
  readonly flags: string;
  readonly where: string;
}

const files = (readdirSync(SRC, { recursive: true }) as string[])
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => path.endsWith(".ts"));

/** Literals as they stand; files that build expressions, whose expressions are noted while they are loaded. */
function readSources(): { readonly literals: Expression[]; readonly builders: string[] } {
  const literals: Expression[] = [];
  const builders = new Set<string>();
  for (const path of files) {
    const visit = (node: unknown): void => {
      if (typeof node !== "object" || node === null) return;
      const { type, regex, callee, key, value } = node as {
        type?: string;
        regex?: { pattern: string; flags: string };
        callee?: { name?: string };
        key?: { name?: string };
        value?: { type?: string; value?: unknown };
      };
      if (type === "Literal" && regex !== undefined && regex !== null)
        literals.push({ source: regex.pattern, flags: regex.flags, where: path });
      if (callee?.name === "RegExp") builders.add(path);
      // Of a schema.
      if (type === "Property" && key?.name === "pattern" && typeof value?.value === "string")
        literals.push({ source: value.value, flags: "u", where: path });
      for (const child of Object.values(node)) visit(child);
    };
    visit(parseSync(path, readFileSync(resolve(SRC, path), "utf8")).program);
  }
  for (const source of PATTERN_MEANINGS.keys())
    literals.push({ source, flags: "u", where: "schemas/text-rules.ts" });
  return { literals, builders: [...builders] };
}

/** What files build when they are loaded. Those of schemas are built from patterns, which are read above. */
async function built(builders: readonly string[]): Promise<Expression[]> {
  const found: Expression[] = [];
  const Native = globalThis.RegExp;
  for (const where of builders.filter((path) => !path.startsWith("schemas/"))) {
    globalThis.RegExp = new Proxy(Native, {
      construct(target, [source, flags]: [string, string | undefined]) {
        found.push({ source, flags: flags ?? "", where });
        return new target(source, flags);
      },
    });
    vi.resetModules();
    try {
      await import(/* @vite-ignore */ `../src/${where}`);
    } finally {
      globalThis.RegExp = Native;
    }
    if (!found.some((each) => each.where === where))
      throw new Error(`${where} builds none when it is loaded`);
  }
  return found;
}

/** The first text over which an expression takes too long, for each that has one. */
function slowOnes(expressions: readonly Expression[]): string[] {
  return expressions.flatMap(({ source, flags, where }) => {
    const run = runner(source, flags);
    const bad = hostileTexts(source, flags).find(
      (text) => run(text, SCREENING.chars) > SCREENING.ms && run(text, FULL.chars) > FULL.ms,
    );
    return bad === undefined
      ? []
      : [`${where}: /${source}/${flags} over ${JSON.stringify(Object.values(bad))}`];
  });
}

/** Processor time, ms: that of the machine's other work does not count. Infinite where it does not come to an end. */
function runner(source: string, flags: string): (text: HostileText, chars: number) => number {
  const sandbox = createContext({ source, flags, text: "" });
  runInContext("var expression = new RegExp(source, flags)", sandbox);
  const script = new Script(
    flags.includes("g")
      ? "text.replaceAll(expression, '')"
      : "expression.lastIndex = 0; expression.exec(text)",
  );
  return ({ prefix, pump, suffix }, chars) => {
    sandbox["text"] = prefix + pump.repeat(Math.ceil(chars / pump.length)).slice(0, chars) + suffix;
    const before = process.cpuUsage();
    try {
      script.runInContext(sandbox, { timeout: PATIENCE_MS });
    } catch {
      return Number.POSITIVE_INFINITY;
    }
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
}

describe("regular expressions", () => {
  it("are all found", () => {
    const { literals, builders } = readSources();
    expect(literals.length).toBeGreaterThan(300);
    expect(literals).toContainEqual(expect.objectContaining({ where: "mcp/find-secret.ts" }));
    expect(builders).toEqual(expect.arrayContaining(["core/text/analyser.ts", "schemas/text-rules.ts"]));
  });

  it("that backtrack are noticed", () => {
    const bad = [String.raw`\s+$`, String.raw`xox-(?=[\w-]*\d)[\w-]{10,}`, String.raw`<(?:a.{0,9}?b\s*)*>`];
    const good = [String.raw`(?<!\s)\s+$`, String.raw`^(?:a|b)*x`];
    const slow = slowOnes([...bad, ...good].map((source) => ({ source, flags: "", where: source })));
    expect(slow.map((each) => each.split(": ")[0])).toEqual(bad);
  });

  it("take no longer than a second of processor time over 200 000 characters", async () => {
    const { literals, builders } = readSources();
    const all = [...literals, ...(await built(builders))];
    const distinct = new Map(all.map((each) => [`/${each.source}/${each.flags}`, each]));
    expect(slowOnes([...distinct.values()])).toEqual([]);
  }, 300_000);
});
