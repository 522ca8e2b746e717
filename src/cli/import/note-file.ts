/** A memory of an export as a Markdown file, and back. */
import type { Static } from "typebox";
import type { MemoryLine } from "../../schemas/transfer.ts";

type Line = Static<typeof MemoryLine>;

const MAX_SLUG_CHARS = 40;

/**
 * The file of a memory, relative to the folder of the export: the same in every export while the memory begins alike
 * and keeps its day, no other's, and a name that every system takes.
 */
export function notePath(line: Pick<Line, "id" | "content" | "occurred_at" | "created_at">): string {
  const { id, content, occurred_at, created_at } = line;
  const day = String(occurred_at ?? created_at).slice(0, 10);
  const slug = content
    .slice(0, 200)
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_SLUG_CHARS)
    .replaceAll(/^-+|-+$/g, "");
  return `memories/${day.slice(0, 7)}/${day}${slug === "" ? "" : `-${slug}`}-${id}.md`;
}

/** Paths that `notePath` makes; an import of a folder reads no others. */
export const NOTE_PATH = /^memories\/\d{4}-\d{2}\/\d{4}-\d{2}-\d{2}-[a-z0-9-]{1,80}\.md$/;

/** Front matter of YAML, each value as JSON, which YAML takes; then the text exactly, and a line end. */
export function noteText({ content, ...fields }: Line): string {
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return `---\n${lines.join("\n")}\n---\n${content}\n`;
}

/** The inverse of `noteText`; undefined for what it did not write, such as a file that an editor has changed. */
export function parseNote(text: string): Record<string, unknown> | undefined {
  const end = text.indexOf("\n---\n");
  if (!text.startsWith("---\n") || end < 0 || !text.endsWith("\n")) return undefined;
  try {
    const fields = text
      .slice(4, end)
      .split("\n")
      .map((line): [string, unknown] => {
        const colon = line.indexOf(": ");
        return [line.slice(0, colon), JSON.parse(line.slice(colon + 2))];
      });
    return { ...Object.fromEntries(fields), content: text.slice(end + 5, -1) };
  } catch {
    return undefined;
  }
}
