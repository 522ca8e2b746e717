import { lstat, readdir, readFile } from "node:fs/promises";
import { basename, extname, join, relative, sep } from "node:path";
import { readFrontMatter } from "../../files/front-matter.ts";
import { type ImportItem, type Progress, faulty, skipped } from "./import-item.ts";
import { MAX_NOTE_BYTES } from "./text-lines.ts";

const EXTENSIONS = new Set([".md", ".markdown"]);

/** The Markdown files of a folder, or one file: one memory a note. Links and hidden folders are passed over. */
export async function* readNotes(root: string, progress: Progress): AsyncGenerator<ImportItem> {
  const isFolder = (await lstat(root)).isDirectory();
  const paths = isFolder ? await findNotes(root) : [root];
  progress.total = paths.length;
  for (const path of paths) {
    const where = isFolder ? relative(root, path).split(sep).join("/") : basename(path);
    yield await readNote(path, where);
    progress.done += 1;
  }
}

/** Sorted, so that every run finds them in one order. */
async function findNotes(root: string): Promise<string[]> {
  const found: string[] = [];
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile() && EXTENSIONS.has(extname(entry.name).toLowerCase())) found.push(path);
    }
  }
  return found.sort((a, b) => (a < b ? -1 : 1));
}

async function readNote(path: string, where: string): Promise<ImportItem> {
  const { size } = await lstat(path);
  if (size > MAX_NOTE_BYTES)
    return faulty(where, `is larger than ${MAX_NOTE_BYTES} bytes; use \`memoryd ingest\``);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(await readFile(path));
  } catch {
    return faulty(where, "is not UTF-8");
  }
  const name = basename(path, extname(path));
  const note = readFrontMatter(text, name);
  if ("fault" in note) return faulty(where, note.fault);
  const { title = name, tags, date, others } = note;
  const body = note.body.trim();
  if (body === "") return skipped(where, "empty notes");
  return {
    kind: "memory",
    where,
    body: {
      // A note is found by its title too, which most do not repeat.
      content: body.includes(title) ? body : `${title}\n\n${body}`,
      tags,
      ...(date !== undefined && { occurred_at: date }),
      metadata: { ...others, source: "markdown", title, path: where },
    },
  };
}
