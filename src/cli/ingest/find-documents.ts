import { lstat, readdir, readFile } from "node:fs/promises";
import { basename, dirname, extname, join, relative, resolve, sep } from "node:path";
import { type IgnoreFile, parseIgnoreFile } from "./ignore-file.ts";

export interface FoundFile {
  /** Absolute. */
  readonly path: string;
  readonly bytes: number;
  readonly modifiedMs: number;
}

export interface SkippedPath {
  readonly path: string;
  readonly reason: string;
  /** It was asked for by name. */
  readonly isNamed: boolean;
}

export interface FoundDocuments {
  readonly files: readonly FoundFile[];
  /** What was passed over; of a folder that was, only the folder itself. */
  readonly skipped: readonly SkippedPath[];
  /** Paths that were asked for and are not there. */
  readonly missing: readonly string[];
}

const KINDS = new Set(
  (
    ".pdf .docx .html .htm .xhtml .md .markdown .txt .text .srt .vtt " +
    ".wav .mp3 .m4a .aac .flac .ogg .oga .opus .webm .mp4 .m4v .mov .mkv"
  ).split(" "),
);
/** What tools keep for themselves, and where keys lie. */
const SKIPPED_FOLDERS = new Set(
  (
    ".git .hg .svn node_modules __pycache__ .venv .tox .cache .Trash " +
    ".ssh .gnupg .aws .azure .gcloud .kube .docker .password-store"
  ).split(" "),
);
/** What holds keys more often than text. */
const SECRETS =
  /^(?:\.env.*|\.netrc|\.npmrc|\.pgpass|\.pypirc|id_(?:rsa|dsa|ecdsa|ed25519).*|.*\.(?:pem|key|p12|pfx|jks|kdbx|keystore|asc|gpg))$/i;

type Rules = readonly (readonly [folder: string, rule: IgnoreFile])[];

/**
 * The documents at some paths: files that are named, and of folders those of a known kind that no `.gitignore` leaves
 * out. Links are not followed; keys, settings with secrets and what tools keep are passed over.
 */
export async function findDocuments(paths: readonly string[]): Promise<FoundDocuments> {
  const files = new Map<string, FoundFile>();
  const skipped = new Map<string, SkippedPath>();
  const missing: string[] = [];
  // One that is named and stands in a folder that is, too, is said once.
  const skip = (path: string, reason: string, isNamed = false): void => {
    if (isNamed || !skipped.has(path)) skipped.set(path, { path, reason, isNamed });
  };

  async function visitFile(path: string, isNamed = false): Promise<void> {
    const { size, mtimeMs } = await lstat(path);
    if (size === 0) skip(path, "empty", isNamed);
    else files.set(path, { path, bytes: size, modifiedMs: mtimeMs });
  }

  async function visitFolder(folder: string, rules: Rules): Promise<void> {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined);
    if (entries === undefined) return skip(folder, "may not be read");
    const all = [...rules, ...(await ownRules(folder))];
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(folder, entry.name);
      const isFolder = entry.isDirectory();
      if (entry.isSymbolicLink()) skip(path, "link");
      else if (SECRETS.test(entry.name) || (isFolder && SKIPPED_FOLDERS.has(entry.name)))
        skip(path, "kept out by default");
      else if (isIgnored(all, path, isFolder)) skip(path, "left out by .gitignore");
      else if (isFolder) await visitFolder(path, all);
      else if (!entry.isFile() || !KINDS.has(extname(entry.name).toLowerCase()))
        skip(path, "not a kind that is read");
      else await visitFile(path).catch(() => skip(path, "may not be read"));
    }
  }

  for (const given of paths) {
    const path = resolve(given);
    const found = await lstat(path).catch(() => undefined);
    if (found === undefined) missing.push(given);
    else if (found.isSymbolicLink()) skip(path, "link", true);
    else if (found.isDirectory()) await visitFolder(path, await rulesAbove(path));
    else if (SECRETS.test(basename(path))) skip(path, "kept out by default", true);
    else await visitFile(path, true);
  }
  return {
    files: [...files.values()],
    skipped: [...skipped.values()].filter(({ path }) => !files.has(path)),
    missing,
  };
}

/** What the `.gitignore` files between a folder and the top of its repository say, outermost first. */
async function rulesAbove(folder: string): Promise<Rules> {
  const rules: Rules[] = [];
  for (let inner = folder, outer = dirname(folder); ; inner = outer, outer = dirname(outer)) {
    if (await isThere(join(inner, ".git"))) return rules.toReversed().flat();
    // No repository, so nothing above has a say.
    if (outer === inner) return [];
    rules.push(await ownRules(outer));
  }
}

async function ownRules(folder: string): Promise<Rules> {
  const text = await readFile(join(folder, ".gitignore"), "utf8").catch(() => undefined);
  return text === undefined ? [] : [[folder, parseIgnoreFile(text)]];
}

async function isThere(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  );
}

/** The innermost `.gitignore` that says something decides. */
function isIgnored(rules: Rules, path: string, isFolder: boolean): boolean {
  for (const [folder, rule] of rules.toReversed()) {
    const said = rule.ignores(relative(folder, path).split(sep).join("/"), isFolder);
    if (said !== undefined) return said;
  }
  return false;
}
