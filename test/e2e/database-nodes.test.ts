import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, get } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "../../src/storage/postgres/database.ts";
import { type Answer, call, type DaemonProcess, startDaemonProcess } from "../support/daemon-process.ts";
import { type PostgresServer, hasPostgres, startPostgres } from "../support/postgres-server.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { times } from "../support/stress.ts";

const LAUNCHER = resolve(import.meta.dirname, "../../bin/memoryd.js");
/** A revocation holds on all nodes after so long. */
const KEYS_KNOWN_MS = 5_000;

/** Two daemons over one database. A write that one has answered is in the next answer of the other, whatever dies. */
describe.skipIf(!hasPostgres)("two nodes over one database", () => {
  let server: PostgresServer;
  let address: string;
  const folders: string[] = [];
  let nodes: DaemonProcess[] = [];

  const startNode = (folder: string, words: readonly string[] = []) =>
    startDaemonProcess(folder, { MEMORYD_STORE: address }, words);
  const memoryd = (...words: string[]) =>
    spawnSync(process.execPath, [LAUNCHER, ...words], {
      encoding: "utf8",
      env: { PATH: process.env["PATH"] ?? "", HOME: folders[0] },
    });

  beforeAll(async () => {
    server = await startPostgres();
    address = await server.database("nodes");
    for (let i = 0; i < 2; i += 1) folders.push(mkdtempSync(join(tmpdir(), "memoryd-node-")));
    const { stdout, stderr } = memoryd("store", "prepare", "--store", address);
    if (stdout !== "The database is prepared.\n") throw new Error(stdout + stderr);
    nodes = await Promise.all(folders.map((folder) => startNode(folder)));
  });
  afterAll(async () => {
    for (const node of nodes) await node.kill();
    server.stop();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  const at = (i: number) => nodes[i % nodes.length] as DaemonProcess;
  const add = (node: DaemonProcess, user: string, content: string) =>
    call(node, "POST", "/memory/add", { content, user_id: user });
  const list = async (node: DaemonProcess, user: string): Promise<Map<string, string>> => {
    const { status, body } = await call(node, "GET", `/memory/all?user_id=${user}&l=1000`);
    expect(status).toBe(200);
    const memories = (body as { items: { id: string; content: string }[] }).items;
    return new Map(memories.map(({ id, content }) => [id, content]));
  };

  it.each(Array.from({ length: times(10) }, (_, seed) => seed))(
    "show each other's answered writes at once, in random work on shared users (%i)",
    async (seed) => {
      const random = seededRandom(seed);
      const users = [randomUUID(), randomUUID(), randomUUID()];
      await Promise.all(
        users.map(async (user) => {
          const expected = new Map<string, string>();
          for (let i = 0; i < 20; i += 1) {
            const [writer, reader] = random() < 0.5 ? [at(0), at(1)] : [at(1), at(0)];
            const [known] = [...expected.keys()].slice(Math.floor(random() * expected.size));
            const choice = random();
            const content = `note ${seed} ${i} about the garden`;
            if (known === undefined || choice < 0.5) {
              const { status, body } = await add(writer, user, content);
              expect(status).toBe(200);
              expected.set(body.id, content);
            } else if (choice < 0.8) {
              const change = { content, user_id: user };
              expect((await call(writer, "PATCH", `/memory/${known}`, change)).status).toBe(200);
              expected.set(known, content);
            } else {
              const gone = await call(writer, "DELETE", `/memory/${known}?user_id=${user}`);
              expect(gone.status).toBe(200);
              expected.delete(known);
            }
            expect(await list(reader, user)).toEqual(expected);
          }
          const question = { query: "what about the garden?", user_id: user };
          const answers = await Promise.all(
            nodes.map((node) => call(node, "POST", "/memory/query", question)),
          );
          const hits = answers.map(({ body }: Answer) =>
            (body as { matches: { id: string; score: number }[] }).matches.map(({ id, score }) => [
              id,
              score.toFixed(4),
            ]),
          );
          expect(hits[1]).toEqual(hits[0]);
        }),
      );
    },
  );

  it("lose no answered write and make none twice when a node is killed", async () => {
    const user = randomUUID();
    const answered = new Set<string>();
    const asked = new Set<string>();
    const over = new AbortController();
    const writers = [0, 0, 1, 1].map(async (node, w) => {
      for (let i = 0; !over.signal.aborted; i += 1) {
        const content = `note ${i} of writer ${w}`;
        asked.add(content);
        const answer = await add(at(node), user, content).catch(() => undefined);
        if (answer?.status === 200) answered.add(content);
        else await sleep(50);
      }
    });
    for (let round = 0; round < times(2); round += 1) {
      await sleep(700);
      await at(0).kill();
      await sleep(300);
      nodes[0] = await startNode(folders[0] as string);
    }
    await sleep(500);
    over.abort();
    await Promise.all(writers);
    const contents = [...(await list(at(0), user)).values()];
    expect([...(await list(at(1), user)).values()]).toEqual(contents);
    expect(new Set(contents).size).toBe(contents.length);
    expect(contents).toEqual(expect.arrayContaining([...answered]));
    expect(contents.filter((content) => !asked.has(content))).toEqual([]);
    expect(answered.size).toBeGreaterThan(20);
  });

  it("find all memories of a user whose image a node was killed at storing", async () => {
    const user = randomUUID();
    const all = Array.from({ length: 500 }, (_, i) => ({ content: `note ${i}`, user_id: user }));
    for (let first = 0; first < all.length; first += 100)
      await call(at(1), "POST", "/memory/add/batch", { memories: all.slice(first, first + 100) });
    const database = openDatabase({ connectionString: address });
    const holder = await database.begin();
    await holder.query("lock table memoryd.image in share mode");
    const asked = list(at(0), user).catch(() => undefined);
    const storing =
      "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like 'insert into memoryd.image%'";
    await expect.poll(() => server.run(storing)).toHaveLength(1);
    await at(0).kill();
    await asked;
    await holder.end();
    nodes[0] = await startNode(folders[0] as string);
    for (const node of nodes) expect((await list(node, user)).size).toBe(500);
    const stored = "select octet_length(content) > 0 from memoryd.image where owner = $1";
    expect(await database.query(stored, [user])).toEqual([[true]]);
    await database.close();
  });

  it("finish on one node an undo that another was killed at", async () => {
    const user = randomUUID();
    const all = Array.from({ length: 300 }, (_, i) => ({ content: `note ${i} of the agent`, user_id: user }));
    await add(at(0), user, "as it was");
    await sleep(5);
    const since = new Date().toISOString();
    for (let first = 0; first < all.length; first += 100)
      await call(at(1), "POST", "/memory/add/batch", { memories: all.slice(first, first + 100) });
    const cut = call(at(0), "POST", "/undo", { since, user_id: user }).catch(() => undefined);
    const database = openDatabase({ connectionString: address });
    const trashed = "select from memoryd.row where owner = $1 and kind = 9 limit 1";
    while ((await database.query(trashed, [user])).length === 0) await sleep(1);
    const holder = await database.begin();
    await holder.query("select from memoryd.owner where owner = $1 for update", [user]);
    await at(0).kill();
    await cut;
    await holder.end();
    await database.close();
    nodes[0] = await startNode(folders[0] as string);
    expect((await list(at(1), user)).size).toBeGreaterThan(1);
    expect((await call(at(1), "POST", "/undo", { since, user_id: user })).status).toBe(200);
    for (const node of nodes) expect([...(await list(node, user)).values()]).toEqual(["as it was"]);
  });

  it("delete all memories of a user or none when a node is killed between two statements", async () => {
    const user = randomUUID();
    for (const content of ["one", "two"]) await add(at(1), user, content);
    const database = openDatabase({ connectionString: address });
    const holder = await database.begin();
    // The first statement deletes, the second empties these.
    await holder.query("select from memoryd.record where owner = $1 for update", [user]);
    const cut = call(at(0), "DELETE", `/users/${user}/memories`).catch(() => undefined);
    const between =
      "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like 'update memoryd.record%'";
    await expect.poll(() => server.run(between)).toHaveLength(1);
    await at(0).kill();
    await cut;
    await holder.end();
    await database.close();
    nodes[0] = await startNode(folders[0] as string);
    for (const node of nodes) expect([...(await list(node, user)).values()]).toEqual(["two", "one"]);
    expect((await call(at(1), "DELETE", `/users/${user}/memories`)).body).toMatchObject({ deleted: 2 });
    for (const node of nodes) expect(await list(node, user)).toEqual(new Map());
  });

  it("answer 503 without the database, say so when asked, and go on when it is back", async () => {
    const user = randomUUID();
    await add(at(0), user, "before");
    const back = server.crash(7_000);
    await sleep(500);
    expect((await add(at(0), user, "while")).status).toBe(503);
    await expect.poll(async () => (await call(at(0), "GET", "/readyz")).status).toBe(503);
    expect((await call(at(0), "GET", "/livez")).status).toBe(200);
    const health = await call(at(0), "GET", "/health");
    expect([health.status, health.body]).toMatchObject([503, { status: "not_ready" }]);
    await back;
    await expect.poll(async () => (await call(at(0), "GET", "/readyz")).status).toBe(200);
    expect((await call(at(0), "GET", "/health")).status).toBe(200);
    expect((await add(at(1), user, "after")).status).toBe(200);
    expect([...(await list(at(0), user)).values()]).toEqual(["after", "before"]);
  });

  it("answer 503 of their health while they stop, over connections that were kept open", async () => {
    const user = randomUUID();
    const folder = mkdtempSync(join(tmpdir(), "memoryd-node-"));
    folders.push(folder);
    const node = await startNode(folder);
    const agent = new Agent({ keepAlive: true });
    const health = () =>
      new Promise<number>((resolve, reject) => {
        get(`${node.baseUrl}/health`, { agent }, (reply) => {
          reply.resume().on("end", () => resolve(reply.statusCode ?? 0));
        }).on("error", reject);
      });
    expect((await add(node, user, "first")).status).toBe(200);
    expect(await health()).toBe(200);
    const database = openDatabase({ connectionString: address });
    const holder = await database.begin();
    await holder.query("select 1 from memoryd.owner where owner = $1 for update", [user]);
    const added = add(node, user, "second");
    const waiting =
      "select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%update memoryd.owner%'";
    await expect.poll(() => server.run(waiting)).toHaveLength(1);
    const stopped = node.stop();
    await expect
      .poll(() =>
        fetch(`${node.baseUrl}/livez`).then(
          () => "open",
          () => "shut",
        ),
      )
      .toBe("shut");
    expect(await health()).toBe(503);
    await holder.end();
    await database.close();
    expect((await added).status).toBe(200);
    expect(await stopped).toBe(0);
  });

  it("write batches of several users, and refuse what names none or is not possible there", async () => {
    const [ann, ben] = [randomUUID(), randomUUID()];
    const memories = [
      { content: "one", user_id: ann },
      { content: "two", user_id: ben },
      { content: "three" },
      { content: "four", user_id: ann },
    ];
    const { body } = await call(at(0), "POST", "/memory/add/batch", { memories });
    expect(body.results.map(({ status }: { status: number }) => status)).toEqual([200, 200, 400, 200]);
    expect([...(await list(at(1), ann)).values()]).toEqual(["four", "one"]);
    expect([...(await list(at(1), ben)).values()]).toEqual(["two"]);

    const unnamed = await call(at(0), "POST", "/memory/query", { query: "one" });
    expect(unnamed).toMatchObject({ status: 400, body: { detail: expect.stringMatching(/user_id.*bound/) } });
    for (const [method, path, sent] of [
      ["POST", "/ingest", { text: "a text" }],
      ["GET", "/documents", undefined],
      ["POST", "/backups", undefined],
      ["POST", "/compact", undefined],
      ["GET", "/models", undefined],
    ] as const)
      expect(await call(at(0), method, path, sent)).toMatchObject({
        status: 409,
        body: { detail: expect.stringMatching(/not possible where a database holds the memories/) },
      });
    const metrics = await (await fetch(`${at(0).baseUrl}/metrics`)).text();
    for (const name of ["open_users", "open_users_bytes", "user_loads_total", "overtaken_total"])
      expect(metrics).toMatch(new RegExp(`^memoryd_${name} \\d`, "m"));
    const erased = await call(at(0), "DELETE", `/users/${ann}/memories`);
    expect(erased.body).toMatchObject({ deleted: 2 });
    expect(await list(at(1), ann)).toEqual(new Map());
  });

  it("list the users of both, a page at a time, and to no key that is bound to one", async () => {
    const [ann, ben] = ["list-ann", "list-ben"];
    await add(at(0), ann, "tea");
    const dated = { content: "coffee", user_id: ben, occurred_at: "2020-01-02T03:04:05Z" };
    await call(at(1), "POST", "/memory/add", dated);
    await add(at(0), ben, "milk");
    for (const object of ["London", "Paris"])
      await call(at(1), "POST", "/api/temporal/fact", {
        subject: "Ada",
        predicate: "knows",
        object,
        user_id: ben,
      });
    const users = [];
    let cursor: string | null = "";
    for (let i = 0; cursor !== null; i += 1) {
      const { status, body } = await call(at(i), "GET", `/users?l=2${cursor}`);
      expect([status, body.limit]).toEqual([200, 2]);
      users.push(...body.items);
      cursor = body.next_cursor === null ? null : `&cursor=${body.next_cursor}`;
      expect(users.length === body.total).toBe(cursor === null);
    }
    const listed = users.filter(({ user_id }) => [ann, ben].includes(user_id));
    expect(listed).toMatchObject([
      { user_id: ann, memory_count: 1, fact_count: 0, document_count: 0 },
      { user_id: ben, memory_count: 2, fact_count: 2, first_memory_at: "2020-01-02T03:04:05.000Z" },
    ]);
    await call(at(1), "DELETE", `/users/${ann}/memories`);
    const { body } = await call(at(0), "GET", "/users?l=1000");
    expect(body.items.map(({ user_id }: { user_id: string }) => user_id)).not.toContain(ann);
  });

  it("tell followers of either node of each change", async () => {
    const user = randomUUID();
    const { id } = (await add(at(0), user, "tea")).body;
    const { next } = (await call(at(1), "GET", `/changes?user_id=${user}`)).body;
    await call(at(0), "PATCH", `/memory/${id}`, { content: "coffee", user_id: user });
    const stop = new AbortController();
    const events = await fetch(`${at(1).baseUrl}/events?user_id=${user}&since=${next}`, {
      signal: stop.signal,
    });
    const reader = events.body?.getReader();
    let seen = "";
    const until = async (text: string) => {
      while (!seen.includes(text)) seen += Buffer.from((await reader?.read())?.value ?? "").toString();
    };
    await until("memory.updated");
    await call(at(0), "DELETE", `/memory/${id}?user_id=${user}`);
    await until("memory.deleted");
    stop.abort();
  });

  it("let in the same keys, and shut out a revoked one within seconds", async () => {
    const user = randomUUID();
    const made = (await call(at(0), "POST", "/keys", { name: "laptop", scope: "write", user_id: user })).body;
    const withKey = (node: DaemonProcess) =>
      fetch(`${node.baseUrl}/memory/add`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${made.key}` },
        body: JSON.stringify({ content: `by key ${randomUUID()}` }),
      });
    await expect.poll(async () => (await withKey(at(1))).status, { timeout: KEYS_KNOWN_MS }).toBe(200);
    const listing = await fetch(`${at(1).baseUrl}/users`, { headers: { "x-api-key": made.key } });
    expect(listing.status).toBe(403);
    const admin = { name: "admin", scope: "admin" };
    const first = spawnSync(
      process.execPath,
      [LAUNCHER, "keys", "list", "--data-dir", folders[0] as string],
      {
        encoding: "utf8",
        env: { PATH: process.env["PATH"] ?? "", HOME: folders[0] },
      },
    );
    expect(first.stdout).toContain("laptop");
    expect(admin.name).toBe("admin");
    expect(memoryd("keys", "revoke", made.id, "--data-dir", folders[1] as string).status).toBe(0);
    await expect.poll(async () => (await withKey(at(0))).status, { timeout: KEYS_KNOWN_MS }).toBe(401);

    // One that others can reach stays shut when the keys are removed on one that they cannot.

    // What others can reach stays shut when the keys are removed on a node that they cannot.
    const folder = mkdtempSync(join(tmpdir(), "memoryd-node-"));
    const exposed = await startNode(folder, ["--allowed-hosts", "memoryd.example"]);
    try {
      expect(memoryd("auth", "off", "--yes", "--data-dir", folders[1] as string).status).toBe(0);
      await expect
        .poll(async () => (await add(at(0), user, "open")).status, { timeout: KEYS_KNOWN_MS })
        .toBe(200);
      await sleep(KEYS_KNOWN_MS - 2_000);
      expect((await add(exposed, user, "open")).status).toBe(401);
    } finally {
      await exposed.kill();
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("keep the model of the vectors in the database, whatever the default is", async () => {
    const former = await server.database("former");
    expect(memoryd("store", "prepare", "--store", former).status).toBe(0);
    const folder = mkdtempSync(join(tmpdir(), "memoryd-node-"));
    try {
      for (const model of ["memoryd-e5-small", "all-MiniLM-L6-v2"]) {
        const node = await startDaemonProcess(folder, { MEMORYD_STORE: former, MEMORYD_MODEL: model });
        // With vectors of another model it would not have started.
        await add(node, "uwe", `for who wanted ${model}`);
        expect((await list(node, "uwe")).size).toBe(model === "memoryd-e5-small" ? 1 : 2);
        await node.stop();
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it("start only where the database is what they need", async () => {
    const start = (store: string) =>
      memoryd("start", "--store", store, "--data-dir", join(folders[0] as string, "none"), "--port", "0");
    expect(start(address.replace("postgres@", "postgres:secret@"))).toMatchObject({
      stderr: expect.stringMatching(/--store-password-file/),
    });
    expect(start(address.replace("postgres@", "postgres:secret@")).stderr).not.toContain("secret");
    expect(start(`${address}?sslmode=disable`).stderr).toMatch(/takes no parameters/);
    expect(start("mysql://localhost/x").stderr).toMatch(/must be the address of a PostgreSQL database/);
    const empty = await server.database("empty");
    expect(start(empty).stderr).toMatch(/run `memoryd store prepare`/);
    expect(start("postgres://postgres@127.0.0.1:1/x").stderr).toMatch(/cannot be reached/);
  });
});
