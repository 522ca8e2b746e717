import { lstat, readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, extname, join, posix, relative, resolve, sep } from "node:path";
import { messageOf } from "../../config/narrow.ts";
import { readFrontMatter } from "../../files/front-matter.ts";
import { faulty, type ImportItem, type ImportItems, memory, skipped } from "./import-item.ts";
import { decodedAddress, decodeSurely } from "../../files/text-decoding.ts";
import { MAX_NOTE_BYTES, notUtf8 } from "./text-lines.ts";

const EXTENSIONS = new Set([".md", ".markdown"]);
const EXTENSION = /\.(?:md|markdown)$/;
/** `[[note]]`, `[[note#heading|alias]]`, also as an embed; `[text](note.md)`. No two matches can overlap, so a text is read once. */
const LINK =
  /\[\[([^[\]|#\n]+)(?:[#|][^[\]\n]*)?\]\]|\]\(<?([^()<>\n#]+\.(?:md|markdown))(?:#[^()<>\n]*)?>?\)/gi;
const CODE = /```[\s\S]*?(?:```|$)|`[^`\n]*`/g;
const TAG_IN_TEXT = /(?<=^|\s)#([\p{L}\p{M}\p{N}_/-]{1,256})(?![\p{L}\p{M}\p{N}_/-])/gu;
/** A vault of Obsidian has its settings in it. */
const VAULT_SETTINGS = ".obsidian";
/** As many as a memory may have. */
const MAX_TAGS = 64;

/**
 * The Markdown files of a folder, or one file: one memory a note, with those of its observations, then the links between the
 * notes and their relations as facts. Symbolic links and hidden folders are passed over.
 */
export async function* readNotes(root: string, encoding?: string): ImportItems {
  const isFolder = (await stat(root)).isDirectory();
  const { paths, others } = isFolder ? await findNotes(root) : { paths: [root], others: [] };
  const isVault = await isInVault(isFolder ? root : dirname(root));
  const whereOf = (path: string) => (isFolder ? relative(root, path).split(sep).join("/") : basename(path));
  const resolveLink = linkResolver(paths.map(whereOf));
  const relations: ImportItem[] = [];
  const links: ImportItem[] = [];
  for (const path of paths) {
    const where = whereOf(path);
    const text = await readText(path, encoding).catch((error: unknown) => faulty(where, messageOf(error)));
    if (typeof text !== "string") {
      yield text;
      continue;
    }
    const { note, observations, facts } = readNote(
      text,
      where,
      isVault,
      Math.round((await lstat(path)).mtimeMs),
    );
    yield note;
    yield* observations;
    relations.push(...facts);
    if (note.kind !== "memory") continue;
    const found = Array.from(text.replaceAll(CODE, "").matchAll(LINK), ([, name, file]) =>
      resolveLink(name ?? decodedAddress(file ?? ""), where),
    );
    for (const to of new Set(found))
      if (to !== undefined && to !== where) links.push({ kind: "link", where, to });
  }
  yield* links;
  yield* relations;
  for (const path of others)
    yield skipped(
      whereOf(path),
      "files that are no notes; `memoryd ingest` makes documents of what it can read",
    );
}

/** True for a vault, and for a folder in one. */
async function isInVault(folder: string): Promise<boolean> {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const found = await lstat(join(at, VAULT_SETTINGS)).catch(() => undefined);
    if (found?.isDirectory() === true) return true;
    if (at === dirname(at)) return false;
  }
}

/** One form of names that differ in case or in how their accents are stored. */
const folded = (name: string): string => name.normalize("NFC").toLowerCase();

/**
 * Finds the note that a link means, as Obsidian does: the path from the root of the vault or, with dots, from the linking note;
 * else of the notes whose paths end so the one with the shortest, those beside or below the linking note first. Undefined for
 * what is no note.
 */
function linkResolver(notes: readonly string[]): (link: string, from: string) => string | undefined {
  const byName = new Map<string, { readonly note: string; readonly path: string }[]>();
  for (const note of notes) {
    const path = folded(note).replace(EXTENSION, "");
    const name = posix.basename(path);
    byName.set(name, [...(byName.get(name) ?? []), { note, path }]);
  }
  return (link, from) => {
    // In a table the line before an alias is escaped.
    const wanted = folded(link.replace(/\\$/, "").trim()).replace(EXTENSION, "");
    const folder = posix.dirname(folded(from));
    const isWhole = /^\.{0,2}\//.test(wanted);
    const path = wanted.startsWith("/") ? wanted.slice(1) : isWhole ? posix.join(folder, wanted) : wanted;
    const alike = byName.get(posix.basename(path)) ?? [];
    const exact = alike.find((each) => each.path === path);
    if (exact !== undefined || isWhole) return exact?.note;
    const isNear = (each: { readonly path: string }) => folder === "." || each.path.startsWith(`${folder}/`);
    const [best] = alike
      .filter((each) => each.path.endsWith(`/${path}`))
      .sort((a, b) => Number(isNear(b)) - Number(isNear(a)) || a.path.length - b.path.length);
    return best?.note;
  };
}

/** The notes of a folder, and its other files; sorted, so that every run finds them in one order. */
async function findNotes(root: string): Promise<{ paths: string[]; others: string[] }> {
  const [paths, others]: [string[], string[]] = [[], []];
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile() && EXTENSIONS.has(extname(entry.name).toLowerCase())) paths.push(path);
      else others.push(path);
    }
  }
  const order = (a: string, b: string) => (a < b ? -1 : 1);
  return { paths: paths.sort(order), others: others.sort(order) };
}

/** The text of a note, in the encoding where it is not UTF-8. @throws {Error} with what is wrong with it. */
async function readText(path: string, encoding: string | undefined): Promise<string> {
  if ((await lstat(path)).size > MAX_NOTE_BYTES)
    throw new RangeError(`is larger than ${MAX_NOTE_BYTES} bytes; \`memoryd ingest\` takes more`);
  const bytes = await readFile(path);
  const text = decodeSurely(bytes, encoding);
  if (text === undefined) throw new RangeError(notUtf8(bytes));
  if (encoding !== undefined && text.includes("\ufffd")) throw new RangeError(`is not ${encoding}`);
  return text;
}

