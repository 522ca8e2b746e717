/** No regular expression of the program takes long, whatever text it is given. */
import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { createContext, runInContext, Script } from "node:vm";
import { parseSync } from "oxc-parser";
import { describe, expect, it, vi } from "vitest";
import { PATTERN_MEANINGS } from "../../src/schemas/text-rules.ts";
import type * as Languages from "../../src/core/text/languages.ts";
import type { Language } from "../../src/core/text/languages.ts";
import type * as TimeShared from "../../src/core/text/time-shared.ts";
import type * as TimeGrammar from "../../src/core/text/time-grammar.ts";
import { readLanguages } from "../../src/files/read-languages.ts";
import { hostileTexts, type HostileText } from "../support/hostile-texts.ts";

const SRC = resolve(import.meta.dirname, "../../src");
/** Of what grows as the square and takes 100 ms for the whole length. What is linear takes less. */
const SCREENING = { chars: 20_000, ms: 1 };
const CHARS = 200_000;
/** Below it nothing is judged; above it by how the time grows from a quarter of the length: as the square is 16 times. */
const FLOOR_MS = 100;
const MAX_GROWTH = 9;
/** A text must be found slow as often: other work of the machine makes a single measurement long. */
const CONFIRMATIONS = 3;
/** Ten times as long as anything linear takes, for slow machines. */
const MOST_MS = 1_000;
/** A run is stopped after as long, and begun again with twice the time where it got little of the processor. */
const PATIENCE_MS = 1_000;

interface Expression {
  /** Length of the longest text that it is given, where that is less than `CHARS`. */
  readonly chars?: number;
  readonly source: string;
  readonly flags: string;
  readonly where: string;
}

const files = (readdirSync(SRC, { recursive: true }) as string[])
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => path.endsWith(".ts"));

/** Literals as they stand; files that build expressions, whose expressions are noted while they are loaded. */
const readSources = once((): { readonly literals: Expression[]; readonly builders: string[] } => {
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
      if (callee?.name === "RegExp" || callee?.name === "expression") builders.add(path);
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
});

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

const LANGUAGES = readLanguages();
/** How files come to build expressions that they build when they are needed. */
const BUILT_ON_FIRST_USE: Readonly<Record<string, (module: Record<string, unknown>) => void>> = {
  "core/text/time-shared.ts": ({ anchorOf }) => {
    for (const words of LANGUAGES.flatMap(({ time }) => time ?? []))
      (anchorOf as typeof TimeShared.anchorOf)(words);
  },
  "core/text/time-grammar.ts": ({ grammarOf }) => {
    for (const words of LANGUAGES.flatMap(({ time }) => time ?? [])) {
      const { rules, joining } = (grammarOf as typeof TimeGrammar.grammarOf)(words);
      joining();
      rules.forEach(({ pattern }) => pattern());
    }
  },
};
/** The words of languages, which no text is given before other files make whole expressions of them, and how the rules of those files make them. */
const MAKES_PARTS = new Set([
  "core/text/expression.ts",
  "core/text/languages.ts",
  "core/text/time-periods.ts",
]);
/** Length of the longest text that the expressions which a file builds are given, where it is limited: of questions, of one sentence, of the beginning of a note. */
const LONGEST_TEXT: Readonly<Record<string, number>> = {
  "core/text/time-shared.ts": 1_000,
  "core/text/time-grammar.ts": 1_000,
  "core/text/statement-words.ts": 1_000,
  "core/text/change-words.ts": 4_000,
};

/** What files make of the languages, they make when they are loaded. */
async function builtAtOnce(load: () => Promise<typeof Languages>) {
  const real = await load();
  real.useLanguages(() => LANGUAGES);
  const fromLanguages = <T>(make: (languages: readonly Language[]) => T) => {
    const made = make(real.languages());
    return () => made;
  };
  return { ...real, fromLanguages };
}

