/** Blocks beyond the first plane that hold letters, and no emojis, musical or private signs. */
const BEYOND = "\u{10000}-\u{1cbff}\u{1d400}-\u{1d7ff}\u{1dc00}-\u{1efff}\u{20000}-\u{3ffff}";
const FIRST_PLANE = 0x1_00_00;
/** The code of a longer source V8 does not optimise: it takes ten times as long over a text. */
const MAX_OPTIMISED_CHARS = 20_000;
const CLASSES = /\[(?:\\.|[^\]\\])*|\\p\{L\}|\\./gs;
const known = new Map<string, string>();

/** The signs of a class as ranges: as they are on the first plane, and all of `BEYOND`. */
function rangesOf(signs: string): string {
  let ranges = known.get(signs);
  if (ranges !== undefined) return ranges;
  let plane = "";
  for (let sign = 0; sign < FIRST_PLANE; sign += 1) plane += String.fromCharCode(sign);
  const runs = plane.match(new RegExp(`[${signs}]+`, "gu")) ?? [];
  ranges = runs.map((run) => (run.length === 1 ? run : `${run.at(0)}-${run.at(-1)}`)).join("") + BEYOND;
  known.set(signs, ranges);
  return ranges;
}

const asRanges = (source: string) => source.replace(/\\p\{L\}(?:\\p\{N\})?/g, rangesOf);

/**
 * A regular expression, in which letters beyond the first plane go by blocks: no word of a language stands beside what else these
 * hold, and V8 compiles `\p{L}` as ranges in a tenth of the time. The flag `u` is added.
 */
export function expression(source: string, flags = ""): RegExp {
  const ranges = source.replace(CLASSES, (part) =>
    part.startsWith("[") ? asRanges(part) : part.startsWith("\\p{") ? `[${asRanges(part)}]` : part,
  );
  return new RegExp(ranges.length > MAX_OPTIMISED_CHARS ? source : ranges, `${flags}u`);
}

/** One of the words or patterns, standing by itself. */
export const words = (...lists: string[]) =>
  expression(String.raw`(?<![\p{L}\p{N}])(?:${lists.join("|")})(?![\p{L}\p{N}])`);