/** @param changedAt when the file was changed, which counts where the note names no date. */
function readNote(text: string, where: string, isVault: boolean, changedAt: number) {
  // Notion ends the names of its files with the id of the page.
  const name = posix.basename(where, posix.extname(where)).replace(/ [\da-f]{32}$/, "");
  const only = (note: ImportItem) => ({ note, observations: [], facts: [] });
  const read = readFrontMatter(text, name);
  // As `ingest` does, front matter that cannot be read stays text.
  const isUnread = "fault" in read;
  const { title = name, tags, date: given, others } = isUnread ? { tags: [], others: {} } : read;
  const date = given ?? changedAt;
  const dated = (item: ImportItem): ImportItem =>
    given === undefined && item.kind === "memory" ? { ...item, isDatedByFile: true } : item;
  const whole = (isUnread ? text : read.body).trim();
  if (whole === "") return only(skipped(where, "empty notes"));
  // basic-memory gives each of its notes an address.
  const lines = "permalink" in others ? readLines(whole, { where, title, date }) : undefined;
  const body = lines?.rest.trim() ?? whole;
  const note = memory(where, {
    // A note is found by its title too, which most do not repeat.
    content: body.includes(title) ? body : `${title}\n\n${body}`.trim(),
    tags: isVault && Array.isArray(tags) ? withTagsOf(body, tags) : tags,
    occurred_at: date,
    metadata: { ...others, source: "markdown", title, path: where },
  });
  return {
    note: dated(note),
    observations: (lines?.observations ?? []).map(dated),
    facts: lines?.relations ?? [],
  };
}

/** The tags and those that stand in the text, as many as a memory may have. */
function withTagsOf(body: string, tags: readonly unknown[]): unknown[] {
  const inText = Array.from(body.replaceAll(CODE, "").matchAll(TAG_IN_TEXT), ([, tag]) => tag);
  const all = new Set([...tags, ...inText.filter((tag) => /\D/.test(tag ?? ""))]);
  return [...all].slice(0, Math.max(MAX_TAGS, tags.length));
}

const OBSERVATION = /^\s*[-*+] +\[([^[\]()]+)\]\s+(\S.*)$/;
/** A type of several words is in quotes; what follows a link makes the line a sentence, unless it is in brackets. */
const RELATION =
  /^\s*[-*+] +(?:"([^"[\]]+)"|'([^'[\]]+)'|([^\s"'[\]]+)) *\[\[([^[\]|]+)(?:\|[^[\]]*)?\]\] *(?:\(.*\))?$/;
/** The mark of a task, done or open. */
const MARK = /^(?:[^\p{L}\p{N}]?|[xX])$/u;
/** A time of a transcript, which has a colon. */
const TIME = /^[\d:.,\s-]+$/;
const isCategory = (name: string): boolean => !MARK.test(name) && !(name.includes(":") && TIME.test(name));
const FENCE = /^\s*(?:```|~~~)/;
const TAG = /(?<=\s)#([^\s#]+)/g;

interface Note {
  readonly where: string;
  readonly title: string;
  readonly date: unknown;
}

/** The note's text without its observations; each of them as a memory; and its relations as facts. */
export function readLines(body: string, { where, title, date }: Note) {
  const rest: string[] = [];
  const observations: ImportItem[] = [];
  const relations: ImportItem[] = [];
  let isCode = false;
  for (const line of body.split("\n")) {
    if (FENCE.test(line)) isCode = !isCode;
    const [, category = "", text = ""] = (isCode ? null : OBSERVATION.exec(line.trimEnd())) ?? [];
    if (text === "" || !isCategory(category.trim())) rest.push(line);
    else {
      const tags = [category.trim(), ...Array.from(` ${text}`.matchAll(TAG), ([, tag = ""]) => tag)];
      const metadata = { source: "basic-memory", title, path: where, category: category.trim() };
      const content = text.includes(title) ? text : `${title}: ${text}`;
      const place = `${where}, observation ${observations.length + 1}`;
      observations.push(memory(place, { content, tags: [...new Set(tags)], occurred_at: date, metadata }));
    }
    const [, ...found] = (isCode ? null : RELATION.exec(line.trimEnd())) ?? [];
    const [predicate, object] = [found[0] ?? found[1] ?? found[2], found[3]];
    if (predicate === undefined || object === undefined) continue;
    const fact = { subject: title, predicate, object: object.trim(), valid_from: date, cardinality: "many" };
    const metadata = { source: "basic-memory", path: where };
    relations.push({
      kind: "fact",
      where: `${where}, relation ${relations.length + 1}`,
      body: { ...fact, metadata },
    });
  }
  return { rest: rest.join("\n"), observations, relations };
}
