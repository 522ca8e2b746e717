/**
 * Who may do what, written down: every route × every kind of caller. A new route fails until it has a row here. Beside
 * the status each cell is looked at for what it shows of others, and for what it changed of theirs.
 */
import { describe, expect, it } from "vitest";
import { bindOperations, type Operations } from "../../src/core/operations.ts";
import { createPlaces } from "../../src/daemon/beside-store.ts";
import { createAgentEndpoint } from "../../src/mcp/agent-endpoint.ts";
import { createDocumentWorld, type DocumentWorld } from "../support/document-world.ts";
import { createKeyRing } from "../support/key-ring.ts";
import { createTestServer } from "../support/test-server.ts";

/**
 * The rows asked about are ann's. In order: a key that is bound to nobody and names no user, names ann, names ben; ann's
 * key, ben's key, ann's key that names ben; a key that may only read.
 */
const COLUMNS = [
  "nobody named",
  "owner named",
  "other named",
  "own key",
  "other's key",
  "own key, other named",
  "read key",
] as const;
type Column = (typeof COLUMNS)[number];

interface Row {
  /** A status for each column. */
  readonly statuses: string;
  readonly path?: (ids: Ids) => string;
  readonly body?: (ids: Ids) => object;
  /** Where the user is named; without it in the query where there is no body, and in the items of a batch. */
  readonly userIn?: "body" | "path" | "address";
}

/** Ids of one owner's things, or of nothing. */
interface Ids {
  readonly user: string;
  readonly memory: string;
  readonly trashed: string;
  readonly fact: string;
  readonly document: string;
  readonly job: string;
}

const UNKNOWN = "019aa5a0-6c1e-7c3a-9d0f-ffffffffffff";
const place = { subject: "Ada", predicate: "lives in" };

/** A read of what there is: everybody's, one user's, or the key's own. */
const LIST = "200 200 200 200 200 403 200";
/** A read of one thing: another's is not there. */
const ONE = "200 200 404 200 404 403 200";
/** A change of one thing: another's is protected from who may know of it, and not there for a key of another. */
const CHANGE = "200 200 403 200 404 403 403";
/** A write of something new. */
const WRITE = "200 200 200 200 200 403 403";
/** Of everybody: no user can be named. */
const ADMIN = "200 400 400 403 403 403 403";
const ANYBODY = "200 200 200 200 200 200 200";
/** The same where no user can be named. */
const ANYBODY_AS_SUCH = "200 400 400 200 200 400 200";

