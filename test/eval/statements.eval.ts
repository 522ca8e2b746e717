/**
 * How well the sentences that last are told from the others, and by kind: over sentences that the rules were tuned on,
 * and over others, of other people and domains, that were written before the rules saw them.
 *
 *   npx vitest run --project eval statements
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { statementKind } from "../../src/core/text/statement-words.ts";

/** Lines of a kind, or `-` for what nobody needs later, a tab, and the sentence. */
function figuresOf(name: string): Readonly<Record<"n" | "precision" | "recall" | "kindPrecision", number>> {
  const rows = readFileSync(join(import.meta.dirname, name), "utf8")
    .trim()
    .split("\n")
    .map((line) => {
      const [kind = "", sentence = ""] = line.split("\t");
      return { kind, told: statementKind(sentence)?.kind ?? "-" };
    });
  const kept = rows.filter(({ told }) => told !== "-");
  const right = kept.filter(({ kind }) => kind !== "-").length;
  return {
    n: rows.length,
    precision: right / kept.length,
    recall: right / rows.filter(({ kind }) => kind !== "-").length,
    kindPrecision: kept.filter(({ kind, told }) => kind === told).length / kept.length,
  };
}

it.each(["statements-tuned.txt", "statements-judged.txt"])("%s", (name) => {
  const figures = figuresOf(name);
  console.log(name, figures);
  expect(figures.precision).toBeGreaterThanOrEqual(0.85);
  expect(figures.recall).toBeGreaterThanOrEqual(0.7);
});
