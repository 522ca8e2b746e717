import type { DocumentOperations } from "../core/documents/document-operations.ts";
import type { Operations } from "../core/operations.ts";
import type { Clock } from "../core/ports.ts";
import type { AddAllowance } from "./add-allowance.ts";
import { ServiceError } from "../core/errors.ts";
import { UUID } from "../schemas/text-rules.ts";

/** Where a connection reads and writes. */
export interface AgentScope {
  readonly project: string | null;
  /** Undefined: everybody's is read, and what is added is nobody's. */
  readonly userId: string | undefined;
}

/** What one request of an agent may use. */
export interface AgentContext extends AgentScope {
  /** Kept to what the caller may reach. */
  readonly operations: Operations;
  /** Undefined: no documents are taken. */
  readonly documents: DocumentOperations | undefined;
  /** The MCP client's name, as the writer of what it adds. */
  readonly client: string;
  /** Whose adds are counted together. */
  readonly adder: () => Promise<string>;
  readonly allowance: AddAllowance;
  readonly clock: Clock;
  /** Unlike any before, and not to be guessed. */
  readonly newMark: () => string;
}

export interface ReadScope {
  /** As filters take it; absent: every project. */
  readonly filter: { readonly userId?: string; readonly projects?: readonly (string | null)[] };
  /** For the answer. */
  readonly words: string;
}

/** What is read: the project and what has none, or with "all" every project. */
export function readScope(
  { project, userId }: AgentScope,
  asked: "project" | "all" | null | undefined,
): ReadScope {
  const owner = userId === undefined ? {} : { userId };
  const who = userId === undefined ? "" : `, user ${JSON.stringify(userId)}`;
  if (asked === "all") return { filter: owner, words: `all projects${who}` };
  const projects = project === null ? [null] : [project, null];
  const words = project === null ? "no project" : `project ${JSON.stringify(project)} and no project`;
  return { filter: { ...owner, projects }, words: words + who };
}

/** Whose it is and where it goes, of something that is added. */
export function writeScope({ project, userId, ...context }: AgentContext) {
  return {
    ...(project !== null && { project }),
    ...(userId !== undefined && { userId }),
    ...writtenBy(context),
  };
}

/** As a condition: what the client added. */
export function writtenBy({ client }: Pick<AgentContext, "client">) {
  return { createdBy: client };
}

/** The owner check of an operation on one id. */
export function ownerCheck({ userId }: AgentScope): { userId?: string } {
  return userId === undefined ? {} : { userId };
}

/** An id as it is kept; `memory://` and what else agents put around it is taken off. @throws {ServiceError} NOT_FOUND. */
export function idOf(text: string): string {
  const id = text
    .trim()
    .toLowerCase()
    .replace(/^(?:memory|document):\/\/|^id=/, "");
  if (!UUID.test(id)) {
    throw new ServiceError(
      "NOT_FOUND",
      "There is nothing with this id; take it from what memory_search answers.",
    );
  }
  return id;
}