const body = (fields: object) => () => fields;
const ROWS: Readonly<Record<string, Row>> = {
  "POST /memory/add": { statuses: WRITE, userIn: "body", body: body({ content: "new" }) },
  // Items are judged one by one; see below.
  "POST /memory/add/batch": {
    statuses: "200 200 200 200 200 200 403",
    body: body({ memories: [{ content: "new" }] }),
  },
  "POST /memory/query": {
    statuses: LIST,
    userIn: "body",
    body: body({ query: "secret", include_facts: true, k: 50 }),
  },
  "POST /context": { statuses: LIST, userIn: "body", body: body({ query: "secret" }) },
  "PATCH /memory/:id": {
    statuses: CHANGE,
    userIn: "body",
    path: ({ memory }) => `/memory/${memory}`,
    body: body({ tags: ["new"] }),
  },
  // Items are judged one by one; another's is not there.
  "POST /memory/tags": {
    statuses: WRITE,
    userIn: "body",
    body: ({ memory }) => ({ memories: [{ id: memory }], add: ["new"] }),
  },
  "DELETE /memory/:id": { statuses: CHANGE, path: ({ memory }) => `/memory/${memory}` },
  "GET /memory/all": { statuses: LIST },
  "GET /memory/counts": { statuses: LIST, path: () => "/memory/counts?by=client" },
  "GET /memory/superseded": { statuses: LIST },
  "GET /memory/coming": { statuses: LIST },
  "GET /memory/:id": { statuses: ONE, path: ({ memory }) => `/memory/${memory}` },
  "POST /memory/reinforce": { statuses: CHANGE, userIn: "body", body: ({ memory }) => ({ id: memory }) },
  "GET /memory/:id/related": { statuses: ONE, path: ({ memory }) => `/memory/${memory}/related` },
  "GET /memory/:id/history": { statuses: ONE, path: ({ memory }) => `/memory/${memory}/history` },
  "POST /memory/:id/restore": {
    statuses: CHANGE,
    userIn: "body",
    path: ({ memory }) => `/memory/${memory}/restore`,
    body: body({ version: 1 }),
  },
  "DELETE /memory/:id/history": { statuses: CHANGE, path: ({ memory }) => `/memory/${memory}/history` },
  "GET /trash": { statuses: LIST },
  "POST /trash/:id/restore": { statuses: CHANGE, path: ({ trashed }) => `/trash/${trashed}/restore` },
  "DELETE /trash/:id": { statuses: CHANGE, path: ({ trashed }) => `/trash/${trashed}` },
  "DELETE /trash": { statuses: WRITE },
  "POST /undo": { statuses: WRITE, userIn: "body", body: body({ since: "2000-01-01" }) },
  "GET /sectors": { statuses: LIST },
  "POST /ingest": { statuses: WRITE, userIn: "body", body: body({ text: "new text" }) },
  "POST /memory/ingest": {
    statuses: WRITE,
    userIn: "body",
    body: body({ content_type: "txt", data: Buffer.from("new text").toString("base64") }),
  },
  "POST /memory/ingest/url": { statuses: WRITE, userIn: "body", body: body({ url: "http://page.example/" }) },
  "GET /jobs": { statuses: LIST },
  "GET /jobs/:id": { statuses: ONE, path: ({ job }) => `/jobs/${job}` },
  "DELETE /jobs/:id": { statuses: CHANGE, path: ({ job }) => `/jobs/${job}` },
  "GET /documents": { statuses: LIST },
  "GET /documents/:id": { statuses: ONE, path: ({ document }) => `/documents/${document}` },
  "DELETE /documents/:id": { statuses: CHANGE, path: ({ document }) => `/documents/${document}` },
  "GET /documents/:id/file": { statuses: ONE, path: ({ document }) => `/documents/${document}/file` },
  "PUT /documents/:id/file": { statuses: CHANGE, path: ({ document }) => `/documents/${document}/file` },
  // Its source must be a memory of the same user, which nobody's fact has not.
  "POST /api/temporal/fact": {
    statuses: "404 200 404 200 404 403 403",
    userIn: "body",
    body: ({ memory }) => ({ ...place, object: "York", source_memory_id: memory }),
  },
  "POST /api/temporal/fact/batch": {
    statuses: "200 200 200 200 200 200 403",
    body: body({ facts: [{ ...place, object: "York" }] }),
  },
  "GET /api/temporal/fact": { statuses: LIST },
  "GET /api/temporal/fact/current": {
    statuses: LIST,
    path: () => "/api/temporal/fact/current?subject=Ada&predicate=lives+in",
  },
  "GET /api/temporal/fact/:id": { statuses: ONE, path: ({ fact }) => `/api/temporal/fact/${fact}` },
  "PATCH /api/temporal/fact/:id": {
    statuses: CHANGE,
    userIn: "body",
    path: ({ fact }) => `/api/temporal/fact/${fact}`,
    body: body({ confidence: 0.5 }),
  },
  "DELETE /api/temporal/fact/:id": { statuses: CHANGE, path: ({ fact }) => `/api/temporal/fact/${fact}` },
  "GET /api/temporal/timeline": { statuses: LIST, path: () => "/api/temporal/timeline?subject=Ada" },
  "GET /api/temporal/search": { statuses: LIST, path: () => "/api/temporal/search?pattern=secret" },
  "GET /api/temporal/compare": {
    statuses: LIST,
    path: () => "/api/temporal/compare?time1=2020-01-01&time2=2100-01-01",
  },
  "GET /api/temporal/stats": { statuses: LIST },
  "GET /api/temporal/volatile": { statuses: LIST },
  "GET /changes": { statuses: LIST },
  "GET /events": { statuses: LIST, path: () => "/events?since=0" },
  "GET /api/temporal/subjects": { statuses: LIST },
  "GET /users": { statuses: ADMIN },
  "GET /users/:user_id/summary": {
    statuses: "200 200 200 200 403 403 200",
    userIn: "path",
    path: ({ user }) => `/users/${user}/summary`,
  },
  "POST /users/:user_id/summary/regenerate": {
    statuses: "200 200 200 200 403 403 403",
    userIn: "path",
    path: ({ user }) => `/users/${user}/summary/regenerate`,
  },
  "GET /users/:user_id/memories": {
    statuses: "200 200 200 200 403 403 200",
    userIn: "path",
    path: ({ user }) => `/users/${user}/memories`,
  },
  "DELETE /users/:user_id/memories": {
    statuses: "200 200 200 200 403 403 403",
    userIn: "path",
    path: ({ user }) => `/users/${user}/memories`,
  },
  "GET /export": { statuses: "200 200 200 403 403 403 403" },
  // A `user_id` in the query of a POST that reads none there would be overlooked, so it is refused.
  "POST /import": { statuses: "200 400 400 403 403 403 403" },
  "GET /stats": { statuses: ADMIN },
  "GET /metrics": { statuses: ADMIN },
  "GET /backups": { statuses: ADMIN },
  "POST /backups": { statuses: "202 400 400 403 403 403 403" },
  "POST /backups/:name/verify": {
    statuses: "200 400 400 403 403 403 403",
    path: () => "/backups/one/verify",
  },
  "DELETE /backups/:name": { statuses: ADMIN, path: () => "/backups/one" },
  "GET /compact": { statuses: ADMIN },
  "GET /models": { statuses: ADMIN },
  "GET /settings": { statuses: ADMIN },
  "GET /logs": { statuses: ADMIN },
  "POST /models/use": { statuses: "202 202 202 403 403 403 403", body: () => ({ name: "small" }) },
  "POST /compact": { statuses: "202 400 400 403 403 403 403" },
  "GET /keys": { statuses: ADMIN },
  "POST /keys": { statuses: "200 200 200 403 403 403 403", body: body({ name: "new" }) },
  "DELETE /keys/:id": { statuses: ADMIN, path: () => `/keys/${KEY_TO_REVOKE}` },
  // For the token of the data directory alone.
  "DELETE /keys": { statuses: "403 400 400 403 403 403 403" },
  "POST /session/codes": { statuses: "403 400 400 403 403 403 403" },
  // Codes are for who has no key yet.
  "POST /session": { statuses: "401 401 401 401 401 401 401", body: body({ code: "guessed" }) },
  "GET /session": { statuses: ANYBODY_AS_SUCH },
  "DELETE /session": { statuses: ANYBODY_AS_SUCH },
  "POST /shutdown": { statuses: "403 400 400 403 403 403 403" },
  // A tool that refuses says so within its answer; what it shows is looked at like any other.
  "POST /mcp": {
    statuses: ANYBODY,
    userIn: "address",
    body: body({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "memory_search", arguments: { query: "secret" } },
    }),
  },
  "GET /livez": { statuses: ANYBODY },
  "GET /readyz": { statuses: ANYBODY },
  "GET /health": { statuses: ANYBODY },
  "GET /version": { statuses: ANYBODY_AS_SUCH },
  "GET /openapi.json": { statuses: ANYBODY_AS_SUCH },
};
const KEY_TO_REVOKE = "019aa5a0-6c1e-7c3a-9d0f-000000000004";
/** Bodies that are no JSON: their media type and what they are. */
const RAW_BODIES: Readonly<Record<string, readonly [type: string, bodyOf: (ids: Ids) => string]>> = {
  "POST /import": [
    "application/x-ndjson",
    () => `${JSON.stringify({ format: "memoryd-export", version: 1 })}\n`,
  ],
  "PUT /documents/:id/file": ["application/octet-stream", ({ user }) => documentOf(user || undefined)],
};

