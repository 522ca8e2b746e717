import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { MINILM } from "../../src/models/bundled-models.ts";
import { type Database, openDatabase } from "../../src/storage/postgres/database.ts";
import { DatabaseClock } from "../../src/storage/postgres/database-clock.ts";
import { openUser } from "../../src/storage/postgres/open-user.ts";
import { prepareSchema } from "../../src/storage/postgres/schema.ts";
import { fillOpenStore, fillStore } from "../support/fill-store.ts";
import { startPostgres } from "../support/postgres-server.ts";
import { type DaemonUnderLoad, startDaemonUnderLoad } from "./daemon-under-load.ts";
import {
  megabytes,
  ms,
  newMemoryText,
  newQuestion,
  table,
  timed,
  timeInTurns,
  timingOf,
  usageOf,
} from "./measure.ts";

const { stamp } = MINILM;
const STORED = 10_000;
const LINKS = 3;
const WARM = 600;
const TURNS = { rounds: 5, perRound: 60 } as const;
const COLD_ROUNDS = 5;
const [NODES, CALLERS_PER_NODE, WRITING_MS] = [4, 2, 10_000];
/** A tenth of the thousand users that are aimed at, and of their budget: filling takes a second each. */
const [MANY_USERS, MEMORIES_EACH, OPEN_OF_THEM, MANY_QUESTIONS] = [100, 1_000, 10, 600];
/** Indexes of a thousand memories, and the texts and token vectors of a question. */
const BYTES_OF_OPEN = 2e6;
const log = { info: () => {}, warn: console.warn, error: console.error };

/** Memories of the last minutes are looked at again at each load: those here are older. */
class PastClock extends DatabaseClock {
  override now(): number {
    return super.now() - 3_600_000;
  }
}

type Row = readonly [what: string, measured: string, beside: string, goal: string];

/** The store in a database against the one in a data directory, and what only nodes do. The server syncs; it, nodes and callers share the machine. */
export async function benchPostgres(directory: string): Promise<string> {
  const server = await startPostgres({ fsync: "on" });
  const address = await server.database("bench");
  const database = openDatabase({ connectionString: address });
  try {
    await prepareSchema(database);
    const rows = [
      ...(await besideDirectory(directory, address, database)),
      ...(await coldUsers(database)),
      ...(await writersOfOne(directory, address)),
      ...(await manyUsers(directory, address, database)),
    ];
    return table(["", "measured", "beside", "goal"], rows);
  } finally {
    await database.close();
    server.stop();
  }
}

/** Questions and adds of a user of 10 000 memories, over HTTP, of a node and of a daemon with a data directory in turns. */
async function besideDirectory(directory: string, address: string, database: Database): Promise<Row[]> {
  const user = "bench";
  const filling = { count: STORED, stamp, users: 1, nameOf: () => user, waypoints: LINKS };
  const folder = join(directory, "alone");
  await fillStore({ directory: folder, ...filling });
  await fillUser(database, user, STORED);
  const alone = await startDaemonUnderLoad(folder);
  const node = await startNode(directory, "node", address);
  const ask = (daemon: DaemonUnderLoad) => () =>
    daemon.post("/memory/query", { query: newQuestion(), user_id: user });
  const add = (daemon: DaemonUnderLoad) => (turn: number) =>
    daemon.post("/memory/add", { content: newMemoryText(turn), user_id: user });
  const rows: Row[] = [];
  for (const [what, call, most, mostDatabase] of [
    ["question", ask, 2, 0.1],
    ["add", add, 3, 1.5],
  ] as const) {
    for (let i = 0; i < WARM; i += 1) for (const daemon of [alone, node]) await call(daemon)(i);
    const calls = TURNS.rounds * TURNS.perRound;
    const before = [usageOf(alone.pid).cpuSeconds, usageOf(node.pid).cpuSeconds, await serverMs(database)];
    const times = await timeInTurns({ alone: call(alone), node: call(node) }, TURNS);
    const after = [usageOf(alone.pid).cpuSeconds, usageOf(node.pid).cpuSeconds, await serverMs(database)];
    const [aloneCpu = 0, nodeCpu = 0, serverCpu = 0] = after.map((value, i) => value - (before[i] ?? 0));
    const ratio = (one: number, other: number) => `${(one / other).toFixed(2)} times it`;
    rows.push(
      [
        `${what}, p50`,
        `${ms(times.node.p50)}, ${ratio(times.node.p50, times.alone.p50)}`,
        `data directory: ${ms(times.alone.p50)}`,
        `≤ ${most} ms more`,
      ],
      [
        `${what}, processor time of the daemon`,
        `${ms((nodeCpu * 1_000) / calls)}, ${ratio(nodeCpu, aloneCpu)}`,
        `data directory: ${ms((aloneCpu * 1_000) / calls)}`,
        "",
      ],
      [`${what}, processor time of the database`, ms(serverCpu / calls), "", `≤ ${mostDatabase} ms`],
    );
  }
  await alone.stop();
  await node.stop();
  return rows;
}

