import { visitFacts } from "../facts/fact-book.ts";
import type { MemoryPorts } from "../memories/memory-ports.ts";

/**
 * One page of the users with records, ascending by the code units of their ids, and the number of all. Facts are those of all times,
 * without replaced ones (empty period). With `after` only users after that one. Cost: linear in all memories and facts.
 */
export function listUsers(
  { store }: Pick<MemoryPorts, "store">,
  { limit, offset, after }: { readonly limit: number; readonly offset: number; readonly after?: string },
) {
  const memories = store.catalogue.users();
  const documents = new Map<string, number>();
  const factCounts = new Map<string, number>();
  for (const document of store.catalogue.documents.byId.values()) count(documents, document);
  visitFacts(store.catalogue.facts, {}, (fact) => count(factCounts, fact));
  const all = [...new Set([...memories.keys(), ...documents.keys(), ...factCounts.keys()])].sort((a, b) =>
    a < b ? -1 : 1,
  );
  const rest = all.filter((userId) => after === undefined || userId > after).slice(offset);
  const items = rest.slice(0, limit).map((userId) => {
    const { count: memoryCount = 0, firstAt = null, lastAt = null } = memories.get(userId) ?? {};
    return {
      userId,
      memoryCount,
      factCount: factCounts.get(userId) ?? 0,
      documentCount: documents.get(userId) ?? 0,
      firstMemoryAt: firstAt,
      lastMemoryAt: lastAt,
    };
  });
  return { items, total: all.length, isMore: rest.length > limit };
}

function count(counts: Map<string, number>, { userId }: { readonly userId: string | null }): void {
  if (userId !== null) counts.set(userId, (counts.get(userId) ?? 0) + 1);
}
