import { jobChange, type JobEntry } from "../documents/document-index.ts";
import { rowsRemoval } from "../documents/store-document.ts";
import { sourceRemoval, userFactsRemoval } from "../facts/erase-fact.ts";
import type { MemoryPorts } from "../memories/memory-ports.ts";
import { removalOf } from "../history/keep-version.ts";
import { removeEdges } from "../memories/waypoints.ts";
import type { Catalogue, Steps } from "../ports.ts";
import type { Change } from "../rows.ts";

export interface DeleteUserMemoriesInput {
  readonly userId: string;
  /** Documents stay, with their memories, originals and jobs. */
  readonly keepsDocuments: boolean;
  readonly includesFacts: boolean;
}

export interface UserDeletionPorts extends Pick<MemoryPorts, "store"> {
  /** Ends the work on a job whose row shows its end now. */
  readonly stopJob: (job: JobEntry) => Promise<void>;
  /** Keeps backups from restoring the deleted records. */
  readonly noteErasure: (input: DeleteUserMemoriesInput) => Promise<void>;
}

/**
 * Deletes a user's memories in one record, with vectors, words and waypoints; unless `keepsDocuments`, also documents,
 * originals and jobs, and cancels open jobs. Earlier versions and the trash go too. Writes accepted before the record are deleted, later ones stay. A user
 * without records is no error. Restoring an earlier backup does not bring them back.
 * @returns the numbers of deleted memories, documents and facts: not of their versions, replaced ones included.
 * @throws {ServiceError} NOT_READY; STORE_FULL where all is deleted and a full disk cannot note it for backups.
 */
export async function deleteUserMemories(
  { store, stopJob, noteErasure }: UserDeletionPorts,
  input: DeleteUserMemoriesInput,
) {
  const { documents } = store.catalogue;
  const { stopped, ...result } = await store.commit(function* ({ now }) {
    const { userId, keepsDocuments, includesFacts } = input;
    const memories = yield* memoriesRemoval({ store }, input);
    const erasedFacts = includesFacts
      ? userFactsRemoval(store.catalogue.facts, userId)
      : { changes: [], erased: 0 };
    const erasedDocuments = keepsDocuments ? [] : documents.documentsOf(userId);
    const jobs = keepsDocuments ? [] : [...documents.jobs.values()].filter((job) => job.userId === userId);
    const changes: Change[] = memories.changes.concat(
      erasedFacts.changes,
      erasedDocuments.map(({ id }): Change => ({ table: "documents", id, row: null })),
      jobs.map((job) => endOfJob(job, now)),
      versionsRemoval(store.catalogue, userId, memories.kept),
    );
    return {
      changes,
      erases: userId,
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

/** Removes a finished job. An open one ends, so that callers who wait for it get an answer. */
function endOfJob(job: JobEntry, now: number): Change {
  if (job.status !== "queued") return { table: "jobs", id: job.id, row: null };
  return jobChange({ ...job, status: "cancelled", request: null, finishedAt: now });
}

/** Newest first: removing from the end of a session's series costs nothing. */
function* memoriesRemoval(
  { store }: Pick<UserDeletionPorts, "store">,
  { userId, keepsDocuments, includesFacts }: DeleteUserMemoriesInput,
): Steps<{ readonly changes: Change[]; readonly deleted: number; readonly kept: ReadonlySet<string> }> {
  const { catalogue } = store;
  const kept = new Set(
    keepsDocuments ? catalogue.documents.documentsOf(userId).flatMap(({ memoryIds }) => memoryIds) : [],
  );
  // By id: each is met at both its ends.
  const edges = new Map<string, Change>();
  const memories: Change[] = [];
  let deleted = 0;
  const selected = catalogue.select({ userId });
  yield;
  for (const ordinal of selected.list().reverse()) {
    const id = catalogue.idAt(ordinal);
    if (id !== undefined && !kept.has(id)) {
      for (const edge of removeEdges(catalogue.edgesOf(id))) edges.set(edge.id, edge);
      memories.push(...rowsRemoval(id));
      if (!includesFacts) memories.push(...sourceRemoval(catalogue.facts, id));
      deleted += 1;
    }
    yield;
  }
  return { changes: [...edges.values()].concat(memories), deleted, kept };
}

/** All of the user in the trash, and the earlier versions of all but the kept memories. */
function versionsRemoval(
  { versions }: Pick<Catalogue, "versions">,
  userId: string,
  kept: ReadonlySet<string>,
): Change[] {
  return removalOf(
    [...versions.all()].filter(
      (entry) =>
        entry.userId === userId &&
        (!kept.has(entry.memoryId) || versions.deleted(entry.memoryId) !== undefined),
    ),
  );
}
