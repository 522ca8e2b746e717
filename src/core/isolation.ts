/**
 * The one place that knows where a call names its user. It keeps a caller with a bound key to that user's data, and finds
 * the store of a user where each has one. It wraps the operations, so no caller can bypass it.
 *
 * - No user named: the bound user.
 * - Another user named: FORBIDDEN.
 * - The id of something that the user does not own: NOT_FOUND, with the message that an unknown id gets.
 */
import type { DocumentOperations } from "./documents/document-operations.ts";
import { conflict, forbidden, invalidRequest, orRefused, refusedOr, ServiceError } from "./errors.ts";
import type { Operations } from "./operations.ts";
import { missing } from "./owned.ts";

type Kind = Parameters<typeof missing>[0];
/**
 * The treatment of a bound caller's call. The user is set in the input, in its filter or in each of its items; or the call
 * is refused; or it passes. Where the rule is a kind, the user is set in the input, and FORBIDDEN becomes NOT_FOUND: the
 * owner's protection would show that there is such a row.
 */
type Rule = "input" | "filter" | "items" | "passes" | Kind | { readonly refused: string };
type RuleFor<Input> = "userId" extends keyof Input
  ? "input" | Kind
  : Extract<keyof Input, "filter" | "items"> | { readonly refused: string };

/** A new operation does not compile until its rule is stated. */
type Rules<All> = {
  readonly [Name in keyof All]: All[Name] extends (input: infer Input, ...more: never) => unknown
    ? unknown extends Input
      ? "passes"
      : RuleFor<Input>
    : never;
};

const RULES: Rules<Operations> = {
  addMemory: "input",
  addMemories: "items",
  queryMemory: "filter",
  composeContext: "input",
  updateMemory: "memory",
  tagMemories: "input",
  deleteMemory: "memory",
  listMemories: "filter",
  listSuperseded: "filter",
  listComing: "filter",
  getMemory: "input",
  reinforceMemory: "memory",
  relatedMemories: "input",
  listSectors: "input",
  countMemories: "filter",
  exportRecords: "input",
  memoryHistory: "input",
  restoreVersion: "memory",
  eraseHistory: "memory",
  listTrash: "input",
  restoreFromTrash: "trash",
  eraseFromTrash: "trash",
  emptyTrash: "input",
  undoChanges: "input",
  // A record names its own id, times and writer, which a bound caller may not choose.
  restoreRecords: { refused: "restoring an export" },

  listUsers: { refused: "listing users" },
  userSummary: "input",
  deleteUserMemories: "input",

  listChanges: "input",
  followChanges: "input",

  // A source memory must be the fact's user's, so a bound caller can only name an own one.
  recordFact: "input",
  recordFacts: "items",
  updateFact: "fact",
  invalidateFact: "fact",
  eraseFact: "fact",
  answeringFacts: "input",
  findFacts: "input",
  currentFact: "input",
  getFact: "input",
  factTimeline: "input",
  searchFacts: "input",
  compareFacts: "input",
  factStats: "input",
  factSubjects: "input",
  volatileFacts: "input",
};

const DOCUMENT_RULES: Rules<DocumentOperations> = {
  // Received bytes have no owner yet.
  receiveFile: "passes",
  ingest: "input",
  awaitJob: "input",
  getJob: "input",
  listJobs: "input",
  cancelJob: "job",
  listDocuments: "input",
  getDocument: "input",
  deleteDocument: "document",
  readOriginal: "input",
  restoreOriginal: "document",
};

/** The operations for a caller: limited to the user it is bound to, unchanged for an unbound one. */
export const operationsFor = (boundUser: string | undefined, operations: Operations): Operations =>
  boundUser === undefined ? operations : rejecting(bind(RULES, operations, boundUser));

/** The operations, so that an error thrown at a call rejects its promise. */
const rejecting = (all: Operations): Operations =>
  Object.fromEntries(
    Object.entries(all).map(([name, operate]) => [
      name,
      async (input: Input) => (operate as Operation)(input),
    ]),
  ) as unknown as Operations;

/** As `operationsFor`, but what answers at once throws at once. */
export const documentOperationsFor = (
  boundUser: string | undefined,
  operations: DocumentOperations,
): DocumentOperations => (boundUser === undefined ? operations : bind(DOCUMENT_RULES, operations, boundUser));

