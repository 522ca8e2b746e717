import { tellingTerms } from "../../core/memories/infer-updates.ts";
import { shortened } from "../../core/text/text-size.ts";

/** A sentence against something said before: "no, the port is 4311 now, not 4310". */
export interface Correction {
  /** Without the words of a reply at its beginning. */
  readonly text: string;
  /** The value that holds no longer, if it is named. */
  readonly old: string | undefined;
  /** It can be understood without what was said before. */
  readonly isAlone: boolean;
}

/** Words of a reply, and of the correcting itself. */
const REPLY =
  /^(?:(?:no+|nope|nah|nein|non|n[ãa]o|nee|нет|nie|doch|wrong|falsch|faux|falso|errado|fout|erreur|correction|korrektur|correcci[oó]n|corre[cç][aã]o|correzione|correctie|scratch that|sorry|wait|stop)(?:[,:;.!–—-]+\s*|\s+(?=actually|wait|sorry))|(?:actually|in fact|eigentlich|en fait|en realidad|in realt[àa]|na verdade|na realidade|eigenlijk)[,:]?\s+|(?:that(?:'s| is)|das ist|c'est|eso es|questo è|isso está|dat is) (?:wrong|incorrect|not (?:right|correct|true)|falsch|nicht (?:richtig|korrekt)|faux|inexact|falso|incorrecto|sbagliato|errado|fout|onjuist)[,:;.–—-]+\s*|(?:i (?:meant|said)|ich (?:meinte|sagte)|je voulais dire|j'ai dit|quer[ií]a de[cz]ir|queria dizer|volevo dire|intendevo|ik bedoelde)[,:]?\s+|(?:das stimmt|dat klopt) (?:so )?(?:nicht|niet)[,:;.–—-]+\s*)/iu;
const MAX_REPLIES = 4;

const NOT = "(?:not|nicht|pas|no|non|n[ãa]o|niet)";
const VALUE = String.raw`((?:(?!\b(?:any ?more|mehr|plus|m[áa]s|più|mais|meer)\b)[^,;.!?]|[.](?=\S)){1,60}?)`;
/** Forms that name what holds no longer. */
const OLD = [
  new RegExp(String.raw`(?:,| and| und| et| y| e| en) ?${NOT} ${VALUE}(?=[,;!]|\.(?:\s|$)|$)`, "iu"),
  new RegExp(
    String.raw`(?<![\p{L}])${NOT} (?:mehr )?${VALUE},? (?:sondern|but|sino|ma|bensì|mas|mais|maar) `,
    "iu",
  ),
  new RegExp(
    String.raw`(?:instead of|rather than|anstatt|statt|au lieu de|plutôt que|en vez de|en lugar de|invece di|em vez de|in plaats van) ${VALUE}(?=[,;!]|\.(?:\s|$)|$)`,
    "iu",
  ),
];

/** Begins with a word for something that was named before. */
const POINTING =
  /^(?:it|its|it's|that|that's|this|these|those|he|she|they|there|here|es|das|dies\w*|er|sie|dort|hier|c'est|ce|ça|cela|il|elle|ils|elles|eso|esto|es|ese|esa|él|ella|questo|quello|è|isso|isto|é|ele|ela|dat|dit|het|hij|zij|ze)(?![\p{L}])/iu;
/** Speaks of a part of what was on the screen. */
const ON_SCREEN =
  /^(?:the|this|that|der|die|das|le|la|el|il|o|a|de|het) (?:function|method|button|line|test|value|result|output|column|label|title|text|colou?r|variable|parameter|argument|loop|funktion|methode|zeile|wert|ergebnis|spalte|farbe|titel|fonction|bouton|ligne|valeur|couleur|bot[óo]n|l[íi]nea|valor|funzione|pulsante|riga|valore|bot[ãa]o|linha|knop|regel|waarde|functie) /iu;
/** The person and their project need no name. */
const OWN =
  /(?<![\p{L}])(?:i|i'm|my|we|we're|our|us|ich|mein\w*|wir|uns\w*|je|j|mon|ma|mes|nous|notre|nos|on|yo|mi|mis|nosotros|nuestr\w*|io|mio|mia|noi|nostr\w*|eu|meu|minha|nós|noss\w*|ik|mijn|wij|we|ons|onze)(?![\p{L}])/iu;
/** A name or an identifier, no mere number, and no German noun with its article. */
const NAMED =
  /(?<=\S )(?<!(?:^|\s)(?:der|die|das|dem|den|des|eine?[mnrs]?) )\p{Lu}[\p{L}\p{M}]{2,}|`[^`\p{L}]{0,20}\p{L}[^`]{0,80}`|\b\p{L}+[._/-]\p{L}+/u;
const ARTICLE = /^(?:the|der|die|das|den|dem|les?|la|los|las|el|il|lo|os?|as?|de|het|on|at|in|auf|am)\s+/iu;
const NOW =
  /(?<![\p{L}])(?:now|currently|jetzt|derzeit|inzwischen|maintenant|ahora|adesso|ora|agora|nu)(?![\p{L}])/giu;
/** One person, and no group. */
const I =
  /(?<![\p{L}])(?:i|i'm|my|ich|mein\w*|je|j|mon|ma|mes|yo|mi|mis|io|mio|mia|eu|meu|minha|ik|mijn)(?![\p{L}])/iu;
const MIN_WORDS = 3;
/** Without what holds no longer. */
const MIN_HOLDING_WORDS = 2;
/** A subject of fewer telling words does not say which: "the staging database's port" does. */
const TELLING_SUBJECT = 2;

/** @returns undefined where nothing is left that says what holds. */
export function readCorrection(sentence: string): Correction | undefined {
  const text = withoutReply(sentence);
  if (text.split(/\s+/).length < MIN_WORDS) return undefined;
  const { old, holding } = partsOf(text);
  if (holding.split(/\s+/).length < MIN_HOLDING_WORDS) return undefined;
  const isAlone =
    !POINTING.test(text) &&
    !ON_SCREEN.test(text) &&
    (OWN.test(text) || NAMED.test(holding) || subjectOf(holding).length >= TELLING_SUBJECT);
  return { text: text.charAt(0).toUpperCase() + text.slice(1), old, isAlone };
}

/** The value that holds no longer, if it is named, and the rest of the sentence. */
function partsOf(text: string): { readonly old: string | undefined; readonly holding: string } {
  const found = OLD.flatMap((form) => form.exec(text) ?? []);
  return {
    old: found[1]?.trim().replace(ARTICLE, ""),
    holding: text
      .replace(found[0] ?? "", " ")
      .replace(NOW, " ")
      .trim(),
  };
}

const subjectOf = (holding: string): string[] =>
  [...tellingTerms(holding.replace(ARTICLE, ""), null)].filter((term) => !/\d/.test(term));

function withoutReply(sentence: string): string {
  let text = sentence.trim().replaceAll(/\s+/g, " ");
  for (let count = 0; count < MAX_REPLIES; count += 1) {
    const [reply = ""] = REPLY.exec(text) ?? [];
    if (reply === "") break;
    text = text.slice(reply.length);
  }
  return text;
}

/** Whether a sentence begins with words of a reply: "no, …". */
export const isReply = (sentence: string): boolean => REPLY.test(sentence.trim());

/** Whether an earlier text says what a correction ends: it has the value, as a word of its own, and speaks of the same. */
export function isCorrectedBy(earlier: string, { text, old }: Correction): boolean {
  if (old === undefined) return false;
  const value = old.toLowerCase();
  const at = earlier.toLowerCase().indexOf(value);
  const isPart = (character: string | undefined) => /[\p{L}\p{N}_]/u.test(character ?? "");
  if (at < 0 || isPart(earlier[at - 1]) || isPart(earlier[at + value.length])) return false;
  // It says the same.
  if (partsOf(earlier).old?.toLowerCase() === value) return false;
  const own = tellingTerms(text.replace(old, " "), null);
  return [...tellingTerms(earlier, null)].some((term) => own.has(term) && !value.includes(term));
}

/**
 * Whether a correction takes the place of an earlier text: it is about the same thing by all telling words, of which the
 * last may be the new value, and about the same person. "I live in Lisbon, not Porto" leaves "Maria lives in Porto".
 */
export function isEndedBy(earlier: string, correction: Correction): boolean {
  if (!isCorrectedBy(earlier, correction) || I.test(earlier) !== I.test(correction.text)) return false;
  const subject = subjectOf(partsOf(correction.text).holding);
  const terms = tellingTerms(earlier, null);
  return subject.slice(0, Math.max(1, subject.length - 1)).every((term) => terms.has(term));
}

const MAX_BEFORE_CHARS = 200;

/** The correction with what it ends, so that it says what it is about. */
export const withBefore = ({ text }: Correction, before: string): string =>
  `${/[.!]$/.test(text) ? text : `${text}.`} (Before: ${shortened(before.replace(/\s+/g, " ").trim(), MAX_BEFORE_CHARS)})`;
