/**
 * The one place that keeps a caller who is bound to a user to what is that user's. It stands between the operations and
 * whatever calls them, so no way in can forget it.
 *
 * - No user named: the bound one is meant.
 * - Another user named: FORBIDDEN.
 * - An id of another's, or of nobody's: NOT_FOUND, in the words that an unknown id gets.
 */
import type { DocumentOperations } from "./documents/document-operations.ts";
import { documentNotFound, jobNotFound } from "./documents/owned-document.ts";
import { orRefused, ServiceError } from "./errors.ts";
import { factNotFound } from "./facts/fact-draft.ts";
import { memoryNotFound } from "./memories/owned-memory.ts";
import type { Operations } from "./operations.ts";

/** What a bound caller's call of each operation becomes: a new operation does not compile until its rule is stated. */
type Rules<All> = { readonly [Name in keyof All]: (all: All, user: string) => All[Name] };

const RULES: Rules<Operations> = {
  addMemory: (all, user) => async (input) => all.addMemory(own(user, input)),
  addMemories:
    (all, user) =>
    async ({ items, ...rest }) =>
      all.addMemories({ ...rest, items: ownItems(user, items) }),
  queryMemory:
    (all, user) =>
    async ({ filter, ...rest }) =>
      all.queryMemory({ ...rest, filter: own(user, filter) }),
  updateMemory: (all, user) => async (input) => unseen(memoryNotFound, all.updateMemory(own(user, input))),
  deleteMemory: (all, user) => async (input) => unseen(memoryNotFound, all.deleteMemory(own(user, input))),
  listMemories:
    (all, user) =>
    async ({ filter, ...rest }) =>
      all.listMemories({ ...rest, filter: own(user, filter) }),
  getMemory: (all, user) => async (input) => all.getMemory(own(user, input)),
  reinforceMemory: (all, user) => async (input) =>
    unseen(memoryNotFound, all.reinforceMemory(own(user, input))),
  relatedMemories: (all, user) => async (input) => all.relatedMemories(own(user, input)),
  listSectors: (all, user) => (input) => all.listSectors(own(user, input)),
  exportRecords: (all, user) => (input) => all.exportRecords(own(user, input)),
  // A record names its own id, times and writer: none of that is for a caller who is bound to say.
  restoreRecords: () => async () => {
    throw new ServiceError(
      "FORBIDDEN",
      "This key is bound to one user; restoring an export needs one that is not.",
    );
  },

  listUsers: () => () => {
    throw new ServiceError(
      "FORBIDDEN",
      "This key is bound to one user; listing users needs one that is not.",
    );
  },
  userSummary: (all, user) => async (input) => all.userSummary(own(user, input)),
  regenerateSummary: (all, user) => async (input) => all.regenerateSummary(own(user, input)),
  deleteUserMemories: (all, user) => async (input) => all.deleteUserMemories(own(user, input)),

  // A source memory must be the fact's user's, so that of a bound caller can only be an own one.
  recordFact: (all, user) => async (input) => all.recordFact(own(user, input)),
  recordFacts:
    (all, user) =>
    async ({ items, ...rest }) =>
      all.recordFacts({ ...rest, items: ownItems(user, items) }),
  updateFact: (all, user) => async (input) => unseen(factNotFound, all.updateFact(own(user, input))),
  invalidateFact: (all, user) => async (input) => unseen(factNotFound, all.invalidateFact(own(user, input))),
  eraseFact: (all, user) => async (input) => unseen(factNotFound, all.eraseFact(own(user, input))),
  findFacts: (all, user) => (input) => all.findFacts(own(user, input)),
  currentFact: (all, user) => (input) => all.currentFact(own(user, input)),
  getFact: (all, user) => (input) => all.getFact(own(user, input)),
  factTimeline: (all, user) => (input) => all.factTimeline(own(user, input)),
  searchFacts: (all, user) => (input) => all.searchFacts(own(user, input)),
  compareFacts: (all, user) => (input) => all.compareFacts(own(user, input)),
  factStats: (all, user) => (input) => all.factStats(own(user, input)),
  volatileFacts: (all, user) => (input) => all.volatileFacts(own(user, input)),
};

const DOCUMENT_RULES: Rules<DocumentOperations> = {
  // Bytes that are nobody's yet.
  receiveFile: (all) => () => all.receiveFile(),
  ingest: (all, user) => async (input) => all.ingest(own(user, input)),
  awaitJob: (all, user) => async (id, signal) => {
    all.getJob({ id, userId: user });
    return all.awaitJob(id, signal);
  },
  getJob: (all, user) => (input) => all.getJob(own(user, input)),
  listJobs: (all, user) => (input) => all.listJobs(own(user, input)),
  cancelJob: (all, user) => async (input) => unseen(jobNotFound, all.cancelJob(own(user, input))),
  listDocuments: (all, user) => (input) => all.listDocuments(own(user, input)),
  getDocument: (all, user) => async (input) => all.getDocument(own(user, input)),
  deleteDocument: (all, user) => async (input) =>
    unseen(documentNotFound, all.deleteDocument(own(user, input))),
  readOriginal: (all, user) => async (input) => all.readOriginal(own(user, input)),
  restoreOriginal: (all, user) => async (input) =>
    unseen(documentNotFound, all.restoreOriginal(own(user, input))),
};

/** The operations as a caller may use them: kept to the user it is bound to, as they are for one bound to none. */
export function operationsFor(boundUser: string | undefined, operations: Operations): Operations {
  return boundUser === undefined ? operations : bind(RULES, operations, boundUser);
}

/** As `operationsFor`. */
export function documentOperationsFor(
  boundUser: string | undefined,
  operations: DocumentOperations,
): DocumentOperations {
  return boundUser === undefined ? operations : bind(DOCUMENT_RULES, operations, boundUser);
}

function bind<All extends object>(rules: Rules<All>, all: All, user: string): All {
  const names = Object.keys(rules) as (keyof All)[];
  return Object.fromEntries(names.map((name) => [name, rules[name](all, user)])) as All;
}

/** @throws {ServiceError} FORBIDDEN if the input names another user. */
function own<Input extends { readonly userId?: string }>(user: string, input: Input): Input {
  if (input.userId !== undefined && input.userId !== user) {
    throw new ServiceError(
      "FORBIDDEN",
      "This key is bound to one user, and the request names another. Leave user_id out, or name the key's own user.",
    );
  }
  return { ...input, userId: user };
}

/** Items are judged one by one: one that names another user is refused in its place. */
function ownItems<Item extends { readonly userId?: string }>(
  user: string,
  items: readonly (Item | ServiceError)[],
): (Item | ServiceError)[] {
  return items.map((item) => (item instanceof ServiceError ? item : orRefused(() => own(user, item))));
}

/** What belongs to somebody else is not there: its owner's protection would say that it is. */
async function unseen<T>(notFound: () => ServiceError, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw error instanceof ServiceError && error.code === "FORBIDDEN" ? notFound() : error;
  }
}
