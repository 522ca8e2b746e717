import type { MemoryStore, Ordinal } from "../ports.ts";
import { likeness } from "../embedding.ts";
import { fold } from "../text/fold.ts";
import type { Memory } from "../memory.ts";
import { changeWords } from "../text/change-words.ts";
import { fit, type Period } from "../text/time-periods.ts";
import { TIME_WORDS } from "../text/time-words.ts";
import { tellingTerms } from "../memories/infer-updates.ts";
import type { Found } from "./period.ts";
import { isNote } from "./traits.ts";
import { type RankedHit, sumOf } from "./ranking.ts";

/**
 * The one of two like answers that holds: the later one, unless the question speaks of the past. It goes by when things
 * happened and works on the best few only, so it costs next to nothing.
 */

/** The state of a changed thing that a question asks for. */
export type Tense = "present" | "past";

/** One of the words or patterns, standing by itself. */
export const words = (...lists: string[]) =>
  new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${lists.join("|")})(?![\p{L}\p{N}])`, "u");

const AGED = String.raw`ages?|friends?|lady|man|men|people|town|city|wom[ae]n|(?:freund|bekannt|herr|dame|leute|mensch|mann|frau|vriend|signor)\p{L}*|stadt|stad|ciudad|cidade|mensen|vrouw|ami[es]{0,2}|amig[oa]s?|amic[aioh]{1,2}`;
/** "Old" of what was replaced, and not of an age or of one of several. */
const old = (adjective: string) =>
  String.raw`(?<!\b(?:an|how|years?|eine?[mnrs]?|een|une?|uma?|una|plus|piu|mas|mais) )(?:${adjective})(?! (?:${AGED})(?!\p{L}))`;
const TIMES = Object.values(TIME_WORDS)
  .flatMap(({ months, weekdays, christmas }) => [...months, ...weekdays, christmas])
  .join("|");
const NO_TIME = String.raw`(?! (?:d[eio] |del |l[ae] |el |il |o )?(?:${TIMES})(?!\p{L}))`;

/** Words that ask for what held before, folded, in the languages the calendar knows. */
const PAST = words(
  // English
  String.raw`used? to|previous(?:ly)?|former(?:ly)?|earlier|originally|original|back then|no longer|any ?more|at first|in the past|until then`,
  String.raw`before${NO_TIME}(?! (?:i|we|you|they|he|she|it|the|a|an|my|our|going|leaving|eating|doing|breakfast|lunch|dinner|bed)\b)`,
  String.raw`(?:was|were|did|had)\b.*\b(?:before${NO_TIME}|first|initially|once|${old("old")})|the old ones?`,
  String.raw`(?:^(?:the )?|(?:s|my|our|your|his|her|their) |(?:(?:what|which|who)(?:['’]?s| is| are)|tell me|show me|give me) the )${old("old")}`,
  // German, Dutch
  "fruher(?:e[nrsm]?)?|vorher(?:ige[nrsm]?)?|zuvor|ehemalige?[nrsm]?|ehemals|ursprunglich(?:e[nrsm]?)?|damals|einst|vorige[nrsm]?|bisherige[nrsm]?|bisher|letzte[nrsm]? mal noch",
  // "Im Alter von" is no "alter"; "wie hieß sie noch gleich?" asks for what holds.
  String.raw`${old(String.raw`alte[nsm]?|(?<!\b(?:im|das|dem|des|welche[ms]) )alter|oude`)}|hiess(?:en)?(?!.{0,80} (?:noch|nochmals?|gleich|doch)(?!\p{L}))`,
  "vroeger|voorheen|eerder|vorige?|oorspronkelijke?|destijds|eerst",
  // French
  String.raw`avant${NO_TIME}|auparavant|autrefois|anciennement|${old("ancien(?:ne)?s?")}|precedent(?:e|es|s)?|precedemment|jadis|a l'origine|d'avant|a l'epoque`,
  // Spanish, Portuguese
  `antes${NO_TIME}|${old("antigu?[oa]s?")}|anterior(?:es|mente)?|antiguamente|previ[oa]s?|originalmente|solia[nms]?|en aquel entonces|antigamente|costumava[ms]?|outrora|naquela altura`,
  // Italian
  `prima${NO_TIME}|${old("vecchi[oae]?")}|precedente(?:mente)?|precedenti|una volta|un tempo|in passato|in origine|originariamente|ex`,
  // French, Spanish and Portuguese, where a value is asked for.
  `(?:quel(?:le)?s?|qui|cual(?:es)?|quien|qual|quem)(?: (?:est|sont|etai(?:en)?t|es|son|eran?|e|sao|eram))? (?:l[ae]s?|el|los|mon|ma|notre|mis?|nuestr[oa]|[oa]s?|[oa] (?:meu|minha|noss[oa])) ${old("vieux|vieil(?:le)?s?|viej[oa]s?|velh[oa]s?")}`,
  // Russian, Polish, Swedish, Turkish
  String.raw`раньше|прежде|прежн\p{L}*|бывш\p{L}*|стар\p{L}*|wczesniej|poprzedni\p{L}*|kiedys|dawniej|stary|tidigare|forut|forr|gamla|onceki|eskiden|eski`,
);
/** … and in scripts without spaces between words. */
const PAST_UNSPACED = /以前|之前|从前|從前|原来|原來|曾经|曾經|かつて|昔|前の|前は|이전|예전|전에/u;

/** German verbs for what was, in a question that neither fears something nor tells how near it came. */
const WAS =
  /^(?!.*(?:angst|furcht|schutz|warn(?:t|en|ung)|(?:kurz|direkt) vor)).*(?<!\p{L})(?:war(?:en)?|hat|habe?[nt]?|hatten?|wurden?|hiess(?:en)?|fuhr(?:en)?|\p{L}{3,}te[nt]?)(?!\p{L})/su;
/** "Vor" before a name, or before a thing with its article. */
const VOR = /(?<![\p{L}\p{N}])[Vv]or (d(?:em|er|en) )?(\p{Lu}\p{L}+)/gu;
/** Nouns, in lower case, with which "vor" tells a place, a cause or a time that recurs. */
const NOT_REPLACED = new RegExp(
  String.raw`^(?:ort|alle[mn]|gericht|publikum|augen|freude|wut|gluck|hunger|ostern|pfingsten|silvester|neujahr|${TIMES})$|(?:jahr|monat|woche|tag|stunde|minute|abend|mittag|nacht|beginn|anfang|ende|schluss|ablauf|ferien|urlaub|reise|essen|stuck|sitzung|termin|prufung|training|spiel|operation|haus|hauser|hutte|gebaude|tur|tor|garage|hof|schule|kirche|fenster|laden|geschaft|markt|amt|buro|werkstatt|praxis|hotel|restaurant|park|wand|spiegel|einfahrt|eingang|treppe|stadt|dorf|grenze|kino|museum|klinik)[ens]{0,2}$`,
  "u",
);

/** "Wo wohnte Anna vor Husum?", "Welches Auto hatten wir vor dem Kia?" */
const asksBeforeAnother = (question: string, folded: string) =>
  WAS.test(folded) &&
  [...fold(question, { keepCase: true }).matchAll(VOR)].some(
    ([, article, noun = ""]) =>
      (article === undefined || /\bwelche|\bwas fur/.test(folded)) && !NOT_REPLACED.test(noun.toLowerCase()),
  );

/** Whether a question asks for what holds, or for what held before. */
export function tenseOf(question: string): Tense {
  const folded = fold(question);
  const isPast = PAST.test(folded) || PAST_UNSPACED.test(folded) || asksBeforeAnother(question, folded);
  return isPast ? "past" : "present";
}

/**
 * How much of the other's sum of terms the lesser of two must have to answer as well: where the later says that something
 * changed, and where it does not. Without a word of change they must also be more alike.
 */
const AS_GOOD_CHANGED = 0.7;
const AS_GOOD = 0.8;
/**
 * The same where one is linked to the other by a guess, which may be wrong. A question about the past often names what
 * came later ("before the Kia"), which the earlier one does not.
 */
const AS_GOOD_LINKED: Readonly<Record<Tense, number>> = { present: 0.6, past: 0.2 };
/** How alike they must be, with so many telling words in common. */
const LIKENESS_CHANGED = [0.65, 0.5, 0.42];
const LIKENESS_UNCHANGED = [0.7, 0.6];
const LEAST_LIKENESS = 0.4;
/** The same of two that give other values of one kind: a price, a time, a dose. */
const LIKENESS_OF_VALUES = 0.5;
/** A word tells what a memory is about only where at most so many of the best have it. */
const MAX_SHARING = 3;
/** So many of the best are looked at. */
export const LOOKED_AT = 12;
/** The share of its score that a memory keeps behind the one that goes before it. */
const BEHIND = 0.98;

interface Dated {
  readonly hit: RankedHit;
  /** Its sum of terms, or that of the one whose place it took: the next one must answer as well as that. */
  sum: number;
  readonly occurredAt: number;
  readonly successor: Ordinal | undefined;
  /** The successor is inferred, not told. */
  readonly isGuess: boolean;
  /** See `isNote`: of all else only what is told or linked supersedes it. */
  readonly isNote: boolean;
  windows(): readonly Float32Array[];
  readonly sessionId: string | null;
  readonly project: string | null;
  /** See `changeWords`. */
  changes(): ReadonlySet<string>;
  terms(): ReadonlySet<string>;
  /** Identifiers of the question that it has, as written. */
  readonly named: readonly string[];
  readonly content: string;
  /** See `Found.tokens`. */
  readonly matches: Float32Array | undefined;
}

export interface CurrencyOptions {
  readonly question: string;
  readonly tense: Tense;
  /** Only what happened until then supersedes; absent: everything. */
  readonly asOf: number | undefined;
  /** The time that the question names, so that it says itself which of two it means: only what was superseded steps back. */
  readonly period: Period | undefined;
  readonly tokens?: Found["tokens"];
}

/**
 * The hits so that of two like answers the one comes first that holds (or held, where the question speaks of the
 * past): it takes over the other's score, which falls just behind. All other scores stay.
 *
 * @param hits best first.
 */
export function currentFirst(
  store: Pick<MemoryStore, "catalogue" | "windowsOf">,
  hits: readonly RankedHit[],
  contents: ReadonlyMap<string, Pick<Memory, "content">>,
  { question, tense, asOf, period, tokens }: CurrencyOptions,
): RankedHit[] {
  const asked = new Set(identifiersOf(question));
  const best = hits.slice(0, LOOKED_AT).flatMap((hit): Dated[] => {
    const entry = store.catalogue.at(hit.ordinal);
    if (entry === undefined) return [];
    const content = contents.get(entry.id)?.content ?? "";
    const supersession = store.catalogue.supersession(hit.ordinal, asOf);
    const successor = supersession === undefined ? undefined : store.catalogue.find(supersession.by)?.ordinal;
    return [
      {
        hit,
        sum: sumOf(hit.score),
        occurredAt: entry.occurredAt,
        successor,
        isGuess: supersession?.how === "inferred",
        isNote: isNote(entry.traits, entry.sessionId) && entry.documentId === null,
        windows: once(() => store.windowsOf(hit.ordinal)),
        sessionId: entry.sessionId,
        project: entry.project,
        changes: once(() => changeWords(content)),
        terms: once(() => tellingTerms(content, entry.project)),
        content,
        matches: tokens?.of.get(hit.ordinal),
        named: asked.size === 0 ? [] : identifiersOf(content).filter((one) => asked.has(one)),
      },
    ];
  });
  let isAsBefore = true;
  const scores = new Map(best.map(({ hit }) => [hit.ordinal, hit.score]));
  const isThen = ({ occurredAt }: Dated) => period !== undefined && fit(period, occurredAt) === 1;
  const prefer = (first: Dated, second: Dated): void => {
    const [a, b] = [scores.get(first.hit.ordinal) ?? 0, scores.get(second.hit.ordinal) ?? 0];
    if (a >= b || (isThen(second) && !isThen(first))) return;
    isAsBefore = false;
    scores.set(first.hit.ordinal, b);
    scores.set(second.hit.ordinal, b * BEHIND);
    first.sum = Math.max(first.sum, second.sum);
  };
  const asksForRest = restOf(question, tokens?.weights);
  const inOrder = best.sort((a, b) => a.occurredAt - b.occurredAt || a.hit.ordinal - b.hit.ordinal);
  // Neighbours in time first, so that the last of several changes ends up in front.
  for (const [i, later] of inOrder.entries()) {
    for (const earlier of inOrder.slice(0, i).reverse()) {
      const isTold = earlier.successor === later.hit.ordinal && !earlier.isGuess;
      // The question names one of a series ("visit 57", "visit 58").
      const isNamed = earlier.named.some((one) => !later.named.includes(one));
      // What the later one does not tell still holds.
      if (!isTold && (isNamed || (tense === "present" && asksForRest(earlier, later)))) continue;
      const isLinked =
        earlier.successor === later.hit.ordinal &&
        (isTold || areAsGood(later, earlier, AS_GOOD_LINKED[tense]));
      const isLike = period === undefined && areAlike(later, earlier, best);
      if (!isLinked && !isLike) continue;
      if (tense === "present") prefer(later, earlier);
      else prefer(earlier, later);
    }
  }
  if (isAsBefore) return [...hits];
  return hits
    .map((hit): RankedHit => {
      const score = scores.get(hit.ordinal) ?? hit.score;
      if (score === hit.score) return hit;
      return { ...hit, score, shares: { ...hit.shares, currency: score - hit.score } };
    })
    .sort((a, b) => b.score - a.score || b.ordinal - a.ordinal);
}

/** A token of the question that the one has so much better is one that the other lacks. */
const BETTER = 0.25;
/** The share of the question, by weight of its tokens, that the later one must lack. */
const LACKED = 0.4;
const DAYS = Object.values(TIME_WORDS)
  .flatMap(({ months, weekdays }) => [...months, ...weekdays])
  .join("|");
/** Forms of answers: which questions ask for one, and which texts have one, both folded. */
const FORMS: readonly (readonly [asks: RegExp, has: RegExp])[] = [
  [
    words(
      "what time|at what hour|how late|how early|um wie ?viel uhr|wie spat|a quelle heure|a que horas?|a che ora|hoe laat|o ktorej|во сколько",
    ),
    /(?<!\d)\d{1,2}[:.h]\d\d(?!\d)|\d ?(?:am|pm|a\.m|p\.m|uhr|h|u)(?![\p{L}])/u,
  ],
  [
    words(
      "when|what time|(?:what|which|on which) (?:days?|dates?|weekdays?|evenings?|afternoons?|mornings?|nights?)|wann|an welche[mn] \\p{L}*tage?n?|welche[rn]? \\p{L}*(?:tage?n?|abend)|quand|quels? jours?|cuando|que dias?|quando|che giorn[oi]|in che giorn[oi]|wanneer|(?:op )?welke (?:dag(?:en)?|avond|middag)|kiedy|когда",
    ),
    new RegExp(
      String.raw`(?<!\d)\d{1,2}[:.h]\d\d(?!\d)|(?<![\p{L}])(?:${DAYS}|mon|tue|wed|thu|fri|sat|sun|mo|di|mi|do|fr|sa|so)s?(?![\p{L}])|\d{1,2}[./]\d{1,2}|\d ?(?:am|pm|uhr|h)(?![\p{L}])`,
      "u",
    ),
  ],
  [
    words(
      "how much|what (?:does|do|is|are) .{1,40} (?:cost|price|rate)s?|costs?|prices?|rates?|fees?|wie ?viel|kostet?|preis|combien|prix|tarif|cuanto|precio|quanto|prezzo|preco|hoeveel|prijs|tarief|ile kosztuje|сколько",
    ),
    /\d/u,
  ],
];

/**
 * Whether a question asks for something that the earlier one of two tells and the later one does not: a token of it that only the
 * earlier has, or a form of answer ("what time", "which day", "how much").
 */
function restOf(
  question: string,
  weights: Float32Array | undefined,
): (earlier: Dated, later: Dated) => boolean {
  const folded = fold(question);
  const forms = FORMS.filter(([asks]) => asks.test(folded)).map(([, has]) => has);
  return (earlier, later) => {
    const [before, after] = [fold(earlier.content), fold(later.content)];
    if (forms.some((has) => has.test(before) && !has.test(after))) return true;
    const { matches: own } = earlier;
    const { matches: other } = later;
    if (weights === undefined || own?.length !== weights.length || other?.length !== weights.length)
      return false;
    const lacked = weights.reduce((sum, weight, i) => {
      const difference = (own[i] ?? 0) - (other[i] ?? 0);
      return sum + (difference > BETTER ? weight : difference < -BETTER ? -weight : 0);
    }, 0);
    return lacked >= LACKED;
  };
}

/** Values, in folded texts, by kind: money, times of the day, measures, versions, long numbers. */
const VALUES: readonly RegExp[] = [
  /[€$£₹]\s?\d[\d.,]*|(?<![\d.,])\d[\d.,]*\s?(?:[€₹円]|(?:eur|euros?|dollars?|pounds?|usd|gbp|chf|francs?|franken|zl|kr|yen|rupees?|reais)(?!\p{L}))/gu,
  /(?<![\d.,])\d{1,2}[:.h]\d\d(?![\d.,])|(?<!\d)\d{1,2}\s?(?:am|pm|uhr|h)(?!\p{L})/gu,
  /(?<![\d.,])\d[\d.,]*\s?(?:mg|mcg|µg|ml|l|litres?|liters?|g|kg|km|m|cm|mm|nm|bar|gb|mb|kb|w|kw|%|hours?|h|days?|weeks?|min(?:utes?)?|stunden|tage|jours|heures|horas|dias|giorni|ore|uur|dagen)(?![\p{L}\d])/gu,
  /(?<![\d.])v?\d+\.\d+(?:\.\d+)*(?![\d.])/gu,
  /(?<![\d.,:])\d{4,}(?![\d.,:])/gu,
];

/** Whether two texts give values of one kind, and all of them are others. */
function isOtherValue(earlier: string, later: string): boolean {
  const [before, after] = [fold(earlier), fold(later)];
  return VALUES.some((kind) => {
    const values = new Set(before.match(kind));
    const others = after.match(kind) ?? [];
    return values.size > 0 && others.length > 0 && others.every((value) => !values.has(value));
  });
}

/** Letters, digits and signs between them, with a digit among them or of three parts: "3-2" is another one than "2-3". */
const IDENTIFIER = /[\p{L}\p{N}]+(?:[-–.:/_][\p{L}\p{N}]+)*/gu;

/** The numbers and identifiers of a text, folded, each in the order of its signs. */
const identifiersOf = (text: string): string[] =>
  (fold(text).replaceAll("–", "-").match(IDENTIFIER) ?? []).filter(
    (one) => /\d/.test(one) || one.split(/[-.:/_]/).length > 2,
  );

function areAsGood(a: Dated, b: Dated, share: number): boolean {
  return Math.min(a.sum, b.sum) >= share * Math.max(a.sum, b.sum);
}

function areAlike(later: Dated, earlier: Dated, best: readonly Dated[]): boolean {
  const isOneTalk = later.sessionId !== null && later.sessionId === earlier.sessionId;
  const isElsewhere = later.project !== null && earlier.project !== null && later.project !== earlier.project;
  if (!later.isNote || !earlier.isNote || isOneTalk || isElsewhere) return false;
  // First what takes least: texts are analysed of few.
  if (!areAsGood(later, earlier, AS_GOOD_CHANGED)) return false;
  const alike = likeness(later.windows(), earlier.windows());
  if (alike < LEAST_LIKENESS) return false;
  const shared = [...later.terms()].filter(
    (term) =>
      earlier.terms().has(term) && best.filter((dated) => dated.terms().has(term)).length <= MAX_SHARING,
  ).length;
  if (shared > 0 && alike >= LIKENESS_OF_VALUES && isOtherValue(earlier.content, later.content)) return true;
  const tellsChange = [...later.changes()].some((word) => !earlier.changes().has(word));
  if (!tellsChange && !areAsGood(later, earlier, AS_GOOD)) return false;
  const [alone, ...sharing] = tellsChange ? LIKENESS_CHANGED : LIKENESS_UNCHANGED;
  const least = shared === 0 ? alone : sharing[Math.min(shared, sharing.length) - 1];
  return alike >= (least ?? 1);
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
