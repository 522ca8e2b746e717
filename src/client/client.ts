/**
 * The client of the HTTP API, `memoryd/client`: fetch only, for browsers and Node. It imports nothing when it runs but the
 * files beside it; fields are named as they are on the wire.
 */
import * as calls from "./calls.ts";
import { followChanges, type FollowOptions } from "./follow-changes.ts";
import type * as wire from "./records.ts";
import { type Call, type CallOptions, type ClientOptions, createTransport } from "./transport.ts";

export type { IngestSource, WaitOptions } from "./calls.ts";
export type { FollowOptions, Reset } from "./follow-changes.ts";
export { MemorydError } from "./memoryd-error.ts";
export type { FieldError } from "./memoryd-error.ts";
export type * from "./records.ts";
export type { Call, CallOptions, ClientOptions, VersionOptions, WriteOptions } from "./transport.ts";

export type MemorydClient = ReturnType<typeof createClient>;

/**
 * A client of the daemon at an address. Every call rejects with a `MemorydError`, or the reason of its own signal.
 *
 * A call is tried again when the daemon is busy (429, 503; it says for how long) and, where that is safe, when there was
 * no answer: reads, and writes with an Idempotency-Key, which each has one of. Changes and deletions are not sent again
 * after a lost answer.
 */
export function createClient(options: ClientOptions = {}) {
  const transport = createTransport(options);
  const { json, get, post } = transport;
  const jobs = calls.jobCalls(transport);
  return {
    /** The memories that answer a question, best first. */
    query: (query: string, conditions?: wire.QueryConditions, options?: CallOptions) =>
      post<wire.QueryResult>("/memory/query", { ...conditions, query }, options),
    /** The knowledge that an agent should start a piece of work with; `text` is empty where there is none. */
    context: (request: wire.ContextRequest = {}, options?: CallOptions) =>
      post<wire.Context>("/context", request, options),
    memories: calls.memoryCalls(transport),
    trash: calls.trashCalls(transport),
    /** Takes back what was done to memories; `dry_run` only says what. Doing it twice changes nothing more. */
    undo: (body: wire.Undo = {}, options?: CallOptions) => post<wire.Undone>("/undo", body, options),
    facts: calls.factCalls(transport),
    documents: calls.documentCalls(transport, jobs),
    jobs,
    users: calls.userCalls(transport),
    keys: calls.keyCalls(transport),
    transfer: calls.transferCalls(transport),
    compaction: calls.compactionCalls(transport),
    backups: calls.backupCalls(transport),
    models: calls.modelCalls(transport),
    /** Changes from now on, or from a position on, until the reader leaves the loop; see `GET /events`. */
    changes: (options?: FollowOptions) => followChanges(transport, options),
    sectors: (owner?: wire.Owner, options?: CallOptions) => get<wire.Sectors>("/sectors", owner, options),
    health: (options?: CallOptions) => get<wire.Health>("/health", {}, options),
    version: (options?: CallOptions) => get<wire.Version>("/version", {}, options),
    stats: (options?: CallOptions) => get<wire.Stats>("/stats", {}, options),
    /** The settings that the daemon runs with, and where each comes from; for the scope `admin`, as its log is. */
    settings: (options?: CallOptions) => get<wire.Settings>("/settings", {}, options),
    /** The last lines of the daemon's log, oldest first. */
    logs: (place?: wire.LogsPlace, options?: CallOptions) => get<wire.Logs>("/logs", place, options),
    /** Stops the daemon; with the token in the data directory only. */
    shutDown: (options?: CallOptions) => post<{ ok: true }>("/shutdown", undefined, options),
    /** Any other call, by its path. */
    call: <T>(call: Call) => json<T>(call),
  };
}
