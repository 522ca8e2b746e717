/**
 * The client of the HTTP API, `memoryd/client`: fetch only, for browsers and Node. It imports nothing when it runs but the
 * files beside it; fields are named as they are on the wire.
 */

import * as calls from "./calls.ts";
import type * as wire from "./records.ts";
import type { Change } from "./records.ts";
import {
  type Call,
  type CallOptions,
  type ClientOptions,
  createTransport,
  MemorydError,
  sleep,
  type Transport,
} from "./transport.ts";

export type { IngestSource, WaitOptions } from "./calls.ts";
export { type FieldError, MemorydError } from "./transport.ts";
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

export interface FollowOptions extends Pick<CallOptions, "signal"> {
  /** The position of the last change that was dealt with; `0` for the beginning. Left out: what comes from now on. */
  readonly since?: string | undefined;
  readonly user_id?: string | undefined;
}

/** Changes are missing: read what you need anew. Those after it follow. */
export interface Reset {
  readonly kind: "reset";
  /** Goes on from here. */
  readonly position: string;
}

/** The daemon sends something every 15 seconds, at least. */
const SILENCE_MS = 45_000;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 30_000;

/**
 * Changes as they happen, in order. After a lost connection it goes on behind the last one that was taken, so each comes
 * at least once. Ends when its reader leaves the loop.
 * @throws {MemorydError} where the daemon cannot be reached at first, or refuses; the signal's reason when it is aborted.
 */
export async function* followChanges(
  { stream }: Pick<Transport, "stream">,
  { since, user_id, signal }: FollowOptions = {},
): AsyncGenerator<Change | Reset, void, undefined> {
  let position = since;
  let failures = 0;
  for (let isFirst = true; ; isFirst = false) {
    try {
      const headers: Record<string, string> = position === undefined ? {} : { "last-event-id": position };
      const body = await stream({
        method: "GET",
        path: "/events",
        query: { user_id },
        headers,
        options: { signal },
      });
      for await (const event of eventsOf(body)) {
        failures = 0;
        if (event.data !== undefined) yield readData(event);
        position = event.id ?? position;
      }
    } catch (error) {
      signal?.throwIfAborted();
      const isRefused = error instanceof MemorydError && error.status !== 429 && error.status < 500;
      if (isRefused && (isFirst || error.status > 0)) throw error;
    }
    await sleep(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures), signal);
    failures += 1;
  }
}

type ServerEvent = { readonly event?: string; readonly id?: string; readonly data?: string };

function readData({ event, data = "" }: ServerEvent): Change | Reset {
  const value = JSON.parse(data) as Change | Reset;
  return event === "reset" ? { kind: "reset", position: value.position } : value;
}

/** Reads until the stream ends, breaks off or is silent for too long; then it throws, but for an end. */
async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await inTime(reader.read());
      if (done) return;
      const frames = (text + decoder.decode(value, { stream: true })).split("\n\n");
      text = frames.pop() ?? "";
      for (const frame of frames)
        yield Object.fromEntries(
          frame
            .split("\n")
            .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]),
        ) as ServerEvent;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function inTime<T>(read: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("the stream is silent")), SILENCE_MS);
    read.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
