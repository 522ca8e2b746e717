import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { tenseOf } from "../../../src/core/recall/tense.ts";
import { useLanguages } from "../../../src/core/text/languages.ts";
import { timeOfQuestion } from "../../../src/core/text/time-expressions.ts";
import { readLanguages } from "../../../src/files/read-languages.ts";

const NOW = Date.UTC(2026, 10, 21, 15);

/** The ranges of a class of letters, which compile in no time. */
const RANGES = /(?:0-9)?A-Za-z[^\]]*?\u{3ffff}/gu;

/** The regular expressions that are made, without ranges. */
let sources: string[];

/** As at the start of a process: nothing is made of the languages yet. */
beforeEach(() => {
  const fresh = readLanguages();
  useLanguages(() => fresh);
  sources = [];
  const construct = (Native: RegExpConstructor, [source, flags]: [string, string | undefined]) => {
    sources.push(source.replaceAll(RANGES, ""));
    return new Native(source, flags);
  };
  vi.stubGlobal("RegExp", new Proxy(RegExp, { construct }));
});

afterEach(() => vi.unstubAllGlobals());

/** To compile 100 000 characters of them takes .1 s and more. */
it.each([
  ["without a time", "on which port does the server listen?", 40_000],
  ["of a year", "what was new in 2025?", 110_000],
  ["of a week", "what did I do last week?", 100_000],
])("compiles little for the first question %s", (_, question, most) => {
  timeOfQuestion(question, NOW);
  tenseOf(question);
  expect(sources.join("").length).toBeLessThan(most);
});
