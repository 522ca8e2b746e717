import type { DocumentOperations } from "../core/documents/document-operations.ts";
import type { Operations } from "../core/operations.ts";
import type { Clock, Places } from "../core/ports.ts";
import type { AddAllowance } from "./add-allowance.ts";
import { invalidRequest, notFound } from "../core/errors.ts";
import { timedQuestion } from "../core/recall/question.ts";
import { momentOf as momentIn, namesNoDay, parseLocalTime } from "../core/text/calendar.ts";
import { parseTime, present } from "../schemas/wire.ts";
import { UUID } from "../schemas/text-rules.ts";

/** The project and user of a connection. */
export interface AgentScope {
  readonly project: string | null;
  /** Undefined: reads all users' memories, and adds memories without an owner. */
  readonly userId: string | undefined;
}

/** The means of one agent's request. */
export interface AgentContext extends AgentScope {
  /** Limited to the caller's rights. */
  readonly operations: Operations;
  readonly documents: DocumentOperations;
  /** The MCP client's name, as the writer of what it adds. */
  readonly client: string;
  /** The id that adds are counted by. */
  readonly adder: string;
  readonly allowance: AddAllowance;
  readonly clock: Clock;
  readonly places: Places;
  /** In which "last week" is meant. */
  readonly timeZone: string;
  /** Unlike any before, and not to be guessed. */
  readonly newMark: () => string;
}

/** The scope of a read: the project and memories without one; with "all", and on a connection without a project, every project. */
export function readScope(scope: AgentScope, asked: "project" | "all" | null | undefined) {
  const { project, userId } = scope;
  const owner = ownerCheck(scope);
  const who = userId === undefined ? "" : `, user ${JSON.stringify(userId)}`;
  if (asked === "all" || project === null) return { filter: owner, words: `all projects${who}` };
  const words = `project ${JSON.stringify(project)} and no project`;
  return { filter: { ...owner, projects: [project, null] }, words: words + who };
}

/** Owner, project and writer of a new record. */
export const writeScope = ({ project, userId, client }: AgentContext) => ({
  ...present({ project, userId }),
  createdBy: client,
});

/** The owner check of an operation on one id. */
export const ownerCheck = ({ userId }: AgentScope): { userId?: string } => present({ userId });

/** A day, or a time of a day. */
const WITHOUT_OFFSET = /^\d{4}-\d\d-\d\d(?:[Tt ][\d:.]+)?$/;

/**
 * A moment as agents say it: a date, a time, what the command line takes ("2020", "tomorrow", "7d"), or words for a period
 * ("last week", "seit Juni"), of which the edge counts. What has no offset is of the connection's time zone, as on the command line.
 * @throws {ServiceError} INVALID_REQUEST.
 */
export function momentOf(
  { clock, timeZone }: Pick<AgentContext, "clock" | "timeZone">,
  said: string | number | null | undefined,
  edge: "from" | "to" = "from",
): number | undefined {
  if (said === undefined || said === null) return undefined;
  const text = String(said);
  const time = parseTime(said);
  if (time !== undefined) return WITHOUT_OFFSET.test(text) ? momentIn(time, timeZone) : time;
  const first = parseTime(/^\d{4}$/.test(text) ? `${text}-01-01` : `${text}-01`);
  if (first !== undefined && edge === "from") return momentIn(first, timeZone);
  // "November" alone is a time only with "in".
  const readings = [text, `in ${text}`].map((each) => timedQuestion(each, clock.now(), timeZone));
  const named = readings.find((reading) => reading?.topic === "");
  // "Last 9 days" has no end.
  if (edge === "to" && named?.period.to === Infinity) return undefined;
  const moment = parseTime(named?.period[edge] ?? parseLocalTime(text, clock.now()));
  if (moment !== undefined) return moment;
  if (namesNoDay(text)) throw invalidRequest(`There is no such day; got ${JSON.stringify(said)}.`);
  throw invalidRequest(
    `${JSON.stringify(said)} is no time; give one such as 2026-11-21, 2026-11, 7d or "last week".`,
  );
}

/**
 * The time that a tool is limited to; either end may be missing.
 * @throws {ServiceError} INVALID_REQUEST, also where it ends before it begins.
 */
export function periodOf(
  context: Pick<AgentContext, "clock" | "timeZone">,
  said: { readonly from?: string | number | null; readonly to?: string | number | null },
): { from: number | undefined; to: number | undefined } {
  const [from, to] = [momentOf(context, said.from), momentOf(context, said.to, "to")];
  if (from !== undefined && to !== undefined && from > to)
    throw invalidRequest("`to` lies before `from`: nothing can be between the two.");
  return { from, to };
}

const ID_END = /^[0-9a-f-]{6,35}$/;

/**
 * An id as it is kept, from the whole or its last 6 or more characters; `memory://` and what else agents put around it is taken off.
 * @throws {ServiceError} NOT_FOUND; INVALID_REQUEST for an end that several have.
 */
export async function idOf(context: AgentContext, text: string): Promise<string> {
  const id = text
    .trim()
    .toLowerCase()
    .replace(/^(?:memory|document):\/\/|^id=/, "");
  if (UUID.test(id)) return id;
  const found = ID_END.test(id) ? await withEnd(context, id) : [];
  if (found[0] !== undefined && found.length === 1) return found[0];
  throw found.length > 1
    ? invalidRequest(`Several ids end with ${id}; give more of it: ${found.join(", ")}.`)
    : notFound("There is nothing with this id; take it from what memory_search answers.");
}

/** Ids of notes and facts of the connection's user. */
async function withEnd({ operations, ...scope }: AgentContext, idEnd: string): Promise<string[]> {
  const filter = { ...ownerCheck(scope), idEnd };
  const { items } = await operations.listMemories({ filter, limit: 3, offset: 0 });
  const { facts } = await operations.findFacts({ ...filter, limit: 3 });
  return [...items, ...facts].map(({ id }) => id);
}

/**
 * Stores something as one add of the client. What fails, or brings nothing new, does not count.
 * @throws {ServiceError} RATE_LIMITED, before `store` is called; else as that.
 */
export async function countedAdd<T extends { readonly deduplicated: boolean }>(
  context: AgentContext,
  store: () => Promise<T>,
): Promise<T> {
  const giveBack = context.allowance.take(context.adder);
  try {
    const stored = await store();
    if (stored.deduplicated) giveBack();
    return stored;
  } catch (error) {
    giveBack();
    throw error;
  }
}
