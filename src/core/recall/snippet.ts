import { analyse } from "../text/analyser.ts";
import { fold } from "../text/fold.ts";

/** A sentence with its marks and the space after it, or a line. */
const SENTENCE = /[^\n.!?。！？…]*(?:[.!?…]+(?=\s|$)|[。！？]+|[.!?…]+|\n|$)\s*/gu;
/** Longer sentences are cut at spaces into pieces of this many UTF-16 units. */
const PIECE_CHARS = 160;
const ELLIPSIS = "…";
/** A character with all that joins it (an emoji family) is hardly longer; in UTF-16 units. */
const LONGEST_CHARACTER = 64;
/** A text over this length is analysed only in the pieces that hold the beginning of a term, which takes a tenth of the time. */
const ANALYSED_WHOLE_CHARS = 20_000;
/** The beginning of a term. A stem begins as its word does, but for irregular forms. */
const HEAD = /^[\p{L}\p{N}]{1,4}/u;
const SEGMENTER = new Intl.Segmenter("en");

/**
 * The part of a text that says most of what is asked, at most `maxChars` UTF-16 units, with "…" where text was left
 * out. The whole text where it fits; its beginning where nothing that is asked is in it. It is cut between sentences
 * where they fit, else between words, and never within a character. Cost: linear in the text.
 *
 * @param termWeights what each of the question's terms counts, see `RankingQuestion.terms`
 */
export function snippetOf(text: string, maxChars: number, termWeights: ReadonlyMap<string, number>): string {
  const whole = text.trim();
  if (whole.length <= maxChars) return whole;
  const room = maxChars - 2 * ELLIPSIS.length;
  if (room < 1) return ELLIPSIS.slice(0, Math.max(0, maxChars));

  const pieces = piecesOf(whole, Math.min(PIECE_CHARS, room));
  const { from, to } = bestRun(pieces, room, termWeights, whole);
  const start = pieces[from]?.start ?? 0;
  const end = pieces[to]?.end ?? 0;
  const cut = whole.slice(start, end).trim();
  return (start > 0 ? ELLIPSIS : "") + cut + (end < whole.length ? ELLIPSIS : "");
}

/** UTF-16 offsets; pieces follow on each other and cover the text. */
interface Piece {
  readonly start: number;
  readonly end: number;
}

function piecesOf(text: string, longest: number): Piece[] {
  const pieces: Piece[] = [];
  for (const { 0: sentence, index } of text.matchAll(SENTENCE)) {
    const end = index + sentence.length;
    let start = index;
    while (end - start > longest) {
      const cut = pieceEnd(text, start, start + longest);
      pieces.push({ start, end: cut });
      start = cut;
    }
    if (end > start) pieces.push({ start, end });
  }
  return pieces;
}

/** After the last space, else between two characters; at the limit only where a single character is longer. */
function pieceEnd(text: string, start: number, limit: number): number {
  const space = text.slice(start, limit).search(/\s\S*$/u);
  if (space > 0) return start + space + 1;
  const from = Math.max(start, limit - LONGEST_CHARACTER);
  let edge = start;
  for (const { index } of SEGMENTER.segment(text.slice(from, limit + LONGEST_CHARACTER))) {
    if (from + index > limit) break;
    edge = Math.max(edge, from + index);
  }
  return edge > start ? edge : limit;
}

/** The first and last piece of the run within the room whose different terms weigh most; of equals the first. */
function bestRun(
  pieces: readonly Piece[],
  room: number,
  termWeights: ReadonlyMap<string, number>,
  text: string,
) {
  const heads = Array.from(termWeights.keys(), (term) => HEAD.exec(term)?.[0] ?? term);
  const mayHold = (piece: string): boolean => {
    if (text.length <= ANALYSED_WHOLE_CHARS) return true;
    const folded = fold(piece).replaceAll(",", "");
    return heads.some((head) => folded.includes(head));
  };
  const terms = pieces.map(({ start, end }) => {
    const piece = text.slice(start, end);
    return mayHold(piece) ? analyse(piece).filter((term) => termWeights.has(term)) : [];
  });
  const length = (from: number, to: number) => (pieces[to]?.end ?? 0) - (pieces[from]?.start ?? 0);
  const counts = new Map<string, number>();
  let weight = 0;
  const count = (piece: number, by: 1 | -1) => {
    for (const term of terms[piece] ?? []) {
      const now = (counts.get(term) ?? 0) + by;
      counts.set(term, now);
      if (now === (by === 1 ? 1 : 0)) weight += by * (termWeights.get(term) ?? 0);
    }
  };

  let best = { from: 0, to: 0, weight: 0 };
  let from = 0;
  for (let to = 0; to < pieces.length; to += 1) {
    count(to, 1);
    while (length(from, to) > room) {
      count(from, -1);
      from += 1;
    }
    // Rounding of what was added and taken away again must not look like a better run.
    if (weight > best.weight + 1e-9) best = { from, to, weight };
  }
  while (best.from < best.to && (terms[best.from]?.length ?? 0) === 0)
    best = { ...best, from: best.from + 1 };
  while (best.to + 1 < pieces.length && length(best.from, best.to + 1) <= room)
    best = { ...best, to: best.to + 1 };
  while (best.from > 0 && length(best.from - 1, best.to) <= room) best = { ...best, from: best.from - 1 };
  return best;
}
