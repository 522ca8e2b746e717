/**
 * English words too common to tell memories apart: articles, pronouns, auxiliaries, prepositions, conjunctions
 * and question words. Both the word index and token matching leave them out.
 */
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
