import { MemorydError } from "./memoryd-error.ts";
import type { Change } from "./records.ts";
import { type CallOptions, sleep, type Transport } from "./transport.ts";

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
