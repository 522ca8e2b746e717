import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, statfsSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { afterEach, describe, expect, it } from "vitest";
import { addMemory } from "../../src/core/memories/add-memories.ts";
import { DatabaseKeys } from "../../src/storage/postgres/database-keys.ts";
import { add, contents, expectKept, writeDuring } from "../support/node-writers.ts";
import { hasPostgres, type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { times } from "../support/stress.ts";
import { openSwallowingProxy } from "../support/swallowing-proxy.ts";
import { openTestNode, type TestNode } from "../support/user-stores.ts";

/** The server does not run as root, who alone reaches the folder of this run in memory. */
const DISK = process.env["MEMORYD_TEST_DISK"] ?? tmpdir();
const ROOM_ON_DISK = "250m";
const LOG_SEGMENT_BYTES = 16 * 1_024 * 1_024;
/** Root mounts a disk in memory, and fills it. */
const canMount = process.platform === "linux" && process.getuid?.() === 0 && tryMount();
if (hasPostgres && !canMount)
  console.warn("file systems cannot be mounted here: a full disk of PostgreSQL is not tested");

function tryMount(): boolean {
  const folder = mkdtempSync(join(DISK, "memoryd-mount-"));
  const isMounted = mount(folder, "1m");
  if (isMounted) spawnSync("umount", [folder]);
  rmSync(folder, { recursive: true, force: true });
  return isMounted;
}

function mount(folder: string, size: string): boolean {
  return spawnSync("mount", ["-t", "tmpfs", "-o", `size=${size},mode=755`, "tmpfs", folder]).status === 0;
}

/** Nodes over a server to which happens what happens to servers. */
describe.skipIf(!hasPostgres)("nodes over a server that fails", () => {
  /** Ends what a test began, the last first. */
  let began: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of began.toReversed()) await end();
    began = [];
  });

  async function startServer(...options: Parameters<typeof startPostgres>): Promise<PostgresServer> {
    const server = await startPostgres(...options);
    began.push(() => server.stop());
    return server;
  }
  /** Two, with so much patience for a write. */
  async function openNodes(address: string, patienceMs?: number): Promise<readonly [TestNode, TestNode]> {
    const open = async () => {
      const node = await openTestNode(address, patienceMs === undefined ? {} : { patienceMs });
      began.push(() => node.close());
      return node;
    };
    return [await open(), await open()];
  }
  /** What the database has of a user, the newest first, as a node that starts now finds it. */
  async function stored(address: string, user: string): Promise<string[]> {
    const fresh = await openTestNode(address);
    const found = await contents(fresh, user);
    await fresh.close();
    return found;
  }

  it.each(Array.from({ length: times(2) }, (_, round) => round))(
    "show nothing of a lost branch once a replica is promoted that lacks the last commits (%i)",
    async () => {
      const primary = await startServer();
      await primary.database("faults");
      const proxy = await openSwallowingProxy(primary.port);
      began.push(() => proxy.close());
      const nodes = await openNodes(`postgres://postgres@127.0.0.1:${proxy.port}/faults`);
      const [first, second] = nodes;
      const replica = await startServer({}, { source: primary });
      const promoted = `postgres://postgres@127.0.0.1:${replica.port}/faults`;
      const quiet = randomUUID();
      await add(first, quiet, "kept");
      const feedOf = async (node: TestNode) => (await node.users.find(quiet)).opened.feed;
      const { next } = (await feedOf(second)).list({ limit: 10, userId: quiet });
      const keys = new DatabaseKeys(first.database);
      await keys.read();

      let replicated: string[] = [];
      let lost: string[] = [];
      const writes = await writeDuring(nodes, async (answered) => {
        const soFar = () => [...answered].flatMap(([user, notes]) => notes.map((note) => `${user} ${note}`));
        replicated = soFar();
        const [[position] = []] = await primary.run("select pg_current_wal_lsn()");
        const hasAll = `select pg_last_wal_replay_lsn() >= '${String(position)}'`;
        await expect.poll(() => replica.run(hasAll)).toEqual([[true]]);
        await replica.run("alter system set primary_conninfo = ''");
        await replica.run("select pg_reload_conf()");
        await expect.poll(() => replica.run("select 1 from pg_stat_wal_receiver")).toEqual([]);
        await add(first, quiet, "lost");
        await keys.write([]);
        expect(await contents(second, quiet)).toEqual(["lost", "kept"]);
        const { length } = soFar();
        await expect.poll(() => soFar().length).toBeGreaterThan(length + 10);
        primary.stop();
        proxy.cut();
        await replica.run("select pg_promote()");
        lost = soFar().filter((note) => !replicated.includes(note));
        // Others go on beyond the sequence of the lost commits before the nodes ask again.
        const [other] = await openNodes(promoted);
        for (const content of ["one", "two", "three"]) await add(other, quiet, content);
        const otherKeys = new DatabaseKeys(other.database);
        await otherKeys.read();
        await otherKeys.write([]);
        proxy.open(replica.port);
      });

      const all: string[] = [];
      for (const user of writes.users) {
        const kept = await stored(promoted, user);
        for (const node of nodes) expect(await contents(node, user)).toEqual(kept);
        expect(new Set(kept).size).toBe(kept.length);
        all.push(...kept.map((note) => `${user} ${note}`));
      }
      expect(all).toEqual(expect.arrayContaining(replicated));
      const gone = lost.filter((note) => !all.includes(note));
      expect(gone.length).toBeGreaterThan(0);
      // Whatever else was answered is there.
      const answered = [...writes.answered].flatMap(([user, notes]) =>
        notes.map((note) => `${user} ${note}`),
      );
      expect(all).toEqual(expect.arrayContaining(answered.filter((note) => !lost.includes(note))));

      expect(await contents(second, quiet)).toEqual(["three", "two", "one", "kept"]);
      const page = (await feedOf(second)).list({ since: next, limit: 10, userId: quiet });
      expect(page.reset).toBe(true);
      await add(first, quiet, "four");
      expect((await contents(second, quiet))[0]).toBe("four");
      expect(await keys.isBehind()).toBe(true);
    },
  );

  it("refuse what cannot be stored while the disk is full, answer questions, and write once there is room", async ({
    skip,
  }) => {
    if (!canMount) skip();
    const parent = mkdtempSync(join(DISK, "memoryd-full-"));
    expect(mount(parent, ROOM_ON_DISK)).toBe(true);
    began.push(async () => {
      // The server leaves its folder a moment after it is told to stop.
      await expect.poll(() => spawnSync("umount", [parent]).status).toBe(0);
      rmSync(parent, { recursive: true });
    });
    const server = await startServer({}, { parent });
    const nodes = await openNodes(await server.database("faults"));
    const [first, second] = nodes;
    const user = randomUUID();
    await add(first, user, "one");
    const filler = join(parent, "filler");
    const makeRoom = () => truncateSync(filler);
    const fill = (spareBytes = 0) => {
      const { bavail, bsize } = statfsSync(parent);
      const bytes = Buffer.alloc(bavail * bsize - spareBytes);
      try {
        writeFileSync(filler, bytes, { flag: "a" });
      } catch (error) {
        // The server took some of it meanwhile.
        expect(error).toMatchObject({ code: "ENOSPC" });
      }
    };

    const text = "word ".repeat(2_000);
    const writes = await writeDuring(nodes, async () => {
      fill();
      const refusal = async () => {
        for (let i = 0; ; i += 1) await add(first, user, `${i} ${text}`);
      };
      await expect(refusal()).rejects.toMatchObject({
        code: "STORE_FULL",
        message: expect.stringMatching(/disk of the database is full, so nothing was stored/) as string,
      });
      expect(await contents(second, user)).toContain("one");
      expect(await stored(await server.database("faults"), user)).toContain("one");
      makeRoom();
      await add(first, user, "two");
    });
    await expectKept(nodes, writes);

    // Where the write-ahead log cannot grow, the server ends, perhaps in the midst of a commit.
    fill(LOG_SEGMENT_BYTES / 2);
    const segments = "select 1 from pg_ls_waldir() where name > pg_walfile_name(pg_current_wal_lsn())";
    const leaveSegment = "select pg_logical_emit_message(false, 'test', ''), pg_switch_wal()";
    while ((await server.run(segments)).length > 0) await server.run(leaveSegment);
    await server.run(leaveSegment);
    const written = add(second, user, "three");
    const isThere = () =>
      server.run("select 1").then(
        () => true,
        () => false,
      );
    await expect.poll(isThere).toBe(false);
    makeRoom();
    await server.crash();
    await written;
    await add(first, user, "four");
    expect((await contents(second, user)).slice(0, 3)).toEqual(["four", "three", "two"]);
  });

  it("say that the server has no connection free, and go on when it has", async () => {
    const most = 15;
    const server = await startServer({ max_connections: String(most), superuser_reserved_connections: "0" });
    const address = await server.database("faults");
    const [first, second] = await openNodes(address, 1_000);
    const user = randomUUID();
    await add(first, user, "one");
    const ports = await second.portsOf(user);
    /** They ask nothing, which tells them from the nodes' connections. */
    const holders: Client[] = [];
    began.push(() => Promise.all(holders.map((holder) => holder.end())));
    const holdAll = async (): Promise<void> => {
      for (;;) {
        const holder = new Client({ connectionString: address });
        holder.on("error", () => undefined);
        try {
          await holder.connect();
        } catch (error) {
          expect(error).toMatchObject({ code: "53300" });
          return;
        }
        holders.push(holder);
      }
    };
    // A connection that is ended keeps its place for a moment, and a node asks for it again at once.
    while ((await holdAll(), holders.length < most)) {
      await holders[0]?.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where backend_type = 'client backend' and query <> '' and pid <> pg_backend_pid()`,
      );
    }

    const refused = { code: "NOT_READY", retryAfterSeconds: 1 };
    const reason = expect.stringMatching(/too many clients/) as string;
    // Their pools may still hold a connection that the server has ended.
    await expect
      .poll(() => first.portsOf(randomUUID()).catch((error: unknown) => error))
      .toMatchObject({ message: reason });
    await expect(add(first, user, "two")).rejects.toMatchObject({ ...refused, message: reason });
    await expect(addMemory(ports, { content: "two", userId: user })).rejects.toMatchObject({
      ...refused,
      message: expect.stringMatching(/too many clients.*nothing of it was stored/) as string,
    });
    const written = addMemory(ports, { content: "three", userId: user });
    await Promise.all(holders.splice(0).map((holder) => holder.end()));
    await written;
    await add(first, user, "four");
    for (const node of [first, second]) expect(await contents(node, user)).toEqual(["four", "three", "one"]);
  });

  it("lose no answered write and make none twice while the server stands still", async () => {
    const server = await startServer();
    const nodes = await openNodes(await server.database("faults"));
    const writes = await writeDuring(nodes, async () => {
      // Short enough for all to be answered, and longer than a statement is waited for.
      for (const ms of [1_000, 12_000]) {
        await server.pause(ms);
        await sleep(300);
      }
    });
    await expectKept(nodes, writes);
  });
});
