/** Whether a question asks for what holds, or for what held before, and whether it checks a value. */
import { identifiersOf } from "./identifiers.ts";
import { withoutListing } from "./question.ts";
import { expression, words } from "../text/expression.ts";
import { fold } from "../text/fold.ts";
import { fromLanguages, type Language, wordsOfAll } from "../text/languages.ts";

/** The state of a changed thing that a question asks for. */
export type Tense = "present" | "past";

/** The names of months, of days of the week and of Christmas, in all languages. */
function timesOf(languages: readonly Language[]): string {
  const { months, weekdays, christmas } = wordsOfAll(languages, "time");
  return `${months}|${weekdays}|${christmas}`;
}

/** Stands before a time in a question that `PAST` reads. */
const TIME_MARK = "\u0001";

/**
 * Words that ask for what held before, folded, in any language, and what stands between such a word and a time. The times of all
 * languages are no part of the words: a pattern that repeats them takes .15 s when it is first used.
 */
const PAST = fromLanguages((languages) => {
  const { beforeTime, notFormer, aged, formerUnspaced, obliged, ...question } = wordsOfAll(
    languages,
    "question",
  );
  const notOfTime = (source: string) => source.replaceAll("~", `(?!${TIME_MARK})`);
  const former = notOfTime(question.former)
    // "Old" of what was replaced, and not of an age or of one of several.
    .replaceAll("«", () => String.raw`(?<!\b(?:${notFormer}) )(?:`)
    .replaceAll("»", () => String.raw`)(?! (?:${aged})(?!\p{L}))`);
  return {
    asked: expression(`${words(former).source}|${formerUnspaced}`),
    earlier: words(notOfTime(question.earlier)),
    obliged: words(obliged),
    happened: words(question.happened),
    beforeTime: expression(String.raw`(?= (?:${beforeTime})?(?:${timesOf(languages)})(?!\p{L}))`, "g"),
  };
});

/** German verbs for what was, in a question that neither fears something nor tells how near it came. */
const WAS =
  /^(?!.*(?:angst|furcht|schutz|warn(?:t|en|ung)|(?:kurz|direkt) vor)).*(?<!\p{L})(?:war(?:en)?|hat|habe?[nt]?|hatten?|wurden?|hiess(?:en)?|fuhr(?:en)?|\p{L}{3,}te[nt]?)(?!\p{L})/su;
/** "Vor" before a name, or before a thing with its article. */
const VOR = /(?<![\p{L}\p{N}])[Vv]or (d(?:em|er|en) )?(\p{Lu}\p{L}+)/gu;
/** Nouns, in lower case, with which "vor" tells a place, a cause or a time that recurs. */
const NOT_REPLACED = fromLanguages((languages) =>
  expression(
    String.raw`^(?:ort|alle[mn]|gericht|publikum|augen|freude|wut|gluck|hunger|ostern|pfingsten|silvester|neujahr|${timesOf(languages)})$|(?:jahr|monat|woche|tag|stunde|minute|abend|mittag|nacht|beginn|anfang|ende|schluss|ablauf|ferien|urlaub|reise|essen|stuck|sitzung|termin|prufung|training|spiel|operation|haus|hauser|hutte|gebaude|tur|tor|garage|hof|schule|kirche|fenster|laden|geschaft|markt|amt|buro|werkstatt|praxis|hotel|restaurant|park|wand|spiegel|einfahrt|eingang|treppe|stadt|dorf|grenze|kino|museum|klinik)[ens]{0,2}$`,
  ),
);

/** "Wo wohnte Anna vor Husum?", "Welches Auto hatten wir vor dem Kia?" */
const asksBeforeAnother = (question: string, folded: string) =>
  WAS.test(folded) &&
  [...fold(question, { keepCase: true }).matchAll(VOR)].some(
    ([, article, noun = ""]) =>
      (article === undefined || /\bwelche|\bwas fur/.test(folded)) &&
      !NOT_REPLACED().test(noun.toLowerCase()),
  );

/** Whether a question asks for what holds, or for what held before. */
export function tenseOf(question: string): Tense {
  const folded = fold(question);
  const { asked, earlier, obliged, happened, beforeTime } = PAST();
  const marked = folded.replace(beforeTime, TIME_MARK);
  // "What must I do before merging?" asks of now, "can you tell me who it was before?" does not.
  const isOfNow = () => obliged.test(fold(withoutListing(question))) && !happened.test(folded);
  const isPast =
    asked.test(marked) || (earlier.test(marked) && !isOfNow()) || asksBeforeAnother(question, folded);
  return isPast ? "past" : "present";
}

const STILL = fromLanguages((languages) => words(wordsOfAll(languages, "question").still));
/** Before a value, folded: "the gate code is 4417". */
const IS = String.raw`[:=]|(?<!\p{L})(?:is|are|was|ist|sind|war|lautet|es|son|era|est|sont|e|sono|sao|zijn)`;

/**
 * Whether a question checks a value that a text has, of which a later one is no other thing: "does the gate code 4417 still work?" of "the
 * gate code is 4417", and not "is the heater in room 214 still broken?" of "room 214 has a broken heater".
 */
export function checksValue(question: string, contents: readonly string[]): boolean {
  if (!STILL().test(fold(question))) return false;
  const texts = contents.map((content) => fold(content));
  return identifiersOf(question).some((one) => {
    const value = one.replaceAll(/[./]/g, String.raw`\$&`);
    const isValue = new RegExp(
      String.raw`(?:${IS})\s*${value}(?![\p{L}\p{N}])|(?<![\p{L}\p{N}])${value}(?:[^\p{L}\p{N}]*$|[.!?]\s)`,
      "u",
    );
    return texts.some((text) => isValue.test(text));
  });
}
