/**
 * Patterns of a `.gitignore`, matched without going back more than one star: at most pattern × text steps, whatever the
 * pattern, since a folder's own file must not be able to hold up who reads it.
 */

type Part =
  | { readonly type: "character"; readonly character: string }
  | { readonly type: "any" }
  | { readonly type: "star" }
  | {
      readonly type: "class";
      readonly isNegated: boolean;
      readonly ranges: readonly (readonly [string, string])[];
    };

/** Segments of a pattern; null stands for `**`. */
export type IgnoreGlob = readonly (readonly Part[] | null)[];

/** @returns undefined for a pattern that can match nothing, such as one that ends in a lone backslash. */
export function parseIgnoreGlob(pattern: string): IgnoreGlob | undefined {
  const segments: (readonly Part[] | null)[] = [];
  for (const segment of pattern.split("/")) {
    if (segment === "**") {
      if (segments.at(-1) !== null) segments.push(null);
      continue;
    }
    const parts = parseSegment(segment);
    if (parts === undefined) return undefined;
    segments.push(parts);
  }
  return segments;
}

/** Whether the glob names the whole path. A `**` at its end needs something below; elsewhere it may stand for nothing. */
export function matchesIgnoreGlob(glob: IgnoreGlob, path: string): boolean {
  const names = path.split("/");
  return matchesWithStars(glob, names, {
    isStar: (segment) => segment === null,
    matches: (segment, name) =>
      segment !== null &&
      matchesWithStars(segment, Array.from(name), {
        isStar: (part) => part.type === "star",
        matches: matchesCharacter,
      }),
    lastStarTakesOne: true,
  });
}

/**
 * Matches a list of parts with stars against a list of items: a star first takes nothing, and one item more each time
 * what follows fails. Only the last star is tried again, which is enough.
 */
function matchesWithStars<P, T>(
  parts: readonly P[],
  items: readonly T[],
  rule: {
    readonly isStar: (part: P) => boolean;
    readonly matches: (part: P, item: T) => boolean;
    readonly lastStarTakesOne?: boolean;
  },
): boolean {
  let part = 0;
  let item = 0;
  let star = -1;
  let taken = 0;
  while (item < items.length) {
    const current = parts[part];
    if (current !== undefined && rule.isStar(current)) {
      star = part;
      taken = item;
      part += 1;
      if (part === parts.length) return true;
    } else if (current !== undefined && rule.matches(current, items[item] as T)) {
      part += 1;
      item += 1;
    } else if (star >= 0) {
      taken += 1;
      item = taken;
      part = star + 1;
    } else {
      return false;
    }
  }
  while (rule.lastStarTakesOne !== true && part < parts.length && rule.isStar(parts[part] as P)) part += 1;
  return part === parts.length;
}

function matchesCharacter(part: Part, character: string): boolean {
  switch (part.type) {
    case "any":
      return true;
    case "character":
      return part.character === character;
    case "class":
      return part.ranges.some(([from, to]) => from <= character && character <= to) !== part.isNegated;
    case "star":
      return false;
  }
}

function parseSegment(segment: string): Part[] | undefined {
  const parts: Part[] = [];
  const characters = Array.from(segment);
  for (let i = 0; i < characters.length; i += 1) {
    const character = characters[i] as string;
    if (character === "*") {
      if (parts.at(-1)?.type !== "star") parts.push({ type: "star" });
    } else if (character === "?") {
      parts.push({ type: "any" });
    } else if (character === "\\") {
      i += 1;
      const escaped = characters[i];
      if (escaped === undefined) return undefined;
      parts.push({ type: "character", character: escaped });
    } else if (character === "[") {
      const read = readClass(characters, i + 1);
      // Never closed, it is a character like any other.
      parts.push(read?.part ?? { type: "character", character });
      i = read?.end ?? i;
    } else {
      parts.push({ type: "character", character });
    }
  }
  return parts;
}

/** From behind the opening bracket to the closing one. A `]` right at the beginning is one of the characters. */
function readClass(characters: readonly string[], start: number) {
  let i = start;
  const isNegated = characters[i] === "!" || characters[i] === "^";
  if (isNegated) i += 1;
  const ranges: (readonly [string, string])[] = [];
  for (let isFirst = true; isFirst || characters[i] !== "]"; isFirst = false) {
    if (characters[i] === "\\") i += 1;
    const from = characters[i];
    if (from === undefined) return undefined;
    i += 1;
    if (characters[i] === "-" && characters[i + 1] !== undefined && characters[i + 1] !== "]") {
      i += characters[i + 1] === "\\" ? 2 : 1;
      ranges.push([from, characters[i] ?? from]);
      i += 1;
    } else {
      ranges.push([from, from]);
    }
  }
  return { part: { type: "class", isNegated, ranges } as const, end: i };
}
