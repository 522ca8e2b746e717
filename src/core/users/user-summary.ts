import { chooseItems } from "../context/choose-items.ts";
import { gatherNotes } from "../context/gather-items.ts";
import { notFound } from "../errors.ts";
import { visitFacts } from "../facts/fact-book.ts";
import { presentOf } from "../facts/fact-store.ts";
import { findFacts } from "../facts/find-facts.ts";
import { countMemories } from "../memories/list-memories.ts";
import type { MemoryPorts } from "../memories/memory-ports.ts";
import { estimateTokens } from "../text/text-size.ts";
import { fold } from "../text/fold.ts";
import { stem } from "../text/stemmer.ts";
import { isTopical } from "../text/sentences.ts";
import type { WordFrequencies } from "../text/stop-words.ts";

/** Tokens of all highlights together, some ten sentences. */
const MAX_TOKENS = 320;
/** Number of the newest notes, and of documents, that are told where other notes tell little. */
const OTHERS = 3;
const MAX_FACTS = 20;
const MAX_TAGS = 10;
const MAX_PHRASES = 10;
/** Of a text that is searched for phrases. */
const MAX_CHARS = 1_000;

/**
 * A user's records at this moment, in short: sentences of the notes that a context would tell, in the order of time; key phrases; at most
 * 20 of the facts valid now, in list order; figures. Nothing of it is kept. Cost: see `gatherNotes`.
 * @throws {ServiceError} NOT_FOUND for a user with nothing stored.
 */
export async function userSummary(
  ports: Pick<MemoryPorts, "store" | "clock" | "frequencies" | "nextTurn" | "timeZone">,
  { userId }: { readonly userId: string },
) {
  const { clock, frequencies } = ports;
  const { catalogue } = ports.store;
  const documents = catalogue.documents.documentsOf(userId).sort((a, b) => a.order - b.order);
  const others = [
    ...catalogue.page({ userId, documents: false }, { limit: OTHERS, offset: 0 }).ids,
    ...documents.slice(-OTHERS).map(({ rootMemoryId }) => rootMemoryId),
  ];
  const { notes, memories, speakers } = await gatherNotes(ports, { userId }, undefined, others);
  const figures = catalogue.users().get(userId);
  let factCount = 0;
  visitFacts(catalogue.facts, { userId }, () => (factCount += 1));
  if (figures === undefined && factCount === 0 && documents.length === 0)
    throw notFound("There is nothing stored of a user with this id.");
  const tags = await countMemories(ports, { filter: { userId }, by: "tag", limit: MAX_TAGS });
  const chosen = chooseItems(
    notes.filter(({ id }) => memories.get(id)?.superseded === null),
    MAX_TOKENS,
    ({ text }) => estimateTokens(text),
    () => 0,
  ).flatMap(({ items }) => items);
  const orderOf = (id: string) => memories.get(id)?.order ?? 0;
  const highlights = chosen
    .sort((a, b) => a.at - b.at || orderOf(a.id) - orderOf(b.id))
    .map(({ id, text }) => ({ memoryId: id, text }));
  const { facts } = findFacts(ports, {
    userId,
    at: presentOf(clock, catalogue.facts.latestRecordedAt),
    limit: MAX_FACTS,
  });
  const statements = facts.map(({ subject, predicate, object }) => `${subject} ${predicate} ${object}`);
  const texts = [...memories.values()].map(({ content }) => content.slice(0, MAX_CHARS));
  return {
    userId,
    text: [
      highlights.map(({ text }) => text).join("\n"),
      statements.length === 0 ? "" : `Now: ${statements.join("; ")}.`,
    ]
      .filter((part) => part !== "")
      .join("\n\n"),
    highlights,
    keyPhrases: keyPhrases(texts, frequencies, MAX_PHRASES, speakers),
    facts,
    factCount,
    memories: figures?.count ?? 0,
    sectors: catalogue.sectorCounts({ userId }),
    topTags: tags.items.map(({ key, count }) => ({ tag: key ?? "", count })),
    firstMemoryAt: figures?.firstAt ?? null,
    lastMemoryAt: figures?.lastAt ?? null,
    updatedAt: clock.now(),
  };
}

export type UserSummary = Awaited<ReturnType<typeof userSummary>>;

