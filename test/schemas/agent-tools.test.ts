/** What the tools cost an agent before it has asked anything. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { Tokenizer } from "@huggingface/tokenizers";
import { expect, it } from "vitest";
import { AGENT_INSTRUCTIONS } from "../../src/schemas/agent.ts";
import { advertisedTool, chosenTools } from "../../src/schemas/agent-tools.ts";
import { EXTRA_TOOLS, readExtraTools } from "../../src/schemas/extra-tools.ts";

const MODEL = resolve(import.meta.dirname, "../../data/models/all-MiniLM-L6-v2");

/** By the bundled WordPiece tokenizer, to which every brace and quote is a token: those of language models count fewer. */
function tokensOf(text: string): number {
  const [tokenizer, config] = ["tokenizer.json", "tokenizer_config.json"].map((name) =>
    JSON.parse(readFileSync(resolve(MODEL, name), "utf8")),
  );
  return new Tokenizer(tokenizer, config).encode(text, { add_special_tokens: false }).ids.length;
}

it("defines the default tools in 1 500 tokens, and says when to use them in 150", () => {
  const tools = chosenTools({ extra: [], readOnly: false }).map(advertisedTool);
  expect(tools.map(({ name }) => name)).toEqual([
    "memory_search",
    "memory_get",
    "memory_add",
    "memory_update",
    "memory_delete",
    "fact_record",
    "fact_lookup",
  ]);
  expect(tokensOf(JSON.stringify(tools))).toBeLessThanOrEqual(1_500);
  expect(tokensOf(AGENT_INSTRUCTIONS)).toBeLessThanOrEqual(150);
});

it("sets every hint of every tool", () => {
  const extra = Object.keys(EXTRA_TOOLS) as (keyof typeof EXTRA_TOOLS)[];
  for (const { annotations } of chosenTools({ extra, readOnly: false }).map(advertisedTool)) {
    expect(Object.values(annotations).map((hint) => typeof hint)).toEqual(Array(4).fill("boolean"));
  }
  expect(advertisedTool("memory_delete").annotations.destructiveHint).toBe(true);
  expect(advertisedTool("ingest_url").annotations.openWorldHint).toBe(true);
});

it("offers nothing that changes anything where only reading is allowed", () => {
  expect(chosenTools({ extra: ["list", "ingest_url", "reinforce"], readOnly: true })).toEqual([
    "memory_search",
    "memory_get",
    "fact_lookup",
    "memory_list",
  ]);
});

it("shows schemas without what an agent need not know", () => {
  const shown = JSON.stringify(advertisedTool("memory_search"));
  expect(shown).not.toMatch(/pattern|null|examples|"~|x-/);
});

it("reads a list of further tools, and names the one that is none", () => {
  expect(readExtraTools(" list, timeline,")).toEqual({ extra: ["list", "timeline"] });
  expect(readExtraTools("list,ingest")).toEqual({ unknown: "ingest" });
  expect(readExtraTools("constructor")).toEqual({ unknown: "constructor" });
});
