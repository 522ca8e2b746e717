import { tellingTerms } from "../memories/infer-updates.ts";
import { dotOf, termVectors } from "../text/extractive-summary.ts";
import type { ContextItem, ContextKind } from "./context-item.ts";
import type { Candidate } from "./gather-items.ts";

/** The parts of a context, in order; each is sure of its share of the tokens, if it has so much to tell. */
export const PARTS: readonly {
  readonly title: string;
  readonly kinds: readonly ContextKind[];
  readonly share: number;
}[] = [
  { title: "Preferences", kinds: ["preference"], share: 0.22 },
  { title: "Decisions and corrections", kinds: ["decision", "correction"], share: 0.28 },
  { title: "Facts", kinds: ["fact"], share: 0.2 },
  { title: "Last worked on", kinds: ["summary", "done"], share: 0.18 },
  { title: "Open", kinds: ["open"], share: 0.12 },
];

/** Compared with one another, in each part. */
const MAX_COMPARED = 40;
/** Texts with a higher cosine of terms say the same. */
const SAME_TERMS = 0.7;
/** Share of the words of something open that a later note must have to be its end. */
const CLOSING = 0.6;
const MIN_CLOSING = 2;
/** An item worth less is left out even where there is room, but for a few where there is hardly anything. */
const LEAST_VALUE = 0.17;
const LEAST_OF_FEW = 0.02;
const FEW = 5;
/** Share of the words of a summary in other items from which on it adds nothing. */
const SAID = 0.8;

/**
 * The items to tell within a number of tokens, by parts, in each the most valuable first. Nothing twice: of near-duplicates the
 * later one, no summary of what other items say; nothing open that a later note says is done. The same candidates give the same items.
 *
 * @param costOf tokens of an item's line.
 * @param titleCostOf tokens of a part's title.
 */
export function chooseItems(
  candidates: readonly Candidate[],
  tokens: number,
  costOf: (item: ContextItem) => number,
  titleCostOf: (title: string) => number,
): Candidate[] {
  const usable = withoutSaid(
    withoutRepeats(withoutClosed(candidates)).filter(
      ({ value }, place) => value >= (place < FEW ? LEAST_OF_FEW : LEAST_VALUE),
    ),
  );
  const chosen: Candidate[] = [];
  let left = tokens;
  const take = (item: Candidate, part: (typeof PARTS)[number]): number => {
    const isFirst = !chosen.some(({ kind }) => part.kinds.includes(kind));
    const cost = costOf(item) + (isFirst ? titleCostOf(part.title) : 0);
    if (cost > left) return 0;
    chosen.push(item);
    left -= cost;
    return cost;
  };
  for (const part of PARTS) {
    let share = tokens * part.share;
    for (const item of usable) {
      if (!part.kinds.includes(item.kind) || costOf(item) > share) continue;
      share -= take(item, part);
    }
  }
  const told = new Set(chosen);
  for (const item of usable) {
    const part = PARTS.find(({ kinds }) => kinds.includes(item.kind));
    if (part !== undefined && !told.has(item)) take(item, part);
  }
  return PARTS.flatMap(({ kinds }) => chosen.filter(({ kind }) => kinds.includes(kind)).sort(byValue));
}

function byValue(a: Candidate, b: Candidate): number {
  return b.value - a.value || b.at - a.at || (a.id < b.id ? -1 : 1);
}

/** The most valuable first. */
function withoutRepeats(candidates: readonly Candidate[]): Candidate[] {
  const ofPart = ({ kinds }: (typeof PARTS)[number]) =>
    candidates.filter(({ kind }) => kinds.includes(kind)).sort(byValue);
  const best = PARTS.flatMap((part) => ofPart(part).slice(0, MAX_COMPARED)).sort(byValue);
  const vectors = termVectors(best.map(({ text }) => text));
  const isRepeat = best.map((item, i) =>
    best.some(
      (other, j) =>
        i !== j &&
        dotOf(vectors[i] ?? new Map(), vectors[j] ?? new Map()) > SAME_TERMS &&
        (other.at > item.at || (other.at === item.at && j < i)),
    ),
  );
  return best.filter((_, i) => isRepeat[i] === false);
}

function withoutSaid(items: readonly Candidate[]): Candidate[] {
  const others = items.filter(({ kind }) => kind !== "summary");
  const said = new Set(others.flatMap(({ text, project }) => [...tellingTerms(text, project)]));
  return items.filter(({ kind, text, project }) => {
    if (kind !== "summary") return true;
    const terms = [...tellingTerms(text, project)];
    return terms.filter((term) => said.has(term)).length < SAID * terms.length;
  });
}

/** Without open ends of which a later note says that they are done or decided. */
function withoutClosed(candidates: readonly Candidate[]): Candidate[] {
  const ends = candidates
    .filter(({ kind }) => kind === "done" || kind === "summary" || kind === "decision")
    .map(({ text, at, project }) => ({ at, terms: tellingTerms(text, project) }));
  return candidates.filter(({ kind, text, at, project }) => {
    if (kind !== "open") return true;
    const terms = [...tellingTerms(text, project)];
    const least = Math.max(MIN_CLOSING, CLOSING * terms.length);
    return !ends.some((end) => end.at >= at && terms.filter((term) => end.terms.has(term)).length >= least);
  });
}
