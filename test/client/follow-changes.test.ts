import { afterEach, beforeEach, expect, it } from "vitest";
import { type Change, createClient, type Reset } from "../../src/client/client.ts";
import { bindOperations, type Operations } from "../../src/core/operations.ts";
import { createPlaces } from "../../src/daemon/beside-store.ts";
import { listen, type Listening } from "../../src/http/listen.ts";
import { createMemoryWorld } from "../support/memory-world.ts";
import { createTestServer } from "../support/test-server.ts";

let operations: Operations;
let listening: Listening;
let stopping: AbortController;
let port = 0;

async function start(): Promise<void> {
  stopping = new AbortController();
  const { app } = createTestServer(operations, { stopping: stopping.signal });
  listening = await listen(app, { host: "127.0.0.1", port });
  ({ port } = listening);
}
async function stop(): Promise<void> {
  stopping.abort();
  await listening.close(0);
}

beforeEach(async () => {
  operations = bindOperations(createMemoryWorld().ports);
  port = 0;
  await start();
});
afterEach(stop);

const add = async (content: string, userId?: string) =>
  (await operations.addMemory({ content, ...(userId !== undefined && { userId }) })).memory.id;
const client = () => createClient({ url: `http://127.0.0.1:${port}` });
const next = async (changes: AsyncGenerator<Change | Reset, void, undefined>) => (await changes.next()).value;

it("follows from a position, over a restart of the daemon, and misses nothing", async () => {
  const first = await add("one");
  const changes = client().changes({ since: "0" });
  expect(await next(changes)).toMatchObject({ kind: "memory.added", id: first });
  await stop();
  const second = await add("two");
  const waiting = next(changes);
  await start();
  expect(await waiting).toMatchObject({ id: second });
  await operations.deleteMemory({ id: first });
  expect(await next(changes)).toMatchObject({ kind: "memory.deleted", id: first });
  await changes.return();
});

it("gives again what its reader had not dealt with, and only one user's where that is asked", async () => {
  await add("ben's", "ben");
  const ann = await add("ann's", "ann");
  const changes = client().changes({ since: "0", user_id: "ann" });
  const change = await next(changes);
  expect(change).toMatchObject({ id: ann, user_id: "ann" });
  await changes.return();
  const later = await add("later", "ann");
  const again = client().changes({ since: change?.position, user_id: "ann" });
  expect(await next(again)).toMatchObject({ id: later });
  await again.return();
});

it("tells its reader to begin again where changes are missing", async () => {
  const changes = client().changes({ since: createPlaces("another store").seal(7, 7) });
  expect(await next(changes)).toMatchObject({ kind: "reset" });
  const waiting = next(changes);
  const id = await add("after");
  expect(await waiting).toMatchObject({ id });
  await changes.return();
});

it("throws what the daemon refuses, a daemon that is not there, and the reason of its signal", async () => {
  await expect(next(client().changes({ since: "x y" }))).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  const nobody = createClient({ url: "http://127.0.0.1:9", retries: 0 });
  await expect(next(nobody.changes())).rejects.toMatchObject({ code: "UNREACHABLE" });
  const abort = new AbortController();
  const waiting = next(client().changes({ signal: abort.signal }));
  setTimeout(() => abort.abort(new Error("enough")), 50);
  await expect(waiting).rejects.toThrow("enough");
});
