import { belongTogether, tellingTerms } from "../memories/infer-updates.ts";
import { dotOf, termVectors } from "../text/extractive-summary.ts";
import { type ContextItem, type ContextKind, withBefore } from "./context-item.ts";
import type { Candidate } from "./gather-items.ts";

interface Part {
  readonly title: string;
  readonly holds: (item: Candidate) => boolean;
  readonly share: number;
}
const ofKinds =
  (...kinds: readonly ContextKind[]): Part["holds"] =>
  ({ kind, answer }) =>
    answer === undefined && kinds.includes(kind);

/** The parts of a context, in order; each is sure of its share of the tokens, if it has so much to tell. An item is in one of them. */
const PARTS: readonly Part[] = [
  { title: "Answers", holds: ({ answer, isUnsure }) => answer !== undefined && isUnsure !== true, share: 1 },
  { title: "Perhaps answers", holds: ({ isUnsure }) => isUnsure === true, share: 1 },
  { title: "Preferences", holds: ofKinds("preference"), share: 0.22 },
  { title: "Decisions and corrections", holds: ofKinds("decision", "correction"), share: 0.28 },
  { title: "Facts", holds: ofKinds("fact"), share: 0.2 },
  { title: "Last worked on", holds: ofKinds("summary", "done"), share: 0.18 },
  { title: "Open", holds: ofKinds("open"), share: 0.12 },
];

/** Compared with one another, in each part. */
const MAX_COMPARED = 40;
/** Texts with a higher cosine of terms say the same. */
const SAME_TERMS = 0.7;
/** Numbers and identifiers, which change where the rest of a note stays. */
const WITH_DIGITS = /(?<![\p{L}\p{N}])[\p{L}\p{N}._-]{0,40}\d(?:[._-]?[\p{L}\p{N}]){0,40}/gu;
/** Terms that two notes must have beside a value that differs. */
const MIN_OF_VALUE = 2;
/** Share of the words of something open that a later note must have to be its end. */
const CLOSING = 0.6;
const MIN_CLOSING = 2;
/**
 * An item worth less is left out even where there is room, but for a few where there is hardly anything. Who asks for more than the usual
 * tokens gets what is worth less in proportion: an allergy that was noted two years ago.
 */
const LEAST_VALUE = 0.17;
const USUAL_TOKENS = 2_000;
const LEAST_OF_FEW = 0.02;
const FEW = 5;
/** Share of the words of a summary in other items from which on it adds nothing. */
const SAID = 0.8;

/**
 * The items to tell within a number of tokens, by parts: what answers the query in its order, else the most valuable first. Nothing
 * twice: of near-duplicates the later one, no summary of what other items say; nothing open that a later note says is done. The same
 * candidates give the same items. Parts without items are left out.
 * @param costOf tokens of an item's line.
 * @param titleCostOf tokens of a part's title.
 */
export function chooseItems(
  candidates: readonly Candidate[],
  tokens: number,
  costOf: (item: ContextItem) => number,
  titleCostOf: (title: string) => number,
): { readonly title: string; readonly items: readonly Candidate[] }[] {
  const leastValue = LEAST_VALUE * Math.min(1, USUAL_TOKENS / tokens);
  const usable = withoutSaid(
    withoutRepeats(withoutClosed(candidates)).filter(
      ({ value, answer }, place) =>
        answer !== undefined || value >= (place < FEW ? LEAST_OF_FEW : leastValue),
    ),
  );
  const parts = PARTS.map((part) => ({
    ...part,
    usable: usable.filter(part.holds).sort(byAnswer),
    chosen: [] as Candidate[],
  }));
  let left = tokens;
  const take = (item: Candidate, { title, chosen }: (typeof parts)[number]): number => {
    const cost = costOf(item) + (chosen.length === 0 ? titleCostOf(title) : 0);
    if (cost > left) return 0;
    chosen.push(item);
    left -= cost;
    return cost;
  };
  for (const part of parts) {
    let share = tokens * part.share;
    for (const item of part.usable) if (costOf(item) <= share) share -= take(item, part);
  }
  for (const item of usable) {
    const part = parts.find(({ holds }) => holds(item));
    if (part !== undefined && !part.chosen.includes(item)) take(item, part);
  }
  return parts.flatMap(({ title, chosen }) =>
    chosen.length === 0 ? [] : [{ title, items: chosen.sort(byAnswer) }],
  );
}

const byAnswer = (a: Candidate, b: Candidate): number => (a.answer ?? 0) - (b.answer ?? 0) || byValue(a, b);

const byValue = (a: Candidate, b: Candidate): number =>
  b.value - a.value || b.at - a.at || (a.id < b.id ? -1 : 1);

/** Keeps the later of items that say the same, with the value before where two differ in one; the most valuable first. */
function withoutRepeats(candidates: readonly Candidate[]): Candidate[] {
  const best = PARTS.flatMap(({ holds }) =>
    candidates.filter(holds).sort(byValue).slice(0, MAX_COMPARED),
  ).sort(byValue);
  const vectors = termVectors(best.map(({ text }) => text.replaceAll(WITH_DIGITS, " ")));
  const values = best.map(({ text }) => new Set(text.match(WITH_DIGITS)));
  const like = best.map((_, i) =>
    best.flatMap((_, j) => {
      const [a, b] = [vectors[i] ?? new Map(), vectors[j] ?? new Map()];
      const [one, other] = [best[i], best[j]];
      const mayRepeat =
        one !== other && one !== undefined && other !== undefined && belongTogether(one, other);
      return mayRepeat && dotOf(a, b) > SAME_TERMS ? [j] : [];
    }),
  );
  const says = (j: number, i: number): boolean =>
    [...(values[i] ?? [])].every((value) => values[j]?.has(value) === true);
  const isLater = (j: number, i: number): boolean =>
    byTime(best[i], best[j]) < 0 || (byTime(best[i], best[j]) === 0 && j < i);
  const left = best.map(({ text }) => text);
  const isRepeat = best.map((item, i) => {
    const later = (like[i] ?? []).filter((j) => isLater(j, i));
    if (later.some((j) => says(j, i))) return true;
    // One of two differs in a number; three and more are a series.
    const [other, ...more] = like[i] ?? [];
    const isOther = other !== undefined && more.length === 0 && like[other]?.length === 1;
    if (!isOther || !later.includes(other) || (vectors[i]?.size ?? 0) < MIN_OF_VALUE) return false;
    left[other] = withBefore(left[other] ?? "", item.text);
    return true;
  });
  return best.flatMap((item, i) => (isRepeat[i] === true ? [] : { ...item, text: left[i] ?? item.text }));
}

const byTime = (a?: Candidate, b?: Candidate): number => (a?.at ?? 0) - (b?.at ?? 0);

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
