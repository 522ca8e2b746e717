import { STOP_WORDS, TALK_WORDS } from "./stop-words.ts";

/** Rules of form for sentences that can stand alone in a summary; rules on words are for English. */

/** Beginnings of replies, greetings and thanks. */
const REPLY =
  /^(?:(?:yes|yeah|yep|yup|no|nope|nah|sure|okay|ok|oh|ooh|wow|hey|hi|hello|thanks|thank|thx|great|nice|cool|awesome|amazing|sounds|glad|congrats|congratulations|good|aww?|haha|lol|absolutely|definitely|totally|exactly|same|bye|take care|sorry|please|well|right|true|indeed|agreed|fantastic|wonderful|perfect|gotcha|see you|talk to you|let's|can't wait|what|how|why|when|where|who|which|is|are|do|does|did|can|could|would|have you)\b|(?:that|it|this)(?:'s|’s| is| was| sounds| looks| must)\b)/iu;
/** Beginnings that point to an earlier sentence. */
const POINTING_BACK =
  /^["'“‘]?(?:it|its|that|this|these|those|they|them|their|he|she|his|her|there|here|then|and|but|so|or|also|too|plus|because|which|who|such|both|either|neither|one|ones|some|another|others?|however|still|anyway|though|besides)\b/iu;
/** Words that address a particular person. */
const ADDRESSED = /\b(?:you|your|you're|you’re|you've|yours|yourself)\b/iu;
/** Times relative to the day of writing. */
const RELATIVE_TIME =
  /\b(?:yesterday|today|tonight|tomorrow|(?:last|next|this|past) (?:night|morning|evening|week|weekend|month|year|\p{L}+day)|ago|recently|lately|just now|soon)\b/iu;
/** Pronouns within, which may point back. */
const PRONOUN_WITHIN = /(?<=\S )(?:it|them|that|this|these|those|another|one|ones|there)\b/iu;
/** Words addressed to a reader, or about a picture beside the text. */
const TURNED =
  /\b(?:let's|let’s|here's|here’s|check out|take a look|gonna|pic|thanks)\b|^\p{Lu}[\p{L}\p{M}]+, /iu;
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu;
const NAME_OR_NUMBER = /(?<=\S )(?:\p{Lu}[\p{L}\p{M}]{2,}|\p{Lu}{2,})|\d/gu;
const QUESTION_END = /[?？؟]["'”’)\s]*$/u;
const EXCLAMATION_END = /[!！]["'”’)\s]*$/u;
const SENTENCE_END = /[.!?…。！？]["'”’»)\]]*$/u;

const FEW_WORDS = 5;
const BEST_WORDS = 9;
const MANY_WORDS = 32;
const MANY_CONTENT_WORDS = 5;

/** In (0, 1]: near 1 for a statement that needs nothing around it, near 0 for a reply, a question or a scrap. */
export function sentenceWorth(sentence: string): number {
  const words = sentence.match(/\S+/g)?.length ?? 0;
  let worth = 1;
  if (words < FEW_WORDS) worth *= 0.25;
  else if (words < BEST_WORDS) worth *= 0.75;
  else if (words > MANY_WORDS) worth *= 0.7;
  if (QUESTION_END.test(sentence)) worth *= 0.08;
  else if (EXCLAMATION_END.test(sentence)) worth *= 0.75;
  else if (!SENTENCE_END.test(sentence)) worth *= 0.9;
  if (REPLY.test(sentence)) worth *= 0.15;
  else if (POINTING_BACK.test(sentence)) worth *= 0.3;
  if (ADDRESSED.test(sentence)) worth *= 0.35;
  if (RELATIVE_TIME.test(sentence)) worth *= 0.75;
  if (PRONOUN_WITHIN.test(sentence)) worth *= 0.8;
  if (TURNED.test(sentence)) worth *= 0.4;
  worth *= Math.min(1, (1 + contentWords(sentence)) / (1 + MANY_CONTENT_WORDS));
  const names = Math.min(3, sentence.match(NAME_OR_NUMBER)?.length ?? 0);
  return worth * (0.7 + 0.3 * (names / 3));
}

/** Number of different words that carry content. */
function contentWords(sentence: string): number {
  const words = sentence.toLowerCase().match(WORD) ?? [];
  return new Set(words.filter((word) => word.length > 2 && !STOP_WORDS.has(word) && !TALK_WORDS.has(word)))
    .size;
}
