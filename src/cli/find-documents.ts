import { lstat, readdir, readFile } from "node:fs/promises";
import { basename, extname, join, relative, resolve, sep } from "node:path";
import { type IgnoreFile, parseIgnoreFile } from "./ignore-file.ts";

export interface FoundFile {
  /** Absolute. */
  readonly path: string;
  readonly bytes: number;
  readonly modifiedMs: number;
}

export interface FoundDocuments {
  readonly files: readonly FoundFile[];
  /** How many were passed over, by reason. */
  readonly skipped: ReadonlyMap<string, number>;
  /** Paths that were asked for and are not there. */
  readonly missing: readonly string[];
}

const KINDS = new Set(
  (
    ".pdf .docx .html .htm .xhtml .md .markdown .txt .text .srt .vtt " +
    ".wav .mp3 .m4a .aac .flac .ogg .oga .opus .webm .mp4 .m4v .mov .mkv"
  ).split(" "),
);
const SKIPPED_FOLDERS = new Set([".git", ".hg", ".svn", "node_modules", ".ssh", ".gnupg", ".aws"]);
/** What holds keys more often than text. */
const SECRETS =
  /^(?:\.env.*|\.netrc|\.npmrc|\.pgpass|id_(?:rsa|dsa|ecdsa|ed25519).*|.*\.(?:pem|key|p12|pfx|jks|kdbx|keystore|asc|gpg))$/i;

/**
 * The documents at some paths: files that are named, and of folders those of a known kind that no `.gitignore` leaves
 * out. Links are not followed; keys, settings with secrets and what tools keep are passed over.
 */
export async function findDocuments(paths: readonly string[]): Promise<FoundDocuments> {
  const files = new Map<string, FoundFile>();
  const skipped = new Map<string, number>();
  const missing: string[] = [];
  const skip = (reason: string): void => void skipped.set(reason, (skipped.get(reason) ?? 0) + 1);

  async function visitFile(path: string): Promise<void> {
    const { size, mtimeMs } = await lstat(path);
    if (size === 0) skip("empty");
    else files.set(path, { path, bytes: size, modifiedMs: mtimeMs });
  }

  async function visitFolder(
    folder: string,
    rules: readonly (readonly [string, IgnoreFile])[],
  ): Promise<void> {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined);
    if (entries === undefined) return skip("may not be read");
    const own = entries.some((entry) => entry.isFile() && entry.name === ".gitignore")
      ? ([folder, parseIgnoreFile(await readFile(join(folder, ".gitignore"), "utf8"))] as const)
      : undefined;
    const all = own === undefined ? rules : [...rules, own];
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(folder, entry.name);
      if (entry.isSymbolicLink()) skip("link");
      else if (entry.isDirectory() ? SKIPPED_FOLDERS.has(entry.name) : SECRETS.test(entry.name))
        skip("kept out by default");
      else if (isIgnored(all, path, entry.isDirectory())) skip("left out by .gitignore");
      else if (entry.isDirectory()) await visitFolder(path, all);
      else if (!entry.isFile() || !KINDS.has(extname(entry.name).toLowerCase()))
        skip("not a kind that is read");
      else await visitFile(path).catch(() => skip("may not be read"));
    }
  }

  for (const given of paths) {
    const path = resolve(given);
    const found = await lstat(path).catch(() => undefined);
    if (found === undefined) missing.push(given);
    else if (found.isSymbolicLink()) skip("link");
    else if (found.isDirectory()) await visitFolder(path, []);
    else if (SECRETS.test(basename(path))) skip("kept out by default");
    else await visitFile(path);
  }
  return { files: [...files.values()], skipped, missing };
}

/** The innermost `.gitignore` that says something decides. */
function isIgnored(
  rules: readonly (readonly [string, IgnoreFile])[],
  path: string,
  isFolder: boolean,
): boolean {
  for (const [folder, rule] of rules.toReversed()) {
    const said = rule.ignores(relative(folder, path).split(sep).join("/"), isFolder);
    if (said !== undefined) return said;
  }
  return false;
}