interface Input {
  readonly userId?: string;
  readonly filter?: Input;
  readonly items?: readonly (Input | ServiceError)[];
}
type Operation = (input: Input, ...more: unknown[]) => unknown;

function bind<All extends object>(rules: Rules<All>, all: All, user: string): All {
  const names = Object.keys(rules) as (keyof All)[];
  return Object.fromEntries(
    names.map((name) => [name, kept(rules[name], all[name] as Operation, user)]),
  ) as All;
}

function kept(rule: Rule, operate: Operation, user: string): Operation {
  if (rule === "passes") return operate;
  return (input, ...more) => {
    if (typeof rule === "object") {
      const message = `This key is bound to one user; ${rule.refused} needs one that is not.`;
      throw forbidden(message);
    }
    if (rule === "filter") return operate({ ...input, filter: own(user, input.filter ?? {}) }, ...more);
    if (rule === "items") {
      // One item that names another user is refused in its place.
      const keep = (item: Input | ServiceError) =>
        item instanceof ServiceError ? item : orRefused(() => own(user, item));
      return operate({ ...input, items: input.items?.map(keep) ?? [] }, ...more);
    }
    const answer = operate(own(user, input), ...more);
    if (rule === "input") return answer;
    return Promise.resolve(answer).catch((error: unknown) => {
      throw error instanceof ServiceError && error.code === "FORBIDDEN" ? missing(rule) : error;
    });
  };
}

/** @throws {ServiceError} FORBIDDEN if the input names another user. */
function own(user: string, input: Input): Input {
  if (input.userId === undefined || input.userId === user) return { ...input, userId: user };
  throw forbidden(
    "This key is bound to one user, and the request names another. Leave user_id out, or name the key's own user.",
  );
}

/** The error of what a service over a database does not do. @param what begins the sentence. @param way another way, or why. */
export const notInDatabase = (what: string, way: string): ServiceError =>
  conflict(`${what} is not possible where a database holds the memories (--store): ${way}.`);

const unnamed = (): ServiceError =>
  invalidRequest(
    "Each user has a store of its own here, so a request must say whose it is: name the user as `user_id`, or use a key that " +
      "is bound to one.",
    { fields: [{ path: "/user_id", message: "is missing, and the key is bound to no user" }] },
  );

/**
 * The operations of a service in which each user has a store of its own. A call goes to its user's operations, which `find`
 * answers; the items of a batch go to those of their users, and each user's are one record.
 *
 * Calls reject with INVALID_REQUEST where they name no user, and with CONFLICT where they are about all users.
 */
export function operationsByUser(find: (user: string) => Promise<Operations>): Operations {
  const byUser = Object.entries(RULES).map(([name, rule]: [string, Rule]) => {
    const callFor = async (user: string | undefined, input: Input) => {
      if (user === undefined) throw unnamed();
      const operations = await find(user);
      return (operations[name as keyof Operations] as Operation)(input);
    };
    if (typeof rule === "object")
      return [
        name,
        async () => Promise.reject(notInDatabase(sentence(rule.refused), "it cannot be done yet")),
      ];
    if (rule === "filter") return [name, (input: Input) => callFor(input.filter?.userId, input)];
    if (rule === "items") return [name, (input: Input) => inBatches(input, callFor)];
    return [name, (input: Input) => callFor(input.userId, input)];
  });
  return Object.fromEntries(byUser) as Operations;
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Answers a batch in its order; what the part of one of several users is refused for stands for each of its items. */
async function inBatches(
  input: Input,
  callFor: (user: string | undefined, input: Input) => Promise<unknown>,
): Promise<{ readonly results: readonly unknown[] }> {
  const items = input.items ?? [];
  const places = new Map<string | undefined, number[]>();
  for (const [place, item] of items.entries()) {
    if (item instanceof ServiceError) continue;
    const own = places.get(item.userId);
    if (own === undefined) places.set(item.userId, [place]);
    else own.push(place);
  }
  const results: unknown[] = [...items];
  for (const [user, own] of places) {
    const part = { ...input, items: own.map((place) => items[place] as Input) };
    const called = callFor(user, part);
    // An error for the only user is one for the batch.
    const answer = places.size === 1 ? await called : await refusedOr(called);
    for (const [i, place] of own.entries())
      results[place] =
        answer instanceof ServiceError ? answer : (answer as { readonly results: unknown[] }).results[i];
  }
  return { results };
}
