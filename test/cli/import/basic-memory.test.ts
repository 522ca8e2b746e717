import { describe, expect, it } from "vitest";
import { readLines } from "../../../src/cli/import/read-notes.ts";

const note = { where: "coffee.md", title: "Coffee", date: 5 };
const read = (...lines: string[]) => readLines(lines.join("\n"), note);
const bodies = (items: readonly object[]) => items.map((item) => ("body" in item ? item.body : item));

describe("observations", () => {
  it("are memories with their category and tags, and leave the note's text", () => {
    const { rest, observations } = read(
      "# Coffee",
      "## Observations",
      "- [method] Pour over takes four minutes #brewing #slow (measured)",
      "  * [tip] Coffee wants 94 °C",
    );
    expect(rest).toBe("# Coffee\n## Observations");
    const metadata = { source: "basic-memory", title: "Coffee", path: "coffee.md" };
    expect(bodies(observations)).toEqual([
      {
        content: "Coffee: Pour over takes four minutes #brewing #slow (measured)",
        tags: ["method", "brewing", "slow"],
        occurred_at: 5,
        metadata: { ...metadata, category: "method" },
      },
      {
        content: "Coffee wants 94 °C",
        tags: ["tip"],
        occurred_at: 5,
        metadata: { ...metadata, category: "tip" },
      },
    ]);
  });

  it("are no tasks, times, links or code", () => {
    const lines = [
      "- [ ] buy beans",
      "- [x] bought",
      "- [/] half done",
      "- [00:01:12] said so",
      "- [beans](https://example.org) are there",
      "- [[Beans]]",
      "[method] no list",
      "```",
      "- [method] in code",
      "```",
    ];
    const { rest, observations } = read(...lines);
    expect(rest).toBe(lines.join("\n"));
    expect(observations).toEqual([]);
  });
});

describe("relations", () => {
  it("are facts on the note's title, and stay in its text", () => {
    const lines = [
      "- pairs_with [[Chocolate]]",
      '- "grown in" [[Places/Ethiopia|Ethiopia]] (the best)',
      "- 'made by' [[Ada]]",
    ];
    const { rest, relations } = read(...lines);
    expect(rest).toBe(lines.join("\n"));
    expect(bodies(relations)).toMatchObject([
      { subject: "Coffee", predicate: "pairs_with", object: "Chocolate", valid_from: 5, cardinality: "many" },
      { subject: "Coffee", predicate: "grown in", object: "Places/Ethiopia" },
      { subject: "Coffee", predicate: "made by", object: "Ada" },
    ]);
  });

  it("are no sentences with a link in them", () => {
    const { relations } = read(
      "- as we saw [[Chocolate]]",
      "- see [[Ada]] for more",
      "- [[Chocolate]]",
      "a [[b]]",
    );
    expect(relations).toEqual([]);
  });
});