const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*(?:['’.\-_/@+#][\p{L}\p{N}\p{M}]+)*[+#]*/gu;
const CONTRACTION = /['’](?:s|t|m|re|ve|ll|d)$/iu;
/** Words that more texts of any language have are no topic. */
const MAX_SHARE = 1 / 45;
/** How much more two words side by side say than the rarer of them alone. */
const PAIR_WEIGHT = 2.2;
/** A word is no phrase beside a chosen pair that this share of its texts has. */
const COVERED_SHARE = 0.5;
/** From this number of texts on a phrase must stand in two; a pair always must. */
const MANY_TEXTS = 10;

interface Phrase {
  readonly words: readonly string[];
  readonly weight: number;
  texts: number;
  readonly spellings: Map<string, number>;
}

/**
 * The topics of texts in phrases of one or two words: first those that many texts have and that are rare in any language.
 * Forms of a word count together. The same texts always give the same phrases. Cost: linear.
 * @param ignored folded names that are no topic, nor are short forms of them: those who speak.
 */
export function keyPhrases(
  texts: readonly string[],
  frequencies: WordFrequencies,
  limit: number,
  ignored: readonly string[] = [],
): string[] {
  const phrases = new Map<string, Phrase>();
  const topics = new Map<string, Topic | null>();
  const topicIn = (word: string): Topic | null => {
    let topic = topics.get(word);
    if (topic === undefined) topics.set(word, (topic = topicOf(word, frequencies, ignored)));
    return topic;
  };
  for (const text of texts) {
    for (const [spelling, { words, weight }] of phrasesOf(text, topicIn)) {
      const key = words.join(" ");
      const phrase = phrases.get(key) ?? { words, weight, texts: 0, spellings: new Map<string, number>() };
      phrase.texts += 1;
      phrase.spellings.set(spelling, (phrase.spellings.get(spelling) ?? 0) + 1);
      phrases.set(key, phrase);
    }
  }
  const chosen: Phrase[] = [];
  const isSaid = ({ words, texts: count }: Phrase) =>
    chosen.some(
      (known) =>
        known.words.some((word) => words.includes(word)) &&
        (known.words.length <= words.length || known.texts >= COVERED_SHARE * count),
    );
  const isEnough = ({ words, texts: count }: Phrase) =>
    count > 1 || (texts.length < MANY_TEXTS && words.length === 1);
  const sorted = [...phrases.values()]
    .filter(isEnough)
    .sort((a, b) => b.texts * b.weight - a.texts * a.weight);
  for (const phrase of sorted) if (chosen.length < limit && !isSaid(phrase)) chosen.push(phrase);
  // The most frequent spelling, rather in lower case.
  const spellingOf = ({ spellings }: Phrase) =>
    [...spellings].sort((a, b) => b[1] - a[1] || (a[0] > b[0] ? -1 : 1))[0]?.[0] ?? "";
  return chosen.map(spellingOf);
}

/** A word that may be a topic, by its stem; it weighs the more the rarer it is. */
type Topic = { readonly term: string; readonly weight: number };

function topicOf(word: string, frequencies: WordFrequencies, ignored: readonly string[]): Topic | null {
  const bare = fold(word);
  const term = stem(bare);
  const share = frequencies(term);
  const isTopic =
    share < MAX_SHARE &&
    term.length > 2 &&
    /\p{L}/u.test(term) &&
    isTopical(bare) &&
    !CONTRACTION.test(word) &&
    !ignored.some((name) => name.startsWith(bare));
  return isTopic ? { term, weight: -Math.log(share) } : null;
}

/** The phrases of a text, once each, by how they are written. */
function phrasesOf(text: string, topicIn: (word: string) => Topic | null) {
  const found = new Map<string, Pick<Phrase, "words" | "weight">>();
  const seen = new Set<string>();
  const add = (spelling: string, words: readonly string[], weight: number) => {
    if (!seen.has(words.join(" "))) found.set(spelling, { words, weight });
    seen.add(words.join(" "));
  };
  let last: (Topic & { readonly start: number }) | undefined;
  let end = 0;
  for (const { 0: word, index: start } of text.matchAll(WORD)) {
    const isBeside = text.slice(end, start) === " ";
    end = start + word.length;
    const topic = topicIn(word);
    if (topic !== null) {
      const { term, weight } = topic;
      add(word, [term], weight);
      if (isBeside && last !== undefined)
        add(text.slice(last.start, end), [last.term, term], PAIR_WEIGHT * Math.max(last.weight, weight));
    }
    last = topic === null ? undefined : { ...topic, start };
  }
  return found;
}
