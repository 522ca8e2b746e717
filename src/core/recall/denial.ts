import type { Ordinal } from "../ports.ts";
import { fold } from "../text/fold.ts";
import { LOOKED_AT, words } from "./currency.ts";
import { type RankedHit, scoreOf, sumOf } from "./ranking.ts";

/**
 * "What did we decide against?", "Was isst sie nicht?": vectors and tokens hardly tell a statement from its opposite, and
 * the words of denial are stop words. So they are compared here, in the best few only.
 */

/** Words that deny, folded, in the languages the calendar knows. */
const DENIAL = words(
  String.raw`not?|cannot|never|nor|neither|nothing|nobody|none|without|against|reject(?:ed|s)?|refuse[ds]?|declined?|avoid|gave up|\p{L}+n['’]t`,
  String.raw`nicht|kein\p{L}*|niemals|nie|nichts|niemand|ohne|gegen|niet|geen|nooit|zonder|niets`,
  String.raw`pas|jamais|sans|aucune?|rien|nunca|jamas|sin|ningun\p{L}*|nada|tampoco|non|mai|senza|nessun\p{L}*|niente|nao|sem|nenhum\p{L}*`,
  "не|нет|без|никогда|nigdy|bez|inte|aldrig|utan|ingen",
);
/** What a denial adds to the sum of terms where the question has one too. At .15 half as much is gained, at .6 no more. */
const SHARED_DENIAL = 0.4;

/** The hits, best first: of the first few those that deny something gain on the others, where the question does so too. */
export function denialsFirst(
  question: string,
  hits: readonly RankedHit[],
  contentOf: (ordinal: Ordinal) => string | undefined,
): readonly RankedHit[] {
  if (!DENIAL.test(fold(question))) return hits;
  return hits
    .map((hit, place): RankedHit => {
      const content = place < LOOKED_AT ? contentOf(hit.ordinal) : undefined;
      if (content === undefined || !DENIAL.test(fold(content))) return hit;
      const score = scoreOf(sumOf(hit.score) + SHARED_DENIAL);
      return { ...hit, score, shares: { ...hit.shares, denial: score - hit.score } };
    })
    .sort((a, b) => b.score - a.score || b.ordinal - a.ordinal);
}
