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
        ({ pattern, onlyFolders }) => (isFolder || !onlyFolders) && pattern.test(path),
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
  const anchored = path.includes("/") ? path.replace(/^\//, "") : `**/${path}`;
  const source = sourceOf(anchored);
  try {
    return { pattern: new RegExp(`^${source}$`, "su"), isNegated, onlyFolders };
  } catch {
    return undefined;
  }
}

function sourceOf(glob: string): string {
  // Stars in a row mean one; many in a pattern would otherwise make a regular expression slow.
  const parts = glob.match(/\*\*\/|\/\*\*$|\*+|\?|\[!?\]?[^\]]*\]|\\.|[^*?[\\/]+|./gsu) ?? [];
  return parts
    .map((part) => {
      if (part === "**/") return "(?:[^/]+/)*";
      if (part === "/**") return "/.+";
      if (part.startsWith("*")) return "[^/]*";
      if (part === "?") return "[^/]";
      if (part.startsWith("[") && part.length > 2) return part.replace(/^\[!/, "[^").replaceAll("\\", "\\\\");
      const literal = part.startsWith("\\") && part.length > 1 ? part.slice(1) : part;
      return literal.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
    })
    .join("");
}