/** Loads of users of 10 000 memories into this process, with and without an image in turns. */
async function coldUsers(database: Database): Promise<Row[]> {
  const users = ["cold 1", "cold 2", "cold 3"];
  for (const user of users) await fillUser(database, user, STORED);
  const load = async (user: string, imageFrom?: number) => {
    const parts = { database, stamp, clock: new DatabaseClock(), log };
    const before = [process.cpuUsage(), await serverMs(database)] as const;
    const took = await timed(async () => {
      const { store } = await openUser({ ...parts, ...(imageFrom !== undefined && { imageFrom }) }, user);
      if (store.catalogue.size !== STORED) throw new Error(`${store.catalogue.size} memories were loaded`);
    });
    const { user: own, system } = process.cpuUsage(before[0]);
    return { took, cpu: (own + system) / 1_000, server: (await serverMs(database)) - before[1] };
  };
  const kinds = {
    "without an image": Infinity,
    "that stores an image": undefined,
    "from an image": undefined,
  };
  const found = new Map<string, Awaited<ReturnType<typeof load>>[]>();
  for (let round = 0; round < COLD_ROUNDS; round += 1) {
    await database.query("delete from memoryd.image");
    for (const [kind, imageFrom] of Object.entries(kinds))
      for (const user of users) found.set(kind, [...(found.get(kind) ?? []), await load(user, imageFrom)]);
  }
  const [bytes] = await database.query<[number]>("select max(octet_length(content)) from memoryd.image");
  const medians = [...found].map(([kind, loads]) => {
    const median = (of: "took" | "cpu" | "server") => timingOf(loads.map((each) => each[of])).p50;
    return { kind, took: median("took"), cpu: median("cpu"), server: median("server") };
  });
  const [fromRows] = medians;
  return medians.map(({ kind, took, cpu, server }) => [
    `load of ${STORED} memories ${kind}, p50`,
    `${ms(took)}, ${(took / (fromRows?.took ?? took)).toFixed(2)} of it`,
    `processor time: node ${ms(cpu)}, database ${ms(server)}`,
    kind === "from an image"
      ? `≤ 150 ms; the image has ${megabytes((bytes?.[0] ?? 0) / 1e6)}`
      : kind === "without an image"
        ? "≤ 1 500 ms"
        : "",
  ]);
}

/** Nodes that all add to one user. */
async function writersOfOne(directory: string, address: string): Promise<Row[]> {
  const nodes = await Promise.all(
    Array.from({ length: NODES }, (_, i) => startNode(directory, `writer ${i}`, address)),
  );
  const user = randomUUID();
  const times: number[] = [];
  const add = (node: DaemonUnderLoad, turn: number) =>
    timed(() => node.post("/memory/add", { content: newMemoryText(turn), user_id: user }));
  for (const [i, node] of nodes.entries()) await add(node, i);
  const end = performance.now() + WRITING_MS;
  const counts = await Promise.all(
    nodes.map(async (node, n) => {
      let count = 0;
      const call = async (caller: number) => {
        while (performance.now() < end) {
          count += 1;
          times.push(await add(node, 1_000_000 * (n + 1) + 100_000 * caller + count));
        }
      };
      await Promise.all(Array.from({ length: CALLERS_PER_NODE }, (_, caller) => call(caller)));
      return count;
    }),
  );
  for (const node of nodes) await node.stop();
  const mean = counts.reduce((sum, count) => sum + count, 0) / NODES;
  const furthest = Math.max(...counts.map((count) => Math.abs(count - mean) / mean));
  const { p50, max } = timingOf(times);
  return [
    [
      `${NODES} nodes with ${CALLERS_PER_NODE} callers each add to one user: slowest add`,
      ms(max),
      `p50 ${ms(p50)}`,
      "≤ 1 000 ms",
    ],
    [
      "the same: adds of each node in 10 s",
      counts.join(", "),
      `furthest from the mean: ${(100 * furthest).toFixed(0)} %`,
      "≤ 20 %",
    ],
  ];
}