const USERS = ["ann", "ben", undefined] as const;
/** What only this user's things hold. */
const markerOf = (user: string | undefined) => `secret-of-${user ?? "nobody"}`;

const documentOf = (user: string | undefined) => `${markerOf(user)} in a document`;

interface World extends DocumentWorld {
  readonly all: Operations;
  readonly request: (column: Column, route: string, ids: Ids) => Promise<{ status: number; body: string }>;
  readonly ids: ReadonlyMap<string | undefined, Ids>;
}

async function createWorld(): Promise<World> {
  const world = createDocumentWorld();
  world.pages.set("http://page.example/", "a page");
  let made = 0;
  Object.assign(world.ports.ids, {
    newId: () => `019aa5a0-0000-7000-8000-${String((made += 1)).padStart(12, "0")}`,
  });
  Object.assign(world.documentPorts.ids, world.ports.ids);
  const all = bindOperations(world.ports);
  const ids = new Map<string | undefined, Ids>();
  for (const user of USERS) {
    const owner = user === undefined ? {} : { userId: user };
    const { memory } = await all.addMemory({
      content: `${markerOf(user)} in a memory`,
      sessionId: "talk",
      ...owner,
    });
    await all.updateMemory({ id: memory.id, tags: [markerOf(user)] });
    const gone = await all.addMemory({ content: `${markerOf(user)} in the trash`, ...owner });
    await all.deleteMemory({ id: gone.memory.id, trash: true });
    const { fact } = await all.recordFact({ ...place, object: markerOf(user), ...owner });
    const job = await world.send(documentOf(user), owner);
    const { result } = await world.operations.awaitJob({ id: job }, new AbortController().signal);
    ids.set(user, {
      user: user ?? "",
      memory: memory.id,
      trashed: gone.memory.id,
      fact: fact.id,
      document: result?.document.id ?? "",
      job,
    });
  }

  const keys = createKeyRing({ now: Date.now });
  const { key: admin } = await keys.create({ name: "admin", scope: "admin" });
  const { key: ann } = await keys.create({ name: "ann", scope: "write", userId: "ann" });
  const { key: ben } = await keys.create({ name: "ben", scope: "write", userId: "ben" });
  const { key: read } = await keys.create({ name: "read", scope: "read" });
  const keyOf: Record<Column, string> = {
    "nobody named": admin,
    "owner named": admin,
    "other named": admin,
    "own key": ann,
    "other's key": ben,
    "own key, other named": ann,
    "read key": read,
  };
  const agents = createAgentEndpoint({
    places: createPlaces("a store"),
    version: "0",
    timeZone: "UTC",
    clock: { now: Date.now },
    addsPerHour: 9,
    report: () => {},
  });
  const { app } = createTestServer(all, {
    documents: world.operations,
    mcp: agents,
    access: { keys, localToken: "the-local-token" },
    // Streams end with their first page.
    stopping: AbortSignal.abort(),
  });

  const request: World["request"] = async (column, route, of) => {
    const [method = "", pattern = ""] = route.split(" ");
    const row = ROWS[route];
    const named = userNamed(column);
    const inPath = row?.userIn === "path" ? { ...of, user: named ?? of.user } : of;
    let url = row?.path?.(inPath) ?? pattern;
    let payload: object | undefined = row?.body?.(of);
    if (named !== undefined && row?.userIn === "body") payload = { ...payload, user_id: named };
    else if (named !== undefined && row?.userIn !== "address" && payload !== undefined)
      payload = withUserInItems(payload, named);
    else if (named !== undefined && row?.userIn !== "path")
      url += `${url.includes("?") ? "&" : "?"}user_id=${named}`;
    const [rawType, rawBodyOf] = RAW_BODIES[route] ?? [];
    const answer = await app.inject({
      method: method as "GET" | "POST" | "PUT" | "PATCH" | "DELETE",
      url,
      headers: {
        "x-api-key": keyOf[column],
        ...(rawType !== undefined && { "content-type": rawType }),
        ...(pattern === "/mcp" && { accept: "application/json, text/event-stream" }),
      } as Record<string, string>,
      ...(rawBodyOf !== undefined ? { payload: rawBodyOf(of) } : payload !== undefined && { payload }),
    });
    return { status: answer.statusCode, body: answer.body };
  };
  return Object.assign(world, { all, request, ids });
}