/** What files build when they are loaded. Those of schemas are built from patterns, which are read above. */
async function built(builders: readonly string[]): Promise<Expression[]> {
  const found: Expression[] = [];
  const Native = globalThis.RegExp;
  for (const where of builders.filter((path) => !path.startsWith("schemas/") && !MAKES_PARTS.has(path))) {
    globalThis.RegExp = new Proxy(Native, {
      construct(target, [source, flags]: [string, string | undefined]) {
        const chars = LONGEST_TEXT[where];
        found.push({ source, flags: flags ?? "", where, ...(chars === undefined ? {} : { chars }) });
        return new target(source, flags);
      },
    });
    vi.resetModules();
    vi.doMock("../../src/core/text/languages.ts", builtAtOnce);
    try {
      const module = (await import(/* @vite-ignore */ `../../src/${where}`)) as Record<string, unknown>;
      BUILT_ON_FIRST_USE[where]?.(module);
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
  return expressions.flatMap(({ source, flags, where, chars = CHARS }) => {
    const texts = hostileTexts(source, flags);
    const { screen, processorTime } = runner(source, flags, texts, chars);
    for (let at = screen(0); at < texts.length; at = screen(at + 1)) {
      const text = texts[at] as HostileText;
      if (isSlow((part) => processorTime(text, part * chars)))
        return [`${where}: /${source}/${flags} over ${JSON.stringify(Object.values(text))}`];
    }
    return [];
  });
}

/** @param time of a part of the longest text. */
function isSlow(time: (part: number) => number): boolean {
  for (let round = 0; round < CONFIRMATIONS; round += 1) {
    const full = time(1);
    if (full > MOST_MS) return true;
    if (full <= FLOOR_MS || full <= MAX_GROWTH * time(1 / 4)) return false;
  }
  return true;
}

interface Runner {
  /** The first text from a place on over which the expression may take too long; as many as there are for none. */
  readonly screen: (from: number) => number;
  /** Over a text of that length, ms: that of the machine's other work does not count. Infinite above `MOST_MS`. */
  readonly processorTime: (text: HostileText, chars: number) => number;
}

function runner(source: string, flags: string, hostile: readonly HostileText[], chars: number): Runner {
  const sandbox = createContext({
    source,
    flags,
    at: 0,
    now: () => performance.now(),
    limit: SCREENING.ms,
    texts: [] as string[],
  });
  const use = flags.includes("g")
    ? "texts[at].replaceAll(expression, '')"
    : "expression.lastIndex = 0; expression.exec(texts[at])";
  runInContext("var expression = new RegExp(source, flags)", sandbox);
  // Twice: the first time may have been long for the machine's other work, or for compiling the expression.
  const screening = new Script(
    `for (; at < texts.length; at += 1) {
      const took = () => { const before = now(); ${use}; return now() - before; };
      if (took() > limit && took() > limit) break;
    }`,
  );
  const full = new Script(use);
  let screened: string[] | undefined;
  const repeated = ({ prefix, pump, suffix }: HostileText, chars: number) =>
    prefix + pump.repeat(Math.ceil(chars / pump.length)).slice(0, chars) + suffix;
  /** False where it was stopped. */
  const run = (script: Script, timeout: number): boolean => {
    try {
      script.runInContext(sandbox, { timeout });
      return true;
    } catch {
      return false;
    }
  };
  return {
    // All in one run, because a time limit costs as much as an expression. On a busy machine some are too many.
    screen(from) {
      screened ??= hostile.map((text) => repeated(text, Math.min(chars, SCREENING.chars)));
      sandbox["texts"] = screened;
      sandbox["at"] = from;
      run(screening, PATIENCE_MS);
      return sandbox["at"] as number;
    },
    processorTime(text, chars) {
      sandbox["texts"] = [repeated(text, chars)];
      sandbox["at"] = 0;
      for (let timeout = PATIENCE_MS; ; timeout *= 2) {
        const before = process.cpuUsage();
        const isDone = run(full, timeout);
        const { user, system } = process.cpuUsage(before);
        const taken = (user + system) / 1_000;
        if (isDone) return taken;
        if (taken > MOST_MS) return Number.POSITIVE_INFINITY;
      }
    },
  };
}

describe("regular expressions", () => {
  it("are all found", () => {
    const { literals, builders } = readSources();
    expect(literals.length).toBeGreaterThan(300);
    expect(literals).toContainEqual(expect.objectContaining({ where: "core/text/find-secret.ts" }));
    expect(builders).toEqual(expect.arrayContaining(["core/text/analyser.ts", "schemas/text-rules.ts"]));
    expect(builders).toEqual(expect.arrayContaining(Object.keys(BUILT_ON_FIRST_USE)));
  });

  it("that backtrack are noticed", () => {
    const bad = [String.raw`\s+$`, String.raw`xox-(?=[\w-]*\d)[\w-]{10,}`, String.raw`<(?:a.{0,9}?b\s*)*>`];
    const good = [String.raw`(?<!\s)\s+$`, String.raw`^(?:a|b)*x`];
    const slow = slowOnes([...bad, ...good].map((source) => ({ source, flags: "", where: source })));
    expect(slow.map((each) => each.split(": ")[0])).toEqual(bad);
  }, 300_000);

  it("take time that grows with the length, also over 200 000 characters", async () => {
    const { literals, builders } = readSources();
    const all = [...literals, ...(await built(builders))];
    const distinct = new Map(all.map((each) => [`/${each.source}/${each.flags}`, each]));
    expect(slowOnes([...distinct.values()]).join("\n")).toBe("");
  }, 300_000);
});
