/** Claude's memory tool (`memory_20250818`), `memoryd/claude-memory`: its files are memories, their edits versions. */
import type { BetaRunnableTool } from "@anthropic-ai/sdk/lib/tools/BetaRunnableTool";
import type * as beta from "@anthropic-ai/sdk/resources/beta";
import { createClient, type Memory, MemorydError } from "../client.ts";
import { sleep } from "../transport.ts";
import { framework, ifGone, isBlank, keptWith, type MemoryOwner, ownerOf, pathTag } from "./framework.ts";

const { betaMemoryTool } = await framework(
  import("@anthropic-ai/sdk/helpers/beta/memory"),
  "@anthropic-ai/sdk",
  "memoryd/claude-memory",
);

/** A file, and the memories that keep it; the first one counts. */
interface File {
  readonly path: string;
  readonly text: string;
  readonly kept: [Memory, ...Memory[]];
}

/** Models leave out `new_str` to remove a text. */
type Replacement = Omit<beta.BetaMemoryTool20250818StrReplaceCommand, "new_str"> & {
  readonly new_str?: string;
};

const TAG = "claude-memory";
const ROOT = "/memories";
const MAX_LINES = 999_999;
const NUMBER_WIDTH = 6;
const LEVELS_SHOWN = 2;
const LINES_AROUND_A_CHANGE = 2;
const LOOKS = 20;
const LOOK_PAUSE_MS = 50;

/**
 * The memory tool for a request of `@anthropic-ai/sdk`, or its `toolRunner`, which runs it; `run` answers one command.
 * Only files of that user and project exist for it. What goes wrong is thrown in the words of the tool's documentation.
 * @param properties such as `cache_control`
 */
