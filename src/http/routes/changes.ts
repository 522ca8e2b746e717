import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import { forbidden, invalidRequest, ServiceError } from "../../core/errors.ts";
import { FEED_BEGINNING, type FeedPage } from "../../core/feed.ts";
import { occurredAtOf } from "../../core/memory.ts";
import * as wire from "../../schemas/changes.ts";
import { MemoryParams, MemoryRecord, OwnerBody, OwnerQuery } from "../../schemas/memory.ts";
import { DEFAULT_PAGE_LIMIT } from "../../schemas/page.ts";
import { fromWire, present, toWire } from "../../schemas/wire.ts";
import { ownerOf, targetOf } from "../request-fields.ts";
import { pageAt, placeOf } from "../page.ts";
import { seen } from "../records.ts";
import { IfMatchHeaders, ifVersion, writer } from "../request-headers.ts";
import { callerOf, route, routes } from "../route.ts";

/** Of requests about one memory. */
const target = { params: MemoryParams, querystring: OwnerQuery, body: OwnerBody };

export const historyRoutes = routes(({ operationsOf }) => ({
  memoryHistory: route("read GET /memory/:id/history", "List the versions of a memory, newest first", {
    description: "Earlier ones are kept for `--history-days`.",
    params: MemoryParams,
    querystring: wire.MemoryHistoryQuery,
    answer: wire.MemoryHistoryReply,
    handle: async (request) => {
      const page = placeOf(request.query);
      const { items, total } = await operationsOf(request).memoryHistory({
        ...targetOf(request, "memory"),
        ...page,
      });
      const versions = items.map(({ memory, ...change }) => ({
        ...memory,
        occurredAt: occurredAtOf(memory),
        ...change,
      }));
      return pageAt(page, versions, total);
    },
  }),
  restoreVersion: route(
    "write POST /memory/:id/restore",
    "Make an earlier version of a memory the present one",
    {
      description: "As a new version; the one before is kept.",
      params: MemoryParams,
      querystring: OwnerQuery,
      headers: IfMatchHeaders,
      body: wire.RestoreVersionBody,
      answer: MemoryRecord,
      handle: async (request, reply) => {
        const memory = await operationsOf(request).restoreVersion({
          ...targetOf(request, "memory"),
          version: request.body.version,
          ...ifVersion(request),
          ...present({ changedBy: clientOf(request) }),
        });
        reply.header("etag", `"${memory.version}"`);
        return seen(memory);
      },
    },
  ),
  eraseHistory: route(
    "write DELETE /memory/:id/history",
    "Remove the earlier versions of a memory for good",
    {
      description: "The present one stays. For a secret that was changed out of a text.",
      ...target,
      answer: wire.ErasedReply,
      handle: async (request) => {
        const { deleted } = await operationsOf(request).eraseHistory(targetOf(request, "memory"));
        return { ok: true as const, deleted };
      },
    },
  ),
  listTrash: route("read GET /trash", "List what is in the trash", {
    querystring: wire.TrashQuery,
    answer: wire.TrashReply,
    handle: async (request) => {
      const page = placeOf(request.query);
      const { items, total } = await operationsOf(request).listTrash({ ...ownerOf(request), ...page });
      const entries = items.map(({ memory, ...entry }) => ({ ...seen(memory), ...entry }));
      return pageAt(page, entries, total);
    },
  }),
  restoreFromTrash: route("write POST /trash/:id/restore", "Bring a memory back from the trash", {
    errors: ["CONFLICT"],
    description: "The first memory of a document brings all of it back. Embedded again.",
    ...target,
    answer: MemoryRecord,
    handle: async (request) =>
      seen(
        await operationsOf(request).restoreFromTrash({
          ...targetOf(request, "memory"),
          ...present({ restoredBy: clientOf(request) }),
        }),
      ),
  }),
  eraseFromTrash: route("write DELETE /trash/:id", "Remove a memory from the trash for good", {
    description: "With its earlier versions, and, of a document, all of it.",
    ...target,
    answer: wire.ErasedReply,
    handle: async (request) => {
      const { deleted } = await operationsOf(request).eraseFromTrash(targetOf(request, "memory"));
      return { ok: true as const, deleted };
    },
  }),
  emptyTrash: route("write DELETE /trash", "Remove all that is in the trash for good", {
    description: "Of one user, or of everybody.",
    querystring: OwnerQuery,
    body: OwnerBody,
    answer: wire.ErasedReply,
    handle: async (request) => ({
      ok: true as const,
      ...(await operationsOf(request).emptyTrash(ownerOf(request))),
    }),
  }),
  undo: route("write POST /undo", "Take back what was done to memories", {
    errors: ["CONFLICT"],
    description:
      "What was added goes to the trash, what was changed becomes as it was, what was deleted comes back from the trash. " +
      "What others changed since is left, with the reason. Doing it twice changes nothing more, and the same `since` finishes one that was cut short.",
    querystring: OwnerQuery,
    body: wire.UndoBody,
    answer: wire.UndoReply,
    handle: async (request) => {
      const { dryRun = false, client, since, kinds } = fromWire(wire.UndoFields, request.body ?? {});
      const items = await operationsOf(request).undoChanges({
        dryRun,
        ...whose(request, client),
        ...present({ since, kinds, undoneBy: clientOf(request) }),
        ...ownerOf(request),
      });
      return { items };
    },
  }),
}));

