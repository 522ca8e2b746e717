import { createServer, type Server } from "node:net";
import { resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { JobProcess } from "../../src/sandbox/job-process.ts";
import { behind, canStand, standingWalls, WALLS } from "../../src/sandbox/walls.ts";

const WORKER = resolve(import.meta.dirname, "../fixtures/escaping-worker.js");

interface Attempts {
  readonly network: string;
  readonly probe: string;
  readonly debug: string;
}

let server: Server;
let connections: number;
let signals: number;
const count = () => {
  signals += 1;
};
beforeEach(async () => {
  connections = 0;
  signals = 0;
  process.on("SIGUSR1", count);
  server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
});
afterEach(() => {
  process.off("SIGUSR1", count);
  server.close();
});

async function attemptsBehind(walls: (typeof WALLS)[number] | undefined): Promise<Attempts> {
  const child = new JobProcess<{ port: number; pid: number }, Attempts>({
    sandbox: { worker: WORKER, heapBytes: 64 * 1024 ** 2, packages: [] },
    walls,
    explainEnd: ({ cause, printed }) => new Error(`${cause.message}: ${printed}`),
  });
  const { port } = server.address() as { readonly port: number };
  const attempts = await child.run<Attempts>((job) => {
    void child.send({ port, pid: process.pid });
    return job.resolve;
  });
  child.kill();
  await child.ended();
  return attempts;
}

const standing = await Promise.all(WALLS.map(async (walls) => ((await canStand(walls)) ? [walls] : [])));
if (standing.flat().length === 0) console.warn("no walls stand here: what they keep out is not tested");

describe.skipIf(standing.flat().length === 0).each(standing.flat())("walls of $by", (walls) => {
  it("leave nothing behind of a child that is killed while they are built", async () => {
    const sandbox = { worker: WORKER, heapBytes: 64 * 1024 ** 2, packages: [] };
    const children = Array.from(
      { length: 20 },
      () => new JobProcess({ sandbox, walls, explainEnd: ({ cause }) => cause }),
    );
    for (const [n, child] of children.entries()) setTimeout(() => child.kill(), n / 2);
    // Whatever lived on would hold its standard error open.
    await Promise.all(children.map((child) => child.ended()));
  });

  it("keep a child from the network, and from every process but its own", async () => {
    const { network, probe, debug } = await attemptsBehind(walls);
    expect(network).toMatch(/^E(?:CONNREFUSED|NETUNREACH|ADDRNOTAVAIL)$/);
    expect([probe, debug]).toEqual(["ESRCH", "ESRCH"]);
    expect([connections, signals]).toEqual([0, 0]);
  });
});

it("are the first of those that stand", async () => {
  expect(await standingWalls()).toEqual(standing.flat()[0]);
});

it("may be none: the child works as before", async () => {
  expect(await attemptsBehind(undefined)).toEqual({ network: "done", probe: "done", debug: "done" });
  expect(behind(undefined, "program", ["word"])).toEqual(["program", "word"]);
});

it("do not stand where the program is missing or fails", async () => {
  expect(await canStand({ by: "namespaces", command: ["no-such-program"] })).toBe(false);
  expect(await canStand({ by: "namespaces", command: ["false"] })).toBe(false);
  // Nothing is known of one that takes too long.
  expect(await canStand({ by: "namespaces", command: ["sh", "-c", "exec sleep 60"] }, 50)).toBe(undefined);
});
