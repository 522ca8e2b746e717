import { describe, expect, it } from "vitest";
import { BoundedLines } from "../../../src/cli/mcp/bounded-lines.ts";

async function pass(...chunks: string[]): Promise<{ passed: string; refused: string[] }> {
  const refused: string[] = [];
  const lines = new BoundedLines((why) => refused.push(why));
  let passed = "";
  lines.on("data", (chunk: Buffer) => (passed += chunk.toString()));
  const ended = new Promise((resolve) => lines.once("end", resolve));
  for (const chunk of chunks) lines.write(chunk);
  lines.end();
  await ended;
  return { passed, refused };
}

describe("the lines of an agent", () => {
  it("pass whole, however they arrive", async () => {
    expect(await pass('{"a":', '1}\n{"b":2}\n{"c', '":3}\n')).toEqual({
      passed: '{"a":1}\n{"b":2}\n{"c":3}\n',
      refused: [],
    });
  });

  it("are dropped where they are too large, too deep or have too many elements", async () => {
    const text = "x".repeat(1024 ** 2);
    const large = ['{"a":"', text, text, text, text, text, '"}\n'];
    const { passed, refused } = await pass(
      ...large,
      `${"[".repeat(90_000)}\n`,
      `[${"0,".repeat(90_000)}0]\n`,
      '{"ok":1}\n',
    );
    expect(passed).toBe('{"ok":1}\n');
    expect(refused).toEqual([
      expect.stringContaining("larger than 4194304 bytes"),
      expect.stringContaining("nested"),
      expect.stringContaining("elements"),
    ]);
  });
});