function userNamed(column: Column): string | undefined {
  if (column === "owner named") return "ann";
  return column.endsWith("other named") ? "ben" : undefined;
}

/** In the items of a batch; elsewhere a body without `user_id` names nobody. */
function withUserInItems(payload: object, user: string): object {
  return Object.fromEntries(
    Object.entries(payload).map(([name, value]: [string, unknown]) => [
      name,
      Array.isArray(value) ? value.map((item: object) => ({ ...item, user_id: user })) : value,
    ]),
  );
}

/** Everything of one owner, as the daemon's owner sees it. */
async function stateOf({ all, operations }: World, user: string | undefined): Promise<unknown> {
  const page = { limit: 100, offset: 0 };
  const isTheirs = ({ userId }: { readonly userId: string | null }) => userId === (user ?? null);
  const { items } = await all.listMemories({ filter: {}, ...page });
  const histories = items.filter(isTheirs).map(({ id }) => all.memoryHistory({ id, ...page }));
  const trash = (await all.listTrash(page)).items;
  return {
    histories: await Promise.all(histories),
    trash: trash.filter(({ memory }) => isTheirs(memory)),
    memories: items.filter(isTheirs),
    facts: (await all.findFacts(page)).facts.filter(isTheirs),
    documents: operations.listDocuments(page).items.filter(isTheirs),
  };
}

