import { describe, expect, it } from "vitest";
import { FAKE_STATUS } from "../support/fake-operations.ts";
import { createTestServer } from "../support/test-server.ts";

const reasons = ["The disk is full: free some space.", "The model is still loading."];
const notReady = { status: () => ({ ...FAKE_STATUS, notReady: reasons }) };

describe("/readyz", () => {
  it("is 503 with the reasons while something is missing", async () => {
    const reply = await createTestServer({}, notReady).get("/readyz");
    expect(reply.statusCode).toBe(503);
    expect(reply.json()).toMatchObject({
      code: "NOT_READY",
      detail: reasons.join(" "),
      errors: reasons.map((message) => ({ path: "", message })),
    });
  });

  it("is 200 on a full disk, where reads and deletions go on, and says so beside /health and /stats", async () => {
    let looks = 0;
    const addsRefused = "the disk is full (59 MB free, 269 MB needed); deleting for good still works";
    const { get } = createTestServer(
      {},
      {
        status: () => ({ ...FAKE_STATUS, store: { ...FAKE_STATUS.store, addsRefused } }),
        lookAtDiskSpace: async () => void (looks += 1),
      },
    );
    const replies = await Promise.all(["/readyz", "/health", "/stats"].map((url) => get(url)));
    expect(replies.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
    expect(replies.map((reply) => reply.json())).toMatchObject([
      { ok: true, adds_refused: addsRefused },
      { ok: true, status: "ok", adds_refused: addsRefused },
      { ready: true, store: { adds_refused: addsRefused, read_only: false } },
    ]);
    expect(looks).toBe(3);
  });

  it("leaves /livez alone", async () => {
    expect((await createTestServer({}, notReady).get("/livez")).statusCode).toBe(200);
  });
});

describe("/health", () => {
  it("sums up, also when not ready", async () => {
    expect((await createTestServer().get("/health")).json()).toEqual({
      ok: true,
      status: "ok",
      version: "0.1.0",
      embedding_model: "all-MiniLM-L6-v2",
      memory_count: 3,
      instance_id: "instance-1",
    });
    const reply = await createTestServer({}, notReady).get("/health");
    expect([reply.statusCode, reply.json()]).toMatchObject([200, { ok: false, status: "not_ready" }]);
  });
});

describe("the proof of who answers", () => {
  const challenge = "c".repeat(43);
  const proofFor = async (options: object, value: string) =>
    (await createTestServer({}, options).get("/health", { headers: { "x-memoryd-challenge": value } }))
      .headers["x-memoryd-proof"];

  it("answers a challenge without a key, and nothing that is none", async () => {
    const prove = (text: string) => `proof of ${text}`;
    const locked = { prove, access: { apiKey: "a-key-of-some-length" } };
    expect(await proofFor(locked, challenge)).toBe(`proof of ${challenge}`);
    expect(await proofFor(locked, "short")).toBeUndefined();
  });
});

describe("/version and /stats", () => {
  it("say what runs and what it is doing", async () => {
    const { get } = createTestServer({ listSuperseded: async () => ({ items: [], total: 1 }) });
    expect((await get("/version")).json()).toEqual({
      name: "memoryd",
      version: "0.1.0",
      node: process.versions.node,
    });
    expect((await get("/stats")).json()).toMatchObject({
      memory_count: 3,
      perhaps_superseded: 1,
      ready: true,
      sectors: { semantic: 0, episodic: 0 },
      embedding: { workers: 1, waiting: 0 },
      store: { position: "1.7", checkpoint: "1.5", pending_rows: 2, read_only: false },
    });
  });
});

describe("/shutdown", () => {
  const localToken = "the-token-in-the-data-directory";

  it("stops the daemon for whoever has the token, after the answer", async () => {
    let stops = 0;
    const { app } = createTestServer({}, { access: { localToken }, requestStop: () => (stops += 1) });
    const headers = { authorization: `Bearer ${localToken}` };
    const reply = await app.inject({ method: "POST", url: "/shutdown", headers });
    expect([reply.statusCode, reply.json()]).toEqual([200, { ok: true }]);
    await expect.poll(() => stops).toBe(1);
  });

  it.each([{}, { authorization: "Bearer something-else-altogether" }])(
    "is refused to others: %j",
    async (headers) => {
      let stops = 0;
      const { app } = createTestServer({}, { access: { localToken }, requestStop: () => (stops += 1) });
      expect((await app.inject({ method: "POST", url: "/shutdown", headers })).statusCode).toBe(403);
      expect(stops).toBe(0);
    },
  );
});
