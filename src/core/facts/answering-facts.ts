/** Facts by what they mean: which of them answer a question, and which say the same in other words. */
import { questionTerms } from "../text/analyser.ts";
import { cosine } from "../embedding.ts";
import { type Fact, foldText, nameKey } from "./fact.ts";
import { type FactFilter, type FactReads, countingFact, visitFacts, type AsOf } from "./fact-book.ts";
import { compareForList, type FactPorts } from "./fact-store.ts";

type Ports = Pick<FactPorts, "store" | "meanings">;

/** A fact with its score, in [0, 1]. */
export type ScoredFact = Fact & { readonly score: number };

interface AnsweringFactsInput extends FactFilter, AsOf {
  readonly question: string;
  /** Its embedding, where that is known. */
  readonly vector?: Float32Array | undefined;
  /** In [0, 1]. */
  readonly minScore?: number;
}

const MAX_ANSWERS = 10;
/** Looked at closely: those that the question names, else the newest. */
const MAX_LOOKED_AT = 2_000;
/** Facts below the line, or this far below the best, do not answer: 31 of 33 right ones are above it. */
const LINE = 0.4;
const SHARE_OF_BEST = 0.6;
/** Weight of all words of a question in a statement, beside its meaning. */
const WORDS = 0.5;

/**
 * The facts that answer a question, best first, at most 10: by meaning (the cosine with the whole statement) and by the
 * question's words that stand in it, `1 − (1 − meaning)(1 − words / 2)`; by words alone where the model cannot run. Without
 * `at` past and future ones too.
 */
export async function answeringFacts(
  { store, meanings }: Ports,
  input: AnsweringFactsInput,
): Promise<ScoredFact[]> {
  const { question, minScore = 0 } = input;
  const candidates = candidatesFor(store.catalogue.facts, input);
  if (candidates.length === 0) return [];
  const terms = questionTerms(question).map(({ term, weight }) => ({
    term,
    weight: weight * meanings.weightOf(term),
  }));
  const sumOf = (chosen: typeof terms) => chosen.reduce((sum, { weight }) => sum + weight, 0);
  const all = sumOf(terms) || 1;
  const statements = meanings.of(
    candidates.map(({ subject, predicate, object }) => [subject, predicate, object].map(plain).join(" ")),
  );
  const looked = statements.map((meaning, i) => ({
    fact: candidates[i] as Fact,
    meaning,
    words: sumOf(terms.filter(({ term }) => meaning.terms.has(term))) / all,
  }));
  looked.sort((a, b) => b.words - a.words);
  const vector = input.vector ?? (await meanings.vectorOf(question));
  await meanings.embed(looked.map(({ meaning }) => meaning));
  const scored = looked.map(({ fact, meaning, words }): ScoredFact => {
    const alike = likeness(vector, meaning.vector);
    const score = alike === undefined ? words : 1 - (1 - alike) * (1 - WORDS * words);
    return { ...fact, score: Math.min(1, score) };
  });
  const best = scored.reduce((highest, { score }) => Math.max(highest, score), 0);
  const line = Math.max(LINE, minScore, SHARE_OF_BEST * best);
  return scored
    .filter(({ score }) => score >= line)
    .sort((a, b) => b.score - a.score || compareForList(a, b))
    .slice(0, MAX_ANSWERS);
}

function candidatesFor(book: FactReads, input: AnsweringFactsInput): Fact[] {
  const found: Fact[] = [];
  visitFacts(book, input, (fact) => found.push(fact));
  if (found.length <= MAX_LOOKED_AT) return found;
  // Too many to look at closely, so names decide, each read once.
  const question = foldText(input.question);
  const named = new Map<string, boolean>();
  const isNamed = (name: string) => {
    const key = nameKey(name);
    const known = named.get(key) ?? (key.length > 1 && standsIn(question, key));
    named.set(key, known);
    return known;
  };
  const byName = found.filter(({ subject, object }) => isNamed(subject) || isNamed(object));
  const chosen = new Set([...byName, ...found.sort((a, b) => b.recordedAt - a.recordedAt)]);
  return [...chosen].slice(0, MAX_LOOKED_AT);
}

/** Scripts written without spaces, where a word may begin and end at any character. */
const UNSPACED =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u;

/** Whether a phrase stands in a text where words may begin and end. */
export function standsIn(text: string, phrase: string): boolean {
  const isEdge = (place: number) => {
    const before = Array.from(text.slice(Math.max(0, place - 2), place)).at(-1) ?? "";
    const after = Array.from(text.slice(place, place + 2))[0] ?? "";
    if (UNSPACED.test(before) || UNSPACED.test(after)) return true;
    return !/[\p{L}\p{N}]/u.test(before) || !/[\p{L}\p{N}]/u.test(after);
  };
  for (let place = text.indexOf(phrase); place >= 0; place = text.indexOf(phrase, place + 1))
    if (isEdge(place) && isEdge(place + phrase.length)) return true;
  return false;
}

const MAX_SIMILAR = 5;

/**
 * The facts of the same user and project that say something like a fact of the same subject, in another predicate of about
 * its meaning ("lives in", "resides in"), and are true when it begins: at most 5, the most similar first.
 */
export async function similarFacts({ store, meanings }: Ports, fact: Fact): Promise<Fact[]> {
  const key = nameKey(fact.predicate);
  const timelines = store.catalogue.facts
    .timelines({ subject: fact.subject, projects: [fact.project] })
    .filter(({ userId, predicateKey }) => userId === fact.userId && predicateKey !== key);
  const others = timelines.flatMap((timeline) =>
    timeline.facts.flatMap((history) => countingFact(history, { at: fact.validFrom }) ?? []),
  );
  if (others.length === 0) return [];
  const predicates = meanings.of([fact, ...others].map(({ predicate }) => plain(predicate)));
  await meanings.embed(predicates);
  return others
    .map((other, i) => ({ other, alike: likeness(predicates[0]?.vector, predicates[i + 1]?.vector) ?? 0 }))
    .filter(({ alike }) => alike >= meanings.similar)
    .sort((a, b) => b.alike - a.alike)
    .slice(0, MAX_SIMILAR)
    .map(({ other }) => other);
}

/** As a person would write it: `lives_in` is two words. */
const plain = (name: string): string => name.trim().replaceAll("_", " ");

/** Undefined where a vector is missing. */
const likeness = (a: Float32Array | undefined, b: Float32Array | undefined): number | undefined =>
  a === undefined || b === undefined ? undefined : Math.max(0, cosine(a, b));