/** Whose things a caller in the column may see, and change. */
const REACH: Readonly<
  Record<Column, { readonly sees: readonly unknown[]; readonly changes: readonly unknown[] }>
> = {
  "nobody named": { sees: USERS, changes: USERS },
  "owner named": { sees: ["ann"], changes: ["ann"] },
  "other named": { sees: ["ben"], changes: ["ben"] },
  "own key": { sees: ["ann"], changes: ["ann"] },
  "other's key": { sees: ["ben"], changes: ["ben"] },
  "own key, other named": { sees: [], changes: [] },
  "read key": { sees: USERS, changes: [] },
};

let shared: Promise<World> | undefined;
/** Reads and refusals change nothing, which each cell checks, so they share a world; a change gets one of its own. */
function worldFor(route: string, status: number): Promise<World> {
  if (!route.startsWith("GET ") && status < 300) return createWorld();
  return (shared ??= createWorld());
}

const cells = Object.entries(ROWS).flatMap(([route, { statuses }]) =>
  COLUMNS.map((column, i) => [route, column, Number(statuses.split(" ")[i])] as const),
);

describe("the table of routes and callers", () => {
  it("has a row for every route, and no other", async () => {
    const answer = await createTestServer().get("/openapi.json");
    const { paths } = answer.json<{ paths: Record<string, object> }>();
    const routes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ":$1")}`),
    );
    expect(Object.keys(ROWS).toSorted()).toEqual(routes.toSorted());
  });

  it.each(cells)("%s, %s: %i", async (route, column, status) => {
    const world = await worldFor(route, status);
    const before = await Promise.all(USERS.map((user) => stateOf(world, user)));
    const answer = await world.request(column, route, idsOf(world, "ann"));
    expect(answer).toMatchObject({ status });

    const { sees, changes } = REACH[column];
    for (const [i, user] of USERS.entries()) {
      if (!sees.includes(user)) {
        expect(answer.body).not.toContain(markerOf(user));
        const { memory, fact, document, job } = idsOf(world, user);
        for (const id of [memory, fact, document, job])
          if (user !== "ann") expect(answer.body).not.toContain(id);
      }
      if (!changes.includes(user)) expect(await stateOf(world, user)).toEqual(before[i]);
    }
  });
});

const withIds = Object.entries(ROWS).filter(
  ([route, { path, body }]) =>
    route !== "DELETE /keys/:id" &&
    /\/:id|reinforce|POST .*\/fact$/.test(route) &&
    (path ?? body) !== undefined,
);

describe("to a bound key an id of somebody else", () => {
  it.each(withIds)("is unknown: %s", async (route) => {
    const answers = [];
    for (const user of ["ben", undefined, "unknown"]) {
      const world = await createWorld();
      const ids =
        user === "unknown"
          ? { user: "", memory: UNKNOWN, trashed: UNKNOWN, fact: UNKNOWN, document: UNKNOWN, job: UNKNOWN }
          : idsOf(world, user);
      const { status, body } = await world.request("own key", route, ids);
      answers.push({ status, body: body.replace(/"request_id":"[^"]*"/, "") });
    }
    expect(answers[2]?.status).toBe(404);
    expect(answers[0]).toEqual(answers[2]);
    expect(answers[1]).toEqual(answers[2]);
  });
});

describe("a bound key", () => {
  it.each(["GET /memory/all", "POST /memory/query", "GET /api/temporal/fact", "POST /mcp"])(
    "sees what is its own: %s",
    async (route) => {
      const world = await createWorld();
      const { body } = await world.request("own key", route, idsOf(world, "ann"));
      expect(body).toContain(markerOf("ann"));
    },
  );
});

describe("a batch of a bound key", () => {
  it.each(["POST /memory/add/batch", "POST /api/temporal/fact/batch"])(
    "has items of others refused: %s",
    async (route) => {
      const world = await createWorld();
      const { body } = await world.request("own key, other named", route, idsOf(world, "ann"));
      expect(JSON.parse(body)).toMatchObject({
        results: [{ status: 403, code: "FORBIDDEN" }],
        added: 0,
        failed: 1,
      });
    },
  );
});

function idsOf({ ids }: World, user: string | undefined): Ids {
  const found = ids.get(user);
  if (found === undefined) throw new TypeError(`${user} has nothing`);
  return found;
}
