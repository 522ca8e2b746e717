/** English words too common to tell memories apart: the word index and token matching leave them out. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about above after again against all am an and any are as at be because been before being below between both
  but by can cannot could did do does doing don down during each few for from further had has have having he her
  here hers herself him himself his how i if in into is it its itself just ll me more most my myself no nor not now
  of off on once only or other our ours ourselves out over own re s same shall she should so some such t than that
  the their theirs them themselves then there these they this those through to too under until up ve very was we
  were what when where which while who whom whose why will with would you your yours yourself yourselves`.split(
    /\s+/,
  ),
);

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
