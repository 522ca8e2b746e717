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

/** English words of talk, not of topics: beyond the stop words they are common in whatever anybody says. */
export const TALK_WORDS: ReadonlySet<string> = new Set(
  `able absolutely actually ago almost already also always amazing anyone anything appreciate around ask away awesome aww bad
  beautiful began best better big bit bring brings bye call came catch chance change check chill come comes coming congrats cool couple day days
  decided definitely different done doubt each easy else end enjoy enjoyed enjoying enough especially even ever every everyone everything
  exactly excited exciting fact fantastic far feel feeling feels felt finally find first forward found free full fun gave get
  gets getting give gives giving glad go goes going gonna good got gotten great guess ha had haha happen happened happy hard hear heard
  hello help helped helping helps hey hi hope hours idea important incredible inspiring interesting keep keeps kind knew know known last lately later
  learn learned least left less let lets life like liked little ll long look looked looking looks lot lots love loved lovely
  loves made make makes making man many matter maybe mean means mind moment moments month months morning much must name near need needed needs never new next
  nice night nothing now often ok okay old one ones open others pass past people perfect photo pic picture place plan planning plans pretty probably
  proud put quite read ready real really reason recently remember right said saw say saying says see seeing seem seems seen set share shared sharing show side since small
  someone something sometimes soon sorry sound sounds special spend start started starting stay step still stuff super sure sweet take
  takes taking talk talking tell thank thanks thing things think thinking though thought three time times today together told tomorrow
  tonight took totally tried true try trying turn turned two understand upcoming use used using via want wanted wants watch way ways week
  weekend weeks went whole wish without won wonderful wondering word words work worked working works world worth wow wrong yeah year years yep yes yesterday yet
  alot another appreciated awhile believe believing blast boost care challenge challenges crazy currently deal difference dream dreams effort encouragement enough
  experience express favorite favourite focus follow forget fun goal goals going gotta grateful growth heart impact important inspire inspired join journey
  joy keeping laugh lucky motivated motivating motivation passion passionate peace positive power push playing pushing relax relaxing remind reminded
  reminder reminds silly smile strength strong success successful support supporting supportive surprise thankful tough true truly
  vibe vibes well whenever wherever worthwhile`
    .split(/\s+/)
    .concat("bcdefghjklmnopqrstuvwxyz".split("")),
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
