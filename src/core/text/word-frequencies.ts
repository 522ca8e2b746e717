/** The share of memories of usual length that have a term, in (0, 1], in any language. */
export type WordFrequencies = (term: string) => number;

/** Share of unlisted terms: the list ends at 1/128, and most words of names or codes are far rarer. */
const UNLISTED_SHARE = 1 / 1_024;

/** Reads `data/word-frequencies.txt`: on each line −2·log₂ of a share, and the terms that have it. */
export function readWordFrequencies(file: string): WordFrequencies {
  const shares = new Map<string, number>();
  for (const line of file.split("\n")) {
    const [level, ...terms] = line.split(" ");
    for (const term of terms) shares.set(term, 2 ** (Number(level) / -2));
  }
  return (term) => shares.get(term) ?? UNLISTED_SHARE;
}
