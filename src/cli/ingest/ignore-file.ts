import { matchesIgnoreGlob, parseIgnoreGlob } from "./ignore-glob.ts";

/** What a `.gitignore` says: patterns in order, the last that matches decides. */
export interface IgnoreFile {
  /** `path` below the file's folder with `/`; undefined where nothing is said of it. */
  ignores(path: string, isFolder: boolean): boolean | undefined;
}

/** Longer lines are no patterns anybody wrote; and what is matched stays cheap. */
const MAX_PATTERN_CHARS = 512;

/**
 * Reads the lines of a `.gitignore`.
 *
 * @see https://git-scm.com/docs/gitignore
 */
export function parseIgnoreFile(text: string): IgnoreFile {
  const rules = text.split(/\r?\n/).flatMap((line) => ruleOf(line) ?? []);
  return {
    ignores(path, isFolder) {
      const rule = rules.findLast(
        ({ glob, onlyFolders }) => (isFolder || !onlyFolders) && matchesIgnoreGlob(glob, path),
      );
      return rule === undefined ? undefined : !rule.isNegated;
    },
  };
}

function ruleOf(line: string) {
  // Space at the end counts only behind a backslash.
  const text = line.replace(/(?<!\\)[ \t]+$/, "");
  if (text === "" || text.startsWith("#") || text.length > MAX_PATTERN_CHARS) return undefined;
  const isNegated = text.startsWith("!");
  const body = isNegated ? text.slice(1) : text;
  const onlyFolders = body.endsWith("/");
  const path = body.replace(/\/+$/, "");
  // With a slash in it, a pattern counts from the file's folder; else it is of a name at any depth.
  const glob = parseIgnoreGlob(path.includes("/") ? path.replace(/^\//, "") : `**/${path}`);
  return glob && { glob, isNegated, onlyFolders };
}
