import { visitFacts } from "../facts/fact-book.ts";
import type { MemoryPorts } from "../memories/memory-ports.ts";

/** Counts of one user's records. */
export interface UserCounts {
  readonly userId: string;
  readonly memories: number;
  /** Facts of all times, without replaced ones (empty period). */
  readonly facts: number;
  readonly documents: number;
  /** When the earliest and the latest memory happened; null without a memory. */
  readonly firstMemoryAt: number | null;
  readonly lastMemoryAt: number | null;
}

export interface ListUsersInput {
  /** 1 … 10 000. */
  readonly limit: number;
  readonly offset: number;
  /** Only users after this one in the order. */
  readonly after?: string;
}

export interface ListedUsers {
  /** Ascending by the code units of their ids. */
  readonly items: readonly UserCounts[];
  /** Number of all users. */
  readonly total: number;
  readonly isMore: boolean;
}

/** One page of the users with records. Cost: linear in all memories and facts. */
export function listUsers(
  { store, facts }: Pick<MemoryPorts, "store" | "facts">,
  { limit, offset, after }: ListUsersInput,
): ListedUsers {
  const memories = store.catalogue.users();
  const documents = new Map<string, number>();
  const factCounts = new Map<string, number>();
  for (const document of store.catalogue.documents.allDocuments()) count(documents, document);
  visitFacts(facts.book, {}, (fact) => count(factCounts, fact));
  const all = [...new Set([...memories.keys(), ...documents.keys(), ...factCounts.keys()])].sort((a, b) =>
    a < b ? -1 : 1,
  );
  const rest = all.filter((userId) => after === undefined || userId > after).slice(offset);
  const items = rest.slice(0, limit).map((userId) => {
    const { count: memoryCount = 0, firstAt = null, lastAt = null } = memories.get(userId) ?? {};
    return {
      userId,
      memories: memoryCount,
      facts: factCounts.get(userId) ?? 0,
      documents: documents.get(userId) ?? 0,
      firstMemoryAt: firstAt,
      lastMemoryAt: lastAt,
    };
  });
  return { items, total: all.length, isMore: rest.length > limit };
}

function count(counts: Map<string, number>, { userId }: { readonly userId: string | null }): void {
  if (userId !== null) counts.set(userId, (counts.get(userId) ?? 0) + 1);
}