export function claudeMemoryTool(
  options: MemoryOwner,
  properties?: Omit<beta.BetaMemoryTool20250818, "type" | "name">,
): BetaRunnableTool<beta.BetaMemoryTool20250818Command> {
  const { client = createClient({ clientName: "claude-memory" }) } = options;
  const owner = { user_id: options.userId };

  async function filesWith(tag: string): Promise<File[]> {
    const files = new Map<string, File>();
    for (const memory of await keptWith(client, options, tag)) {
      const { path } = marksOf(memory);
      if (typeof path !== "string") continue;
      const file = files.get(path);
      if (file !== undefined) file.kept.push(memory);
      else files.set(path, { path, text: textOf(memory), kept: [memory] });
    }
    return [...files.values()];
  }

  const tagOf = (path: string) => pathTag(TAG, path.slice(ROOT.length + 1).split("/"));
  const fileAt = async (path: string) =>
    (await filesWith(await tagOf(path))).find((file) => file.path === path);
  /** The file at a path, or all files below it. */
  const filesAt = async (path: string) =>
    (await filesWith(TAG)).filter((file) => file.path === path || isBelow(file.path, path));

  const bodyOf = async (path: string, text: string) => {
    const blank = isBlank(text);
    return {
      content: blank ? path : text,
      tags: [TAG, await tagOf(path)],
      metadata: { claude_memory: { path, ...(blank && { text }) } },
    };
  };

  async function existing(path: string): Promise<File> {
    const file = path === ROOT ? undefined : await fileAt(path);
    if (file === undefined) throw new Error(`The path ${path} does not exist. Please provide a valid path.`);
    return file;
  }

  /** Makes it the file's present state; the memory keeps its other tags and metadata, others of the path go to the trash. */
  async function change(
    { path: before, kept: [memory, ...others] }: File,
    path: string,
    text: string,
  ): Promise<File> {
    const { content, tags, metadata } = await bodyOf(path, text);
    const own = new Set([TAG, await tagOf(before)]);
    const body = {
      content,
      tags: [...tags, ...memory.tags.filter((tag) => !own.has(tag))],
      metadata: { ...memory.metadata, ...metadata },
    };
    const changed = await client.memories
      .update(memory.id, { ...body, ...owner }, { ifVersion: memory.version })
      .catch(changedMeanwhile(before));
    await remove(before, others);
    return { path, text, kept: [changed] };
  }

  async function remove(path: string, memories: readonly Pick<Memory, "id" | "version">[]): Promise<void> {
    for (const { id, version } of memories)
      await client.memories
        .delete(id, { ...owner, trash: true }, { ifVersion: version })
        .catch(changedMeanwhile(path))
        .catch(ifGone);
  }

  /** Lets one of the programs that put a file at one path at the same moment keep it, the first; the others take theirs back. */
  async function settle(
    path: string,
    { id }: Pick<Memory, "id">,
    taken: string,
    takeBack: () => Promise<unknown>,
  ): Promise<void> {
    for (let looks = 0; ; looks += 1) {
      const kept = (await fileAt(path))?.kept ?? [];
      if (kept.every((memory) => memory.id === id)) return;
      if (kept[0]?.id !== id || looks === LOOKS) {
        await takeBack();
        throw new Error(taken);
      }
      await sleep(LOOK_PAUSE_MS, undefined);
    }
  }

  async function refuseTaken(path: string, taken: string): Promise<void> {
    const files = await filesWith(TAG);
    if (path === ROOT || files.some((file) => file.path === path || isBelow(file.path, path)))
      throw new Error(taken);
    const parent = files.find((file) => isBelow(path, file.path));
    if (parent !== undefined) throw new Error(`The path ${parent.path} is a file, not a directory`);
  }

  return betaMemoryTool(
    {
      async view({ path: asked, view_range: range }) {
        const path = checkedPath(asked);
        const file = path === ROOT ? undefined : await fileAt(path);
        if (file !== undefined) return numbered(file, range);
        const files = await filesAt(path);
        if (files.length === 0 && path !== ROOT)
          throw new Error(`The path ${path} does not exist. Please provide a valid path.`);
        return listing(path, files);
      },
      async create({ path: asked, file_text: text }) {
        const path = checkedPath(asked);
        const taken = `File ${path} already exists`;
        await refuseTaken(path, taken);
        const added = await client.memories.add({ ...(await bodyOf(path, text)), ...ownerOf(options) });
        if (added.deduplicated) throw new Error(taken);
        await settle(path, added, taken, () => remove(path, [added]));
        return `File created successfully at: ${path}`;
      },
      async str_replace({ path: asked, old_str: before, new_str: after = "" }: Replacement) {
        const file = await existing(checkedPath(asked));
        const { path, text } = file;
        const places = placesOf(text, before);
        const [at] = places;
        if (at === undefined)
          throw new Error(
            `No replacement was performed, old_str \`${before}\` did not appear verbatim in ${path}.`,
          );
        if (places.length > 1)
          throw new Error(
            `No replacement was performed. Multiple occurrences of old_str \`${before}\` in lines: ${places.map((place) => lineAt(text, place)).join(", ")}. Please ensure it is unique`,
          );
        const now = text.slice(0, at) + after + text.slice(at + before.length);
        await change(file, path, now);
        const first = Math.max(1, lineAt(now, at) - LINES_AROUND_A_CHANGE);
        const last = lineAt(now, at + after.length) + LINES_AROUND_A_CHANGE;
        return `The memory file has been edited. Here is the snippet showing the change (with line numbers):\n${lines(now, first, last)}`;
      },
      async insert({ path: asked, insert_line: at, insert_text: added }) {
        const file = await existing(checkedPath(asked));
        const all = file.text.split("\n");
        if (!Number.isInteger(at) || at < 0 || at > all.length)
          throw new Error(
            `Invalid \`insert_line\` parameter: ${at}. It should be within the range of lines of the file: [0, ${all.length}]`,
          );
        await change(file, file.path, all.toSpliced(at, 0, added.replace(/\n$/, "")).join("\n"));
        return `The file ${file.path} has been edited.`;
      },
      async delete({ path: asked }) {
        const path = checkedPath(asked);
        if (path === ROOT) throw new Error(`Cannot delete the ${ROOT} directory itself`);
        const files = await filesAt(path);
        if (files.length === 0) throw new Error(`The path ${path} does not exist`);
        for (const { kept } of files) await remove(path, kept);
        return `Successfully deleted ${path}`;
      },
      async rename({ old_path: from, new_path: to }) {
        const [path, target] = [checkedPath(from), checkedPath(to)];
        if (path === ROOT) throw new Error(`Cannot rename the ${ROOT} directory itself`);
        const files = await filesAt(path);
        if (files.length === 0) throw new Error(`The path ${path} does not exist`);
        if (isBelow(target, path)) throw new Error(`Cannot rename ${path} to a path inside of itself`);
        const taken = `The destination ${target} already exists`;
        await refuseTaken(target, taken);
        for (const file of files) {
          const moved = await change(file, target + file.path.slice(path.length), file.text);
          await settle(moved.path, moved.kept[0], taken, () => change(moved, file.path, file.text));
        }
        return `Successfully renamed ${path} to ${target}`;
      },
    },
    properties,
  );
}

