/**
 * The client of the HTTP API, `memoryd/client`: fetch only, for browsers and Node. It imports nothing when it runs but the
 * files beside it; fields are named as they are on the wire.
 */
import { type DocumentCalls, documentCalls, type JobCalls, jobCalls } from "./document-calls.ts";
import { type FactCalls, factCalls } from "./fact-calls.ts";
import { type MemoryCalls, memoryCalls } from "./memory-calls.ts";
import type { Health, Owner, QueryConditions, QueryResult, Sectors, Stats, Version } from "./records.ts";
import { type CallOptions, type ClientOptions, createTransport } from "./transport.ts";
import { type UserCalls, userCalls } from "./user-calls.ts";

export type { DocumentCalls, IngestSource, JobCalls, WaitOptions } from "./document-calls.ts";
export type { FactCalls } from "./fact-calls.ts";
export type { MemoryCalls } from "./memory-calls.ts";
export { MemorydError } from "./memoryd-error.ts";
export type { FieldError } from "./memoryd-error.ts";
export type * from "./records.ts";
export type { CallOptions, ClientOptions, VersionOptions, WriteOptions } from "./transport.ts";
export type { UserCalls } from "./user-calls.ts";

export interface MemorydClient {
  /** The memories that answer a question, best first. */
  query(question: string, conditions?: QueryConditions, options?: CallOptions): Promise<QueryResult>;
  readonly memories: MemoryCalls;
  readonly facts: FactCalls;
  readonly documents: DocumentCalls;
  readonly jobs: JobCalls;
  readonly users: UserCalls;
  sectors(owner?: Owner, options?: CallOptions): Promise<Sectors>;
  health(options?: CallOptions): Promise<Health>;
  version(options?: CallOptions): Promise<Version>;
  stats(options?: CallOptions): Promise<Stats>;
}

/**
 * A client of the daemon at an address. Every call rejects with a `MemorydError`, or the reason of its own signal.
 *
 * A call is tried again when the daemon is busy (429, 503; it says for how long) and, where that is safe, when there was
 * no answer: reads, and writes with an Idempotency-Key, which each has one of. Changes and deletions are not sent again
 * after a lost answer.
 */
export function createClient(options: ClientOptions = {}): MemorydClient {
  const transport = createTransport(options);
  const { json } = transport;
  const jobs = jobCalls(transport);
  return {
    query: (query, conditions, options) =>
      json({ method: "POST", path: "/memory/query", body: { ...conditions, query }, options }),
    memories: memoryCalls(transport),
    facts: factCalls(transport),
    documents: documentCalls(transport, jobs),
    jobs,
    users: userCalls(transport),
    sectors: (owner, options) => json({ method: "GET", path: "/sectors", query: { ...owner }, options }),
    health: (options) => json({ method: "GET", path: "/health", options }),
    version: (options) => json({ method: "GET", path: "/version", options }),
    stats: (options) => json({ method: "GET", path: "/stats", options }),
  };
}
