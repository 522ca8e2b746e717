import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { ServiceError } from "../../core/errors.ts";
import { FEED_BEGINNING, type FeedPage } from "../../core/feed.ts";
import * as wire from "../../schemas/feed.ts";
import { DEFAULT_PAGE_LIMIT } from "../../schemas/page.ts";
import { fromWire, toWire } from "../../schemas/wire.ts";
import { route, routes } from "../route.ts";

const MEDIA_TYPE = "text/event-stream";
const MAX_STREAMS = 32;
/** Proxies close what is silent for a minute or half of one. */
const HEARTBEAT_MS = 15_000;
const RETRY_AFTER_SECONDS = 10;

export const feedRoutes = routes([], ({ operationsOf, access, stopping }) => {
  let streams = 0;
  function isCurrent({ caller }: FastifyRequest): boolean {
    return caller !== undefined && access.isCurrent(caller);
  }
  return {
    listChanges: route("read GET /changes", "What changed, oldest first", {
      description:
        "Kind, id, user and time of each change, never its content. The last 100 000 of the last seven days are kept. A key that " +
        "is bound to a user gets that user's.",
      querystring: wire.ListChangesQuery,
      answer: wire.ListChangesReply,
      handle: async (request) => {
        const { l, since = FEED_BEGINNING, ...owner } = fromWire(wire.ListChangesQuery, request.query);
        const page = operationsOf(request).listChanges({ since, limit: l ?? DEFAULT_PAGE_LIMIT, ...owner });
        return toWire(wire.ListChangesReply, page);
      },
    }),
    followChanges: route("read GET /events", "The same as Server-Sent Events, as they happen", {
      answers: MEDIA_TYPE,
      description:
        "`id:` is the position, `event:` the kind, `data:` the change as `GET /changes` has it. An event `reset` says that changes " +
        "are missing. A comment comes after 15 seconds without an event. At most 32 streams are open at once; more are 429.",
      querystring: wire.FollowChangesQuery,
      headers: wire.FollowChangesHeaders,
      handle: async (request, reply) => {
        if (streams >= MAX_STREAMS)
          throw new ServiceError(
            "RATE_LIMITED",
            `${MAX_STREAMS} streams of events are open already. Close one, or ask GET /changes from time to time.`,
            { retryAfterSeconds: RETRY_AFTER_SECONDS },
          );
        const { since, ...owner } = fromWire(wire.FollowChangesQuery, request.query);
        const last = request.headers["last-event-id"];
        const from = typeof last === "string" && last !== "" ? last : since;
        const closed = closedSignal(reply);
        const operations = operationsOf(request);
        const input = { limit: DEFAULT_PAGE_LIMIT, ...owner, ...(from !== undefined && { since: from }) };
        // Refused before the stream begins, where it is no position.
        operations.listChanges({ ...input, limit: 1 });
        const pages = operations.followChanges({
          ...input,
          signal: AbortSignal.any([closed, stopping]),
          heartbeatMs: HEARTBEAT_MS,
        });
        if (!closed.aborted) {
          streams += 1;
          closed.addEventListener("abort", () => (streams -= 1), { once: true });
        }
        reply.type(MEDIA_TYPE).header("x-accel-buffering", "no");
        // Its own reader asks for the next page, so a slow one holds no more than a page and what its connection takes.
        const frames = framesOf(pages, () => isCurrent(request));
        return reply.send(Readable.from(frames, { objectMode: false, highWaterMark: 1 }));
      },
    }),
  };
});

function closedSignal({ raw }: FastifyReply): AbortSignal {
  const closed = new AbortController();
  // It may have gone while it was looked up who calls.
  if (raw.destroyed || raw.socket?.destroyed === true) closed.abort();
  raw.once("close", () => closed.abort());
  return closed.signal;
}

/** Ends where the caller's key is no longer good. */
async function* framesOf(pages: AsyncIterable<FeedPage>, isCurrent: () => boolean): AsyncGenerator<string> {
  for await (const { items, next, reset } of pages) {
    if (!isCurrent()) return;
    const frames = items.map((item) => {
      const change = toWire(wire.ChangeRecord, item);
      return `id: ${change.position}\nevent: ${change.kind}\ndata: ${JSON.stringify(change)}\n\n`;
    });
    if (reset) frames.unshift(`event: reset\ndata: ${JSON.stringify({ position: next })}\n\n`);
    // Without `data` it is no event, and a client that reconnects goes on from there.
    if (items.at(-1)?.position !== next) frames.push(`id: ${next}\n:\n\n`);
    yield frames.join("");
  }
}