/** Questions of users at random, of whom a node has room for one in ten. */
async function manyUsers(directory: string, address: string, database: Database): Promise<Row[]> {
  const users = Array.from({ length: MANY_USERS }, (_, i) => `one of many ${i}`);
  for (const user of users) await fillUser(database, user, MEMORIES_EACH);
  const budget = String(OPEN_OF_THEM * BYTES_OF_OPEN);
  const node = await startNode(directory, "many", address, { MEMORYD_MEMORY_BUDGET: budget });
  const ask = (user: string) => node.post("/memory/query", { query: newQuestion(), user_id: user });
  // Their first loads store images.
  for (const user of users) await ask(user);
  const figure = async (name: string) => {
    const text = await (await fetch(`${node.baseUrl}/metrics`)).text();
    return Number(new RegExp(`^memoryd_${name} (\\S+)`, "m").exec(text)?.[1]);
  };
  const before = [await figure("user_loads_total"), await serverMs(database)] as const;
  const times: number[] = [];
  for (let i = 0; i < MANY_QUESTIONS; i += 1) {
    const user = users[Math.floor(Math.random() * users.length)] ?? "";
    times.push(await timed(() => ask(user)));
  }
  const loads = (await figure("user_loads_total")) - before[0];
  const server = ((await serverMs(database)) - before[1]) / MANY_QUESTIONS;
  const open = await figure("open_users");
  const { residentMegabytes } = usageOf(node.pid);
  await node.stop();
  const { p50, p95 } = timingOf(times);
  return [
    [
      `question of one of ${MANY_USERS} users of ${MEMORIES_EACH} memories, with a budget for about ${OPEN_OF_THEM}, p50`,
      `${ms(p50)}; p95 ${ms(p95)}`,
      `${((100 * loads) / MANY_QUESTIONS).toFixed(0)} % loaded the user; ${open} were open; resident ${megabytes(residentMegabytes)}; database ${ms(server)} each`,
      "",
    ],
  ];
}

async function startNode(directory: string, name: string, address: string, env: object = {}) {
  const folder = join(directory, name);
  await mkdir(folder, { recursive: true });
  return startDaemonUnderLoad(folder, { MEMORYD_STORE: address, ...env });
}

async function fillUser(database: Database, user: string, count: number): Promise<void> {
  const { store } = await openUser({ database, stamp, clock: new PastClock(), log }, user);
  await fillOpenStore(store, { count, stamp, users: 1, nameOf: () => user, waypoints: LINKS });
}

/** Processor time that the server's processes have used so far, milliseconds; Linux only. */
async function serverMs(database: Database): Promise<number> {
  const [server] = await database.query<[string]>(
    "select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)",
  );
  const processes = await database.query<[number]>("select pid from pg_stat_activity");
  const read = (name: string) => readFileSync(`/proc/${name}`, "utf8");
  const used = (pid: number) => {
    try {
      return Number(read(`${pid}/schedstat`).split(" ")[0]) / 1e6;
    } catch {
      // It has ended, and counts among the server's children.
      return 0;
    }
  };
  // After the command's name, the 14th and 15th are what ended children took, in ticks of 10 ms.
  const fields = read(`${server?.[0]}/stat`)
    .replace(/^.*\) /s, "")
    .split(" ");
  const ended = 10 * (Number(fields[13]) + Number(fields[14]));
  return processes.reduce((sum, [pid]) => sum + used(pid), ended);
}
