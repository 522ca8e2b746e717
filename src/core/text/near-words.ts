/** Shorter words are near to too many. */
const MIN_LENGTH = 4;
/** From this length on two letters may differ. */
const TWO_SLIPS = 8;

const slipsAllowed = (word: string) => (word.length < TWO_SLIPS ? 1 : 2);

/** Whether any word can be near to this one. */
export const hasNearWords = (word: string): boolean => word.length >= MIN_LENGTH && /^\p{L}+$/u.test(word);

/** One bit per letter of a word, many letters to a bit. */
export function letterBits(word: string): number {
  let bits = 0;
  for (let i = 0; i < word.length; i += 1) bits |= 1 << word.charCodeAt(i);
  return bits;
}

/** False where `nearness` is 0 for certain, as for nearly all words: a slip changes two bits at most. */
export function mayBeNear(word: string, bits: number, otherBits: number): boolean {
  let left = bits ^ otherBits;
  for (let slips = 2 * slipsAllowed(word); slips > 0 && left !== 0; slips -= 1) left &= left - 1;
  return left === 0;
}

/**
 * How near two words are: 1 for the same, less for a letter too much, too little, wrong or swapped with the next (two
 * from eight letters on); 0 for anything else, and for words that are short or not of letters alone.
 * @see Damerau, "A technique for computer detection and correction of spelling errors", 1964.
 */
export function nearness(word: string, other: string): number {
  if (word === other) return 1;
  const slips = slipsAllowed(word);
  if (Math.abs(word.length - other.length) > slips || !hasNearWords(word) || !hasNearWords(other)) return 0;
  const distance = slipsBetween(word, other, slips);
  return distance > slips ? 0 : 1 - distance / Math.max(word.length, other.length);
}

/** Slips that make one word of the other; more than `most` where there are more. */
function slipsBetween(word: string, other: string, most: number): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, j) => j);
  for (let i = 1; i <= word.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const isSame = word[i - 1] === other[j - 1];
      let slips = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (isSame ? 0 : 1));
      const isSwapped = i > 1 && j > 1 && word[i - 1] === other[j - 2] && word[i - 2] === other[j - 1];
      if (isSwapped) slips = Math.min(slips, (beforeLast[j - 2] ?? 0) + 1);
      row.push(slips);
    }
    if (Math.min(...row) > most) return most + 1;
    beforeLast = last;
    last = row;
  }
  return last[other.length] ?? 0;
}

/** The known name that a misspelt one most likely means, whatever its case and separators; undefined when none is near. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const bare = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, "");
  const most = bare(name).length <= 4 ? 1 : 2;
  const near = known.map((each) => ({ each, slips: slipsBetween(bare(name), bare(each), most) }));
  const [best] = near.sort((a, b) => a.slips - b.slips);
  return best !== undefined && best.slips <= most ? best.each : undefined;
}