const clientOf = (request: FastifyRequest): string | undefined => writer(request).createdBy;

/** By the name of the key: a header may name anybody. @throws {ServiceError} FORBIDDEN. */
function whose(request: FastifyRequest, client: string | undefined): { client?: string | null } {
  const own = request.caller?.name ?? null;
  if (request.caller?.scope === "admin") return client === undefined ? {} : { client };
  if (client === undefined || client === own) return { client: own };
  throw forbidden(
    "Taking back changes that were not made under the name of the key needs one with the scope admin.",
  );
}

const MEDIA_TYPE = "text/event-stream";
/** Positions count from the start of the process: those of before must not open. */
const RUN = randomBytes(4).readUInt32BE();
/** What `Places.seal` answers. */
const POSITION = /^[\w-]{22}$/;
const MAX_STREAMS = 32;
/** Proxies close what is silent for a minute or half of one. */
const HEARTBEAT_MS = 15_000;
const RETRY_AFTER_SECONDS = 10;

export const feedRoutes = routes(({ operationsOf, access, places, stopping }) => {
  let streams = 0;
  const sealed = (position: number) => places.seal(RUN, position);
  /** @throws {ServiceError} INVALID_REQUEST for a text that is no position. */
  function opened(since: string): number | null {
    if (since === String(FEED_BEGINNING)) return FEED_BEGINNING;
    if (!POSITION.test(since))
      throw invalidRequest(
        `"${since}" is no position of a change. Begin with ${FEED_BEGINNING}, or without one.`,
        { fields: [{ path: "/since", message: "must be 0 or a position that an answer had" }] },
      );
    return places.open(RUN, since)?.place ?? null;
  }
  return {
    listChanges: route("read GET /changes", "What changed, oldest first", {
      description:
        "Kind, id, user and time of each change, never its content. Those of the last seven days and since the start are kept, 10 000 of each user at most. A key that " +
        "is bound to a user gets that user's.",
      querystring: wire.ListChangesQuery,
      answer: wire.ListChangesReply,
      handle: async (request) => {
        const { l, since, ...owner } = fromWire(wire.ListChangesQuery, request.query);
        const { items, next, reset } = await operationsOf(request).listChanges({
          since: since === undefined ? FEED_BEGINNING : opened(since),
          limit: l ?? DEFAULT_PAGE_LIMIT,
          ...owner,
        });
        const shown = items.map((item) => ({ ...item, position: sealed(item.position) }));
        return { items: shown, next: sealed(next), reset };
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
        const place = from === undefined ? {} : { since: opened(from) };
        const closed = closedSignal(reply);
        if (!closed.aborted) {
          streams += 1;
          closed.addEventListener("abort", () => (streams -= 1), { once: true });
        }
        const pages = await operationsOf(request).followChanges({
          limit: DEFAULT_PAGE_LIMIT,
          ...owner,
          ...place,
          signal: AbortSignal.any([closed, stopping]),
          heartbeatMs: HEARTBEAT_MS,
        });
        reply.type(MEDIA_TYPE).header("x-accel-buffering", "no");
        // Its own reader asks for the next page, so a slow one holds no more than a page and what its connection takes.
        const frames = framesOf(pages, sealed, () => access.isCurrent(callerOf(request)));
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
async function* framesOf(
  pages: AsyncIterable<FeedPage>,
  sealed: (position: number) => string,
  isCurrent: () => boolean,
): AsyncGenerator<string> {
  for await (const { items, next, reset } of pages) {
    if (!isCurrent()) return;
    const frames = items.map((item) => {
      const change = toWire(wire.ChangeRecord, { ...item, position: sealed(item.position) });
      return `id: ${change.position}\nevent: ${change.kind}\ndata: ${JSON.stringify(change)}\n\n`;
    });
    if (reset) frames.unshift(`event: reset\ndata: ${JSON.stringify({ position: sealed(next) })}\n\n`);
    // Without `data` it is no event, and a client that reconnects goes on from there.
    if (items.at(-1)?.position !== next) frames.push(`id: ${sealed(next)}\n:\n\n`);
    yield frames.join("");
  }
}
