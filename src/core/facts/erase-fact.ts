import { type Fact, type FactChange, factRowId, isEmpty } from "./fact.ts";
import type { FactReads, FactHistory } from "./fact-book.ts";
import type { OneRow } from "../owned.ts";
import { FactDraft, type FactPorts } from "./fact-store.ts";

/**
 * Removes a fact and all its versions for good, with the replaced facts of the same object that it took in or
 * came from: they are only seen as its past. Ids that pointed to what is gone become null. Nothing else
 * changes: what it had superseded stays closed.
 * @returns the fact as it was last.
 * @throws {ServiceError} NOT_FOUND, FORBIDDEN (another user's), STORE_FULL, NOT_READY.
 */
export async function eraseFact({ store, clock }: FactPorts, { id, userId }: OneRow): Promise<Fact> {
  return store.commit((section) => {
    const fact = new FactDraft(store.catalogue.facts, section, clock).require(id, userId);
    return { changes: erasure(store.catalogue.facts, fact), result: fact };
  });
}

/** The changes that remove all facts of a user, and the number of those facts. */
export function userFactsRemoval(
  book: FactReads,
  userId: string,
): { readonly changes: FactChange[]; readonly erased: number } {
  const histories = book.timelines({ userId }).flatMap(({ facts }) => facts.toReversed());
  return { changes: histories.flatMap(removalOf), erased: histories.length };
}

/** The changes that clear the link to a memory that is being deleted, in every version that has it. */
export function sourceRemoval(book: FactReads, memoryId: string): FactChange[] {
  return Array.from(book.fromMemory(memoryId)).flatMap(({ versions }) =>
    versions
      .filter((row) => row.sourceMemoryId === memoryId)
      .map((row): FactChange => ({
        table: "facts",
        id: factRowId(row),
        row: { ...row, sourceMemoryId: null },
      })),
  );
}

function erasure(book: FactReads, fact: Fact): FactChange[] {
  const facts = book.timeline(fact)?.facts ?? [];
  const gone = withItsPast(book, facts, fact.id);
  const isGone = (id: string | null) => id !== null && gone.has(id);
  const cleared = facts
    .filter(({ latest }) => !gone.has(latest.id))
    .flatMap(({ versions }) => versions.filter((row) => isGone(row.supersededBy) || isGone(row.derivedFrom)))
    .map((row): FactChange => {
      const supersededBy = isGone(row.supersededBy) ? null : row.supersededBy;
      const derivedFrom = isGone(row.derivedFrom) ? null : row.derivedFrom;
      return { table: "facts", id: factRowId(row), row: { ...row, supersededBy, derivedFrom } };
    });
  return [...facts.filter(({ latest }) => gone.has(latest.id)).flatMap(removalOf), ...cleared];
}

/** The fact's id and those of replaced facts of its object that are linked to it. */
function withItsPast(book: FactReads, facts: readonly FactHistory[], id: string): ReadonlySet<string> {
  const gone = new Set([id]);
  const object = book.find(id)?.objectKey;
  const replaced = facts.filter((history) => history.objectKey === object && isEmpty(history.latest));
  const origins = new Map(facts.map(({ latest }) => [latest.id, latest.derivedFrom]));
  for (let before = 0; before < gone.size;) {
    before = gone.size;
    for (const { latest } of replaced) {
      const cameFromIt = [...gone].some((goneId) => origins.get(goneId) === latest.id);
      if (cameFromIt || (latest.supersededBy !== null && gone.has(latest.supersededBy))) gone.add(latest.id);
    }
  }
  return gone;
}

/** Newest version first, so that the rest is a consistent history at any moment. */
const removalOf = ({ versions }: FactHistory): FactChange[] =>
  versions.toReversed().map((row) => ({ table: "facts", id: factRowId(row), row: null }));
