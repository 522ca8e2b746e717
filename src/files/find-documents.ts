import { lstat, readdir, readFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import ignore, { type Ignore } from "ignore";
import { isMissing } from "../config/narrow.ts";
import { extensionOf, isSecretName, nameRefusal } from "./file-kinds.ts";

export interface FoundFile {
  readonly path: string;
  readonly bytes: number;
  readonly modifiedMs: number;
  /** False for one that was found in a folder. */
  readonly isNamed: boolean;
}

export interface SkippedPath {
  readonly path: string;
  /** In words: `.zip`, "folder", "file without an extension". */
  readonly kind: string;
  readonly reason: string;
  readonly isNamed: boolean;
}

export type FoundDocuments = Awaited<ReturnType<typeof findDocuments>>;

/** Folders of build and version control tools, and of keys. */
const SKIPPED_FOLDERS = new Set(
  (
    ".git .hg .svn node_modules __pycache__ .venv .tox .cache .Trash .trash .obsidian " +
    ".ssh .gnupg .aws .azure .gcloud .kube .docker .password-store"
  ).split(" "),
);
/** Patterns become regular expressions, whose cost grows with the stars of a pattern and the depth of a path. */
const MAX_DEPTH = 64;
const COSTLY_PATTERN = /(?:\*\*[^\n]*){4}|(?:\*[^/\n]*){7}|^.{513}/m;

/** The rules of each `.gitignore`, outermost first; undefined where one of them has a pattern that would take too long. */
type Rules = readonly (readonly [folder: string, patterns: Ignore])[] | undefined;

/**
 * The documents at some paths: files that are named, and of folders those of a known kind that no `.gitignore` leaves
 * out. Links are not followed; keys, settings with secrets and what tools keep are passed over.
 */
export async function findDocuments(paths: readonly string[]) {
  const files = new Map<string, FoundFile>();
  const skipped = new Map<string, SkippedPath>();
  const missing: string[] = [];
  // A path may be named and also stand in a named folder.
  const skip = (path: string, reason: string, { isNamed = false, isFolder = false } = {}): void => {
    const kind = isFolder ? "folder" : kindByName(path);
    if (isNamed || !skipped.has(path)) skipped.set(path, { path, kind, reason, isNamed });
  };

  async function visitFile(path: string, isNamed = false): Promise<void> {
    const { size, mtimeMs } = await lstat(path);
    if (size === 0) skip(path, "empty", { isNamed });
    else if (isNamed || files.get(path)?.isNamed !== true)
      files.set(path, { path, bytes: size, modifiedMs: mtimeMs, isNamed });
  }

  async function visitFolder(folder: string, above: Rules, depth = 0): Promise<void> {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined);
    if (entries === undefined) return skip(folder, "may not be read", { isFolder: true });
    if (isDataDirectory(entries.map(({ name }) => name)))
      return skip(folder, "holds memoryd's own data", { isFolder: true });
    if (depth > MAX_DEPTH)
      return skip(folder, `lies more than ${MAX_DEPTH} folders deep`, { isFolder: true });
    const rules = withRules(above, await ownRules(folder));
    if (rules === undefined)
      return skip(folder, "its .gitignore has a pattern with too many stars", { isFolder: true });
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(folder, entry.name);
      const isFolder = entry.isDirectory();
      const refusal = isFolder
        ? isSkippedFolder(entry.name)
          ? "kept out by default"
          : undefined
        : nameRefusal(entry.name);
      if (entry.isSymbolicLink()) skip(path, "link");
      else if (refusal === "kept out by default") skip(path, refusal, { isFolder });
      else if (isIgnored(rules, path, isFolder)) skip(path, "left out by .gitignore", { isFolder });
      else if (isFolder) await visitFolder(path, rules, depth + 1);
      else if (!entry.isFile() || refusal !== undefined) skip(path, refusal ?? "not a file");
      else await visitFile(path).catch(() => skip(path, "may not be read"));
    }
  }

  for (const given of paths) {
    const path = resolve(given);
    const found = await lstat(path).catch(() => undefined);
    if (found === undefined) missing.push(given);
    else if (found.isSymbolicLink()) skip(path, "link", { isNamed: true });
    else if (found.isDirectory()) await visitFolder(path, await rulesAbove(path));
    else if (isSecretName(basename(path))) skip(path, "kept out by default", { isNamed: true });
    else await visitFile(path, true);
  }
  return {
    files: [...files.values()],
    /** Of a skipped folder only the folder itself. */
    skipped: [...skipped.values()].filter(({ path }) => !files.has(path)),
    missing,
  };
}

/** Whether a folder of that name is left out, wherever it is. */
export const isSkippedFolder = (name: string): boolean => SKIPPED_FOLDERS.has(name) || isSecretName(name);

/** A data directory has the token of its daemon in a file, and a log that grows while it is read. */
function isDataDirectory(names: readonly string[]): boolean {
  const has = (...all: string[]) => all.every((name) => names.includes(name));
  return (
    names.some((name) => /^CHECKPOINT-\d+$/.test(name)) ||
    has("journal", "tables") ||
    has("journal", "daemon.json")
  );
}

/** The kind of a file in words, by its name: `.zip`, "file without an extension". */
export function kindByName(path: string): string {
  const extension = extensionOf(basename(path));
  return extension === "" ? "file without an extension" : `.${extension}`;
}

/** The `.gitignore` files between a folder and the top of its repository, outermost first. */
async function rulesAbove(folder: string): Promise<Rules> {
  let rules: Rules = [];
  for (let inner = folder, outer = dirname(folder); ; inner = outer, outer = dirname(outer)) {
    if ((await lstat(join(inner, ".git")).catch(() => undefined)) !== undefined) return rules;
    // Outside of a repository the files above do not count.
    if (outer === inner) return [];
    rules = withRules(await ownRules(outer), rules);
  }
}

const withRules = (outer: Rules, inner: Rules): Rules => outer && inner && [...outer, ...inner];

async function ownRules(folder: string): Promise<Rules> {
  const text = await readFile(join(folder, ".gitignore"), "utf8").catch(() => undefined);
  if (text === undefined) return [];
  return COSTLY_PATTERN.test(text) ? undefined : [[folder, ignore({ ignorecase: false }).add(text)]];
}

/** The innermost `.gitignore` with a pattern for the path decides. */
function isIgnored(rules: NonNullable<Rules>, path: string, isFolder: boolean): boolean {
  for (const [folder, patterns] of rules.toReversed()) {
    const name = relative(folder, path).split(sep).join("/");
    const { ignored, unignored } = patterns.test(isFolder ? `${name}/` : name);
    if (ignored || unignored) return ignored;
  }
  return false;
}

/** True if nothing is at the path; false also where access is denied. */
export const isGone = async (path: string): Promise<boolean> =>
  await lstat(path).then(
    () => false,
    (error: unknown) => isMissing(error),
  );
