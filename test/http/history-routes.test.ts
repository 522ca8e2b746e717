import { describe, expect, it } from "vitest";
import { bindOperations } from "../../src/core/operations.ts";
import { present } from "../../src/schemas/wire.ts";
import { createDocumentWorld } from "../support/document-world.ts";
import { createKeyRing } from "../support/key-ring.ts";
import { createTestServer } from "../support/test-server.ts";

async function createWorld() {
  const world = createDocumentWorld();
  let made = 0;
  Object.assign(world.ports.ids, {
    newId: () => `019aa5a0-0000-7000-8000-${String((made += 1)).padStart(12, "0")}`,
  });
  const keys = createKeyRing({ now: Date.now });
  const { key: admin } = await keys.create({ name: "admin", scope: "admin" });
  const { key: write } = await keys.create({ name: "writer", scope: "write" });
  const { app } = createTestServer(bindOperations(world.ports), {
    documents: world.operations,
    access: { keys },
  });
  const call = async (
    at: string,
    { body, client, key = admin }: { body?: object; client?: string; key?: string } = {},
  ) => {
    const [method = "GET", url = ""] = at.split(" ");
    const answer = await app.inject({
      method: method as "GET" | "POST" | "PATCH" | "DELETE",
      url,
      headers: { "x-api-key": key, ...(client !== undefined && { "x-memoryd-client": client }) },
      ...(body !== undefined && { payload: body }),
    });
    return { status: answer.statusCode, json: answer.json(), etag: answer.headers["etag"] };
  };
  const add = async (content: string, client: string) =>
    (await call("POST /memory/add", { body: { content, metadata: { n: 1 } }, client })).json.id as string;
  return { world, call, add, admin, write };
}

describe("history over HTTP", () => {
  it("lists versions as pages, and restores one with If-Match's ETag", async () => {
    const { call, add } = await createWorld();
    const id = await add("one", "ann");
    await call(`PATCH /memory/${id}`, { body: { content: "two", tags: ["t"] }, client: "agent" });
    const first = (await call(`GET /memory/${id}/history?limit=1`)).json;
    expect(first).toMatchObject({ total: 2, limit: 1, offset: 0 });
    expect(first.items).toEqual([
      {
        version: 2,
        content: "two",
        tags: ["t"],
        metadata: { n: 1 },
        project: null,
        occurred_at: expect.any(String),
        changed_at: expect.any(String),
        changed_by: "agent",
        change: "updated",
      },
    ]);
    const second = (await call(`GET /memory/${id}/history?limit=1&cursor=${first.next_cursor}`)).json;
    expect(second).toMatchObject({ total: 2, offset: 1, next_cursor: null });
    expect(second.items).toEqual([
      expect.objectContaining({
        version: 1,
        content: "one",
        metadata: { n: 1 },
        changed_by: "ann",
        change: "created",
      }),
    ]);
    const restored = await call(`POST /memory/${id}/restore`, { body: { version: 1 }, client: "ann" });
    expect([restored.status, restored.etag, restored.json.version]).toEqual([200, '"3"', 3]);
    expect((await call(`POST /memory/${id}/restore`, { body: { version: 7 } })).status).toBe(404);
    expect((await call(`POST /memory/${id}/restore`, { body: {} })).status).toBe(400);
    expect((await call(`DELETE /memory/${id}/history`)).json).toEqual({ ok: true, deleted: 2 });
  });

  it("deletes for good unless the trash is asked for", async () => {
    const { call, add } = await createWorld();
    const [final, kept, inBody] = [await add("a", "ann"), await add("b", "ann"), await add("c", "ann")];
    await call(`DELETE /memory/${final}`);
    expect((await call(`DELETE /memory/${kept}?trash=true`, { client: "ann" })).json).toEqual({
      ok: true,
      id: kept,
      deleted: 1,
    });
    await call(`DELETE /memory/${inBody}`, { body: { trash: true } });
    const { items, total } = (await call("GET /trash")).json;
    expect(total).toBe(2);
    const entry = items.find((item: { id: string }) => item.id === kept);
    expect(entry).toMatchObject({ content: "b", deleted_by: "ann", memories: 1 });
    expect(Date.parse(entry.purge_after) - Date.parse(entry.deleted_at)).toBe(30 * 24 * 3_600_000);
    expect((await call(`POST /trash/${kept}/restore`)).json).toMatchObject({ id: kept, version: 2 });
    expect((await call(`DELETE /trash/${kept}`)).status).toBe(404);
    expect((await call(`DELETE /trash/${inBody}`)).json).toEqual({ ok: true, deleted: 1 });
    expect((await call("DELETE /trash")).json).toEqual({ ok: true, deleted: 0 });
  });

  it("takes a document back, whole", async () => {
    const { world, call } = await createWorld();
    const { result } = await world.ingest("A short text on bees.");
    const { id = "", rootMemoryId } = result?.document ?? {};
    expect((await call(`DELETE /documents/${id}?trash=true`)).json).toMatchObject({ ok: true, id });
    expect((await call(`GET /documents/${id}`)).status).toBe(404);
    expect((await call(`POST /trash/${rootMemoryId}/restore`)).status).toBe(200);
    expect((await call(`GET /documents/${id}`)).status).toBe(200);
  });

  it("lets a key without admin take back its own changes alone", async () => {
    const { call, add, write } = await createWorld();
    const id = await add("ann's", "ann");
    await call(`PATCH /memory/${id}`, { body: { content: "agent's" }, client: "agent" });
    await call("POST /memory/add", { body: { content: "own" }, key: write });
    const undo = (body: object | undefined, more: object = {}) =>
      call("POST /undo", { ...(body !== undefined && { body }), key: write, ...more });
    for (const header of [undefined, "agent"])
      expect((await undo({ client: "agent" }, present({ client: header }))).status).toBe(403);
    const own = await undo({ dry_run: true });
    expect(own.json.items).toMatchObject([{ kind: "added", text: "own", done: true }]);
    expect((await undo({ client: "writer", dry_run: true })).json).toEqual(own.json);
    expect((await undo({ dry_run: true }, { client: "agent" })).json).toEqual(own.json);
    expect((await undo(undefined)).json).toEqual(own.json);
    expect((await undo(undefined)).json).toEqual({ items: [] });
    // An admin takes back whose they name, or everybody's.
    const agents = await call("POST /undo", {
      body: { client: "agent", since: "2000-01-01" },
      client: "ann",
    });
    expect(agents.json.items).toEqual([{ kind: "updated", id, text: "agent's", done: true }]);
    expect((await call(`GET /memory/${id}`)).json.content).toBe("ann's");
    const all = await call("POST /undo", { body: { since: "2000-01-01" } });
    expect(all.json.items.map(({ kind }: { kind: string }) => kind)).toEqual(["added"]);
  });
});
