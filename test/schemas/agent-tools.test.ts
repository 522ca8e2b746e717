/** What the tools cost an agent before it has asked anything. */
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { expect, it } from "vitest";
import { advertisedTool, AGENT_INSTRUCTIONS, chosenTools } from "../../src/schemas/agent-tools.ts";
import { EXTRA_TOOLS, readExtraTools } from "../../src/schemas/text-rules.ts";

/** By o200k, the tokenizer of a family of language models; another one, cl100k, counts fewer. */
const tokensOf = countTokens;

it("defines the default tools in 1 400 tokens, and says when to use them in 150", () => {
  const tools = chosenTools({ extra: [], readOnly: false }).map(advertisedTool);
  expect(tools.map(({ name }) => name)).toEqual([
    "memory_search",
    "memory_list",
    "memory_get",
    "memory_add",
    "memory_update",
    "memory_delete",
    "fact_record",
    "fact_end",
    "fact_lookup",
  ]);
  expect(tokensOf(JSON.stringify(tools))).toBeLessThanOrEqual(1_400);
  expect(tokensOf(AGENT_INSTRUCTIONS)).toBeLessThanOrEqual(150);
});

it("describes every parameter of every tool in a line", () => {
  const extra = Object.keys(EXTRA_TOOLS) as (keyof typeof EXTRA_TOOLS)[];
  for (const { name, inputSchema } of chosenTools({ extra, readOnly: false }).map(advertisedTool)) {
    const { properties } = inputSchema as unknown as { properties: Record<string, { description?: string }> };
    for (const [parameter, { description = "" }] of Object.entries(properties))
      expect([name, parameter, description]).toEqual([name, parameter, expect.stringMatching(/^.{3,60}$/)]);
  }
});

it("sets every hint of every tool", () => {
  const extra = Object.keys(EXTRA_TOOLS) as (keyof typeof EXTRA_TOOLS)[];
  for (const { annotations } of chosenTools({ extra, readOnly: false }).map(advertisedTool)) {
    // The protocol looks at the two others only where something changes.
    const hints = annotations.readOnlyHint ? 2 : 4;
    expect(Object.values(annotations).map((hint) => typeof hint)).toEqual(Array(hints).fill("boolean"));
  }
  expect(advertisedTool("memory_delete").annotations).toMatchObject({ destructiveHint: true });
  expect(advertisedTool("ingest_url").annotations.openWorldHint).toBe(true);
});

it("offers nothing that changes anything where only reading is allowed", () => {
  expect(chosenTools({ extra: ["list", "ingest_url", "reinforce"], readOnly: true })).toEqual([
    "memory_search",
    "memory_list",
    "memory_get",
    "fact_lookup",
  ]);
});

it("shows schemas without what an agent need not know", () => {
  const shown = JSON.stringify(advertisedTool("memory_search"));
  expect(shown).not.toMatch(/pattern|null|examples|"~|x-/);
});

it("reads a list of further tools, and names the one that is none", () => {
  expect(readExtraTools(" list, timeline,")).toEqual({ extra: ["list", "timeline"] });
  expect(readExtraTools("memory_list,fact_timeline,memory_search")).toEqual({ extra: ["list", "timeline"] });
  expect(readExtraTools("list,ingest")).toEqual({ unknown: "ingest" });
  expect(readExtraTools("constructor")).toEqual({ unknown: "constructor" });
});
