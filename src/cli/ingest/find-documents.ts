import { lstat, readdir, readFile } from "node:fs/promises";
import { basename, dirname, extname, join, relative, resolve, sep } from "node:path";
import ignore, { type Ignore } from "ignore";
import { isMissing } from "../../config/system-error.ts";

export interface FoundFile {
  readonly path: string;
  readonly bytes: number;
  readonly modifiedMs: number;
}

export interface SkippedPath {
  readonly path: string;
  readonly reason: string;
  readonly isNamed: boolean;
}

export interface FoundDocuments {
  readonly files: readonly FoundFile[];
  /** What was passed over; of a folder that was, only the folder itself. */
  readonly skipped: readonly SkippedPath[];
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

/** Patterns become regular expressions, whose cost grows with the stars of a pattern and the depth of a path. */
const MAX_DEPTH = 64;
const COSTLY_PATTERN = /(?:\*\*[^\n]*){4}|(?:\*[^/\n]*){7}|^.{513}/m;

/** The rules of each `.gitignore`, outermost first; undefined where one of them has a pattern that would take too long. */
type Rules = readonly (readonly [folder: string, patterns: Ignore])[] | undefined;

/**
 * The documents at some paths: files that are named, and of folders those of a known kind that no `.gitignore` leaves
 * out. Links are not followed; keys, settings with secrets and what tools keep are passed over.
 */
export async function findDocuments(paths: readonly string[]): Promise<FoundDocuments> {
  const files = new Map<string, FoundFile>();
  const skipped = new Map<string, SkippedPath>();
  const missing: string[] = [];
  // A path may be named and also stand in a named folder.
  const skip = (path: string, reason: string, isNamed = false): void => {
    if (isNamed || !skipped.has(path)) skipped.set(path, { path, reason, isNamed });
  };

  async function visitFile(path: string, isNamed = false): Promise<void> {
    const { size, mtimeMs } = await lstat(path);
    if (size === 0) skip(path, "empty", isNamed);
    else files.set(path, { path, bytes: size, modifiedMs: mtimeMs });
  }

  async function visitFolder(folder: string, above: Rules, depth = 0): Promise<void> {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined);
    if (entries === undefined) return skip(folder, "may not be read");
    if (depth > MAX_DEPTH) return skip(folder, `lies more than ${MAX_DEPTH} folders deep`);
    const rules = withRules(above, await ownRules(folder));
    if (rules === undefined) return skip(folder, "its .gitignore has a pattern with too many stars");
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(folder, entry.name);
      const isFolder = entry.isDirectory();
      if (entry.isSymbolicLink()) skip(path, "link");
      else if (SECRETS.test(entry.name) || (isFolder && SKIPPED_FOLDERS.has(entry.name)))
        skip(path, "kept out by default");
      else if (isIgnored(rules, path, isFolder)) skip(path, "left out by .gitignore");
      else if (isFolder) await visitFolder(path, rules, depth + 1);
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

function withRules(outer: Rules, inner: Rules): Rules {
  return outer && inner && [...outer, ...inner];
}

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

/** Whether there is certainly nothing at a path; false for one that may not be looked at. */
export async function isGone(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => false,
    (error: unknown) => isMissing(error),
  );
}
