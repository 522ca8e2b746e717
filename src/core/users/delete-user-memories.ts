import type { JobEntry } from "../documents/document-index.ts";
import { sourceRemoval, userFactsRemoval } from "../facts/erase-fact.ts";
import type { MemoryPorts } from "../memories/memory-ports.ts";
import type { Ordinal } from "../ports.ts";
import { type Change, edgeId } from "../rows.ts";

export interface DeleteUserMemoriesInput {
  readonly userId: string;
  /** Documents stay, with the memories that were made of them, their originals and their jobs. */
  readonly keepsDocuments: boolean;
  readonly includesFacts: boolean;
}

export interface DeletedUserMemories {
  /** How many memories went. */
  readonly deleted: number;
  readonly deletedDocuments: number;
  /** Facts, not their versions; replaced ones count. */
  readonly deletedFacts: number;
}

export interface UserDeletionPorts extends Pick<MemoryPorts, "store" | "facts"> {
  /** Ends the work on a job that was open, and whose row says by now that it is over. */
  readonly stopJob: (job: JobEntry) => Promise<void>;
  /** Keeps backups from bringing back what is gone. */
  readonly noteErasure: (input: DeleteUserMemoriesInput) => Promise<void>;
}

/**
 * Deletes the memories of a user in one record, with vectors, words, waypoints, and unless they are kept documents,
 * originals and what jobs answer. What is added while it runs is decided by order: accepted before, it goes; after, it
 * stays. Documents on their way go too: their jobs are cancelled. Who has nothing stored loses nothing. A backup from
 * before that is restored later does not bring it back.
 *
 * @throws {ServiceError} NOT_READY; STORE_FULL where all is deleted and a full disk cannot note it for backups.
 */
export async function deleteUserMemories(
  { store, facts, stopJob, noteErasure }: UserDeletionPorts,
  input: DeleteUserMemoriesInput,
): Promise<DeletedUserMemories> {
  const { documents } = store.catalogue;
  const { stopped, ...result } = await store.commit(({ now }) => {
    const { userId, keepsDocuments, includesFacts } = input;
    const memories = memoriesRemoval({ store, facts }, input);
    const erasedFacts = includesFacts ? userFactsRemoval(facts.book, userId) : { changes: [], erased: 0 };
    const erasedDocuments = keepsDocuments ? [] : documents.documentsOf(userId);
    const jobs = keepsDocuments ? [] : [...documents.allJobs()].filter((job) => job.userId === userId);
    const changes: Change[] = memories.changes.concat(
      erasedFacts.changes,
      erasedDocuments.map(({ id }): Change => ({ table: "documents", id, row: null })),
      jobs.map((job) => endOfJob(job, now)),
    );
    return {
      changes,
      result: {
        deleted: memories.deleted,
        deletedDocuments: erasedDocuments.length,
        deletedFacts: erasedFacts.erased,
        stopped: jobs.filter(({ status }) => status === "queued"),
      },
    };
  });
  await Promise.all(stopped.map(stopJob));
  // Not acknowledged before: whoever repeats it after a crash, with nothing left to delete, has it noted.
  await noteErasure(input);
  return result;
}

/** What a job that is over answered goes; one that is not ends, and those who wait for it learn that. */
function endOfJob({ id, ...row }: JobEntry, now: number): Change {
  if (row.status !== "queued") return { table: "jobs", id, row: null };
  return { table: "jobs", id, row: { ...row, status: "cancelled", request: null, finishedAt: now } };
}

/**
 * Newest first, because the catalogue keeps the series of a session ascending and takes from its end at no cost; and
 * waypoints behind the memories: those between memories that are gone need not be looked up any more.
 */
function memoriesRemoval(
  { store, facts }: Pick<UserDeletionPorts, "store" | "facts">,
  { userId, keepsDocuments, includesFacts }: DeleteUserMemoriesInput,
): { readonly changes: Change[]; readonly deleted: number } {
  const { catalogue } = store;
  const kept = new Set(
    keepsDocuments ? catalogue.documents.documentsOf(userId).flatMap(({ memoryIds }) => memoryIds) : [],
  );
  const goes = new Map<Ordinal, string>();
  for (const ordinal of catalogue.select({ userId }).list().reverse()) {
    const id = catalogue.idAt(ordinal);
    if (id !== undefined && !kept.has(id)) goes.set(ordinal, id);
  }
  const within: Change[] = [];
  const reachingOut: Change[] = [];
  const memories: Change[] = [];
  for (const [ordinal, id] of goes) {
    for (const { source, target, kind } of catalogue.edgesAt(ordinal)) {
      const isWithin = goes.has(source) && goes.has(target);
      // Such a one is met from either end.
      if (isWithin && source !== ordinal) continue;
      const ends = { source: catalogue.idAt(source) ?? "", target: catalogue.idAt(target) ?? "" };
      const edge: Change = { table: "edges", id: edgeId({ ...ends, kind }), row: null };
      (isWithin ? within : reachingOut).push(edge);
    }
    memories.push(
      { table: "memories", id, row: null },
      { table: "vectors", id, row: null },
      { table: "tokens", id, row: null },
      { table: "signals", id, row: null },
    );
    if (!includesFacts) memories.push(...sourceRemoval(facts.book, id));
  }
  return { changes: reachingOut.concat(memories, within), deleted: goes.size };
}
