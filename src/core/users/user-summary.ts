import { chooseItems } from "../context/choose-items.ts";
import { gatherNotes } from "../context/gather-items.ts";
import { notFound } from "../errors.ts";
import { visitFacts } from "../facts/fact-book.ts";
import { presentOf } from "../facts/fact-store.ts";
import { findFacts } from "../facts/find-facts.ts";
import type { MemoryPorts } from "../memories/memory-ports.ts";
import { type Sector, SECTORS } from "../memory.ts";
import type { CatalogueEntry } from "../ports.ts";
import { keyPhrases } from "../text/key-phrases.ts";
import { estimateTokens } from "../text/text-size.ts";

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
  ports: Pick<MemoryPorts, "store" | "clock" | "frequencies" | "nextTurn">,
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
  const entries = catalogue
    .select({ userId })
    .list()
    .flatMap((ordinal) => catalogue.at(ordinal) ?? []);
  let factCount = 0;
  visitFacts(catalogue.facts, { userId }, () => (factCount += 1));
  if (entries.length === 0 && factCount === 0 && documents.length === 0)
    throw notFound("There is nothing stored of a user with this id.");
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
    ...figuresOf(entries),
    updatedAt: clock.now(),
  };
}

export type UserSummary = Awaited<ReturnType<typeof userSummary>>;

/** Memories by primary sector, the most frequent tags, and when the earliest and the latest memory happened. */
function figuresOf(entries: readonly CatalogueEntry[]) {
  const sectors = Object.fromEntries(SECTORS.map((sector) => [sector, 0])) as Record<Sector, number>;
  const tags = new Map<string, number>();
  let firstMemoryAt: number | null = null;
  let lastMemoryAt: number | null = null;
  for (const { primarySector, occurredAt, tags: own } of entries) {
    sectors[primarySector] += 1;
    for (const tag of new Set(own)) tags.set(tag, (tags.get(tag) ?? 0) + 1);
    firstMemoryAt = Math.min(firstMemoryAt ?? occurredAt, occurredAt);
    lastMemoryAt = Math.max(lastMemoryAt ?? occurredAt, occurredAt);
  }
  const topTags = Array.from(tags, ([tag, count]) => ({ tag, count }))
    .sort((a, b) => b.count - a.count || (a.tag < b.tag ? -1 : 1))
    .slice(0, MAX_TAGS);
  return { memories: entries.length, sectors, topTags, firstMemoryAt, lastMemoryAt };
}