const isBelow = (path: string, folder: string): boolean => path.startsWith(`${folder}/`);

/** A path without empty parts. @throws {Error} where it is not below `/memories`. */
function checkedPath(path: string): string {
  const [start, root, ...parts] = path
    .split("/")
    .filter((part, i) => i === 0 || (part !== "" && part !== "."));
  if (start !== "" || `/${root}` !== ROOT) throw new Error(`Path must start with ${ROOT}, got: ${path}`);
  if (/[\\\p{Cc}\p{Cs}]/u.test(path) || parts.some((part) => /^(?:\.|%2e){2}$|%2f|%5c/i.test(part)))
    throw new Error(`Path ${path} would escape ${ROOT} directory`);
  return [ROOT, ...parts].join("/");
}

/** Undefined fields for a memory that only has the tag. */
const marksOf = ({ metadata }: Memory) =>
  (metadata["claude_memory"] ?? {}) as { readonly path?: string; readonly text?: string };

/** A blank text stands in the metadata, until somebody writes into the memory. */
function textOf(memory: Memory): string {
  const { path, text } = marksOf(memory);
  return text !== undefined && memory.content === path ? text : memory.content;
}

const changedMeanwhile = (path: string) => (error: unknown) => {
  if (error instanceof MemorydError && error.code === "VERSION_MISMATCH")
    throw new Error(`The file ${path} was changed by somebody else; view it again before you edit it.`, {
      cause: error,
    });
  throw error;
};

/** Where a part begins in a text, overlapping ones too. */
function placesOf(text: string, part: string): number[] {
  const places = [];
  for (let at = part === "" ? -1 : text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1))
    places.push(at);
  return places;
}

const lineAt = (text: string, place: number): number => text.slice(0, place).split("\n").length;

const lines = (text: string, first: number, last: number): string =>
  text
    .split("\n")
    .slice(first - 1, last)
    .map((line, i) => `${String(first + i).padStart(NUMBER_WIDTH)}\t${line}`)
    .join("\n");

function numbered({ path, text }: File, range: readonly number[] | undefined): string {
  const count = text.split("\n").length;
  if (count > MAX_LINES) throw new Error(`File ${path} exceeds maximum line limit of 999,999 lines.`);
  const [first = 1, last = -1] = range ?? [];
  return `Here's the content of ${path} with line numbers:\n${lines(text, Math.max(1, first), last === -1 ? count : last)}`;
}

/** A folder's files and folders with their sizes; a folder's is that of all files below it. */
function listing(folder: string, files: readonly File[]): string {
  const sizes = new Map([[folder, 0]]);
  for (const { path, text } of files) {
    const parts = path.slice(folder.length + 1).split("/");
    const size = new TextEncoder().encode(text).length;
    sizes.set(folder, (sizes.get(folder) ?? 0) + size);
    if (parts.some((part) => part.startsWith(".") || part === "node_modules")) continue;
    for (const [i] of parts.slice(0, LEVELS_SHOWN).entries()) {
      const name = `${folder}/${parts.slice(0, i + 1).join("/")}${i < parts.length - 1 ? "/" : ""}`;
      sizes.set(name, (sizes.get(name) ?? 0) + size);
    }
  }
  const rows = [...sizes].sort(([one], [other]) => (one < other ? -1 : 1));
  return [
    `Here're the files and directories up to ${LEVELS_SHOWN} levels deep in ${folder}, excluding hidden items and node_modules:`,
    ...rows.map(([path, bytes]) => `${sizeOf(bytes)}\t${path}`),
  ].join("\n");
}

function sizeOf(bytes: number): string {
  const unit = Math.min(3, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return `${Math.round((bytes / 1_024 ** unit) * 10) / 10}${"BKMG"[unit]}`;
}
