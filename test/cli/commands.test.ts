import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { writeRuntimeInfo } from "../../src/daemon/runtime-file.ts";
import { VERSION } from "../../src/config/limits.ts";
import { type FakeDaemon, startFakeDaemon } from "../support/fake-daemon.ts";
import { type CliOptions, environmentOf, LAUNCHER, runCli, runCliHere } from "../support/run-cli.ts";

const RECORD = { id: "id-1", content: "likes tea", primary_sector: "semantic", deduplicated: false };
const STATS = {
  version: VERSION,
  instance_id: "this-one",
  started_at: "2026-11-21T10:00:00.000Z",
  ready: true,
  not_ready: [],
  memory_count: 12,
  perhaps_superseded: 0,
  documents: { count: 0, jobs_waiting: 0, jobs_running: 0 },
  sandbox: { walls: ["network", "signals"], by: "bubblewrap" },
  sectors: { semantic: 12 },
  embedding: { model: "tiny", model_sha256: "00", dimensions: 3, workers: 1, waiting: 0 },
  store: {
    data_dir: "/data",
    format: 1,
    store_id: "s",
    position: "1.12",
    checkpoint: "1.10",
    pending_rows: 2,
    pending_bytes: 100,
    disk_bytes: 2_500_000,
    unerased: 0,
    read_only: false,
  },
};

let home: string;
let daemon: FakeDaemon | undefined;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "memoryd-cli-"));
});
afterEach(async () => {
  await daemon?.close();
  daemon = undefined;
  rmSync(home, { recursive: true, force: true });
});

const withHome = (options: Partial<CliOptions>) => ({
  home,
  ...options,
  env: { MEMORYD_DATA_DIR: home, TZ: "UTC", ...options.env },
});
const run = (words: string[], options: Partial<CliOptions> = {}) => runCliHere(words, withHome(options));
/** As a process of the built program. */
const runBuilt = (words: string[], options: Partial<CliOptions> = {}) => runCli(words, withHome(options));

/** A process id that was in use and is not any more. */
function deadPid(): number {
  return spawnSync(process.execPath, ["--version"]).pid;
}

describe("memoryd", () => {
  it("prints its help when it is called alone or asked, its version when asked", async () => {
    const [alone, asked, version] = await Promise.all([
      runBuilt([]),
      runBuilt(["--help"]),
      runBuilt(["--version"]),
    ]);
    expect(alone).toMatchObject({ code: 0, stderr: "" });
    expect(alone.stdout).toContain("Exit codes: 0 success, 1 failure, 2 wrong usage or settings.");
    expect(asked).toEqual(alone);
    expect(version).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: "" });
  });

  it.each([
    [["ad"], /Did you mean add\?/],
    [["start", "--prot", "1"], /Did you mean --port\?/],
    [["start", "--port", "x"], /--port is "x", but must be a whole number/],
    [["start", "--host", "0.0.0.0"], /MEMORYD_API_KEY/],
    [["start", "--api-key", "0123456789abcdef"], /Did you mean --api-key-file\?|unknown option/],
    [["ad"], /\(try again with --help for its commands and options\)/],
    [["export", "--nosuch"], /\(try again with --help for its commands and options\)/],
    [["trash", "restore"], /\(try again with --help for its commands and options\)/],
    [["query"], /missing required argument/],
    [["query", "x", "--from", "2026-02-31"], /--from .*There is no such day; got 2026-02-31\./],
    [["query", "-k", "0", "x"], /1 to 200/],
    [["add", "x", "--metadata", "[1]"], /JSON object/],
    [["query", "x", "--from", "someday"], /--from .* such as 2026-11-21, .*; got someday/],
    [["query", "x", "--sector", "foo"], /--sector .* semantic, episodic/],
    [["add", "x", "--occurred-at", "31.12.2025"], /--occurred-at .* such as 2026-11-21/],
    [["add", "x", "--tag", ""], /--tag .*must not be empty; for example/],
    [["add", "x", "--user", ""], /--user .*must not be empty; for example "ada"/],
    [["add", "x", "--file", "y"], /not both/],
    [["fact", "add", "a", "b", "c", "--from", "31.12."], /--from .* such as 2026-11-21/],
    [["fact", "search", "x", "--field", "y"], /--field .* subject, predicate/],
    [["tag", "id-1", "+x", "-x"], /both added and removed/],
    [["add"], /nothing to add/],
    [["add", " "], /nothing to add/],
  ])("refuses %j as wrong usage, without a stack trace", async (words, message) => {
    const { code, stdout, stderr } = await run(words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});

it("says where a text belongs that is too long for a memory", async () => {
  expect(await run(["add", "x".repeat(200_001)])).toEqual({
    code: 2,
    stdout: "",
    stderr: "The text has more than 200,000 characters; `memoryd ingest FILE` stores it as a document.\n",
  });
});

describe.skipIf(process.platform === "win32")("a path that cannot be used", () => {
  beforeEach(() => {
    writeFileSync(join(home, "file"), "x");
    symlinkSync(join(home, "loop"), join(home, "loop"));
  });

  it("is said with what to do", async () => {
    const at = join(home, "loop");
    expect(await run(["import", at])).toEqual({
      code: 1,
      stdout: "",
      stderr: `The symbolic links of ${at} lead in a circle; name another path.\n`,
    });
  });

  it.each([
    [
      "backup list --to",
      "file/x",
      /^Backups cannot be kept in .*: a file is where .* Name another folder with --to/,
    ],
    ["backup verify --to", "n".repeat(300), /^Backups cannot be kept in .* is too long\. Name another/],
    ["list --config", ".", /^The configuration file .* cannot be read: it is a folder\.\n$/],
    ["list --config", "file/x", /^The configuration file .* cannot be read: a file is where .*\n$/],
    [
      "list --data-dir",
      "loop",
      /^The data directory .* cannot be read \(the symbolic links .*; run this as its owner, .*--data-dir\.\n$/,
    ],
    ["start --detach --data-dir", "file/x", /^The data directory .* cannot be used: .*--data-dir\.\n$/],
    ["start --log-to-file --data-dir", "file/x", /^The data directory .* cannot be used: .*--data-dir\.\n$/],
    ["add --file", ".", /cannot be read \(it is a folder\), so nothing was added\.\n$/],
    ["hooks status --data-dir", "loop", /^The symbolic links .*; name another path\.\n$/],
  ])("is said with its purpose: %s %s", async (words, path, message) => {
    expect((await run([...words.split(" "), join(home, path)])).stderr).toMatch(message);
  });
});

describe("finding the daemon", () => {
  const info = { address: "127.0.0.1", instanceId: "this-one", version: VERSION, startedAt: 0, token: "t" };

  it.each(["status", "stop", "list", "fact get x"])("says that none runs: %s", async (words) => {
    mkdirSync(join(home, "journal"));
    const { code, stderr } = await run(words.split(" "));
    expect(code).toBe(1);
    expect(stderr).toBe(
      `memoryd is not running on ${home}; start it with \`memoryd start\` or \`memoryd start --detach\`.\n`,
    );
  });

  it.each(["query key", "list", "show x", "status", "context", "backup", "compact", "review"])(
    "says that nothing has been kept in a directory, and makes none: %s",
    async (words) => {
      const missing = join(home, "missing");
      for (const folder of [home, missing])
        expect(await run([...words.split(" "), "--data-dir", folder])).toEqual({
          code: 1,
          stdout: "",
          stderr: `memoryd is not running on ${folder}, where nothing has been kept yet. Begin with \`memoryd start\` or \`memoryd add TEXT\`, or name another directory with --data-dir.\n`,
        });
      expect(existsSync(missing)).toBe(false);
    },
  );

  it("makes no data directory to list keys, nor to remove them", async () => {
    const missing = join(home, "missing");
    for (const words of [
      ["keys", "list"],
      ["keys", "revoke", "x"],
      ["auth", "off", "--yes"],
    ])
      expect(await run([...words, "--data-dir", missing])).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(`There is no data directory ${missing}, so there are no keys.`),
      });
    expect(existsSync(missing)).toBe(false);
  });

  it("asks nothing of a port whose daemon is dead", async () => {
    daemon = await startFakeDaemon(home, {}, { pid: deadPid() });
    expect(await run(["list", "-t", "secret"])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/not running/),
    });
    expect(daemon.requests).toEqual([]);
  });

  it("sends no memory to another instance on the port", async () => {
    daemon = await startFakeDaemon(home, {}, { saysItIs: "another" });
    expect(await run(["list", "-t", "secret"])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/not running/),
    });
    expect(daemon.requests.map(({ path, token }) => [path, token])).toEqual([["/health", undefined]]);
  });

  it("takes a port where nobody listens, or something else does, for none", async () => {
    const server = createServer((_, response) => response.end("<html>"));
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    const { port } = server.address() as { port: number };
    writeRuntimeInfo(home, { ...info, pid: process.pid, port });
    expect(await run(["status"])).toMatchObject({ code: 1, stderr: expect.stringMatching(/not running/) });
    await new Promise((resolve) => {
      server.close(resolve);
    });
    expect(await run(["status"])).toMatchObject({ code: 1, stderr: expect.stringMatching(/not running/) });
  });

  it("fails and says so where its connection is closed before an answer", async () => {
    const server = createTcpServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    writeRuntimeInfo(home, { ...info, pid: process.pid, port: (server.address() as { port: number }).port });
    // Node 20 never tells of it; later ones do, and then something else listens there.
    const isTold = Number(process.versions.node.split(".")[0]) > 20;
    expect(await runCli(["list"], { home, env: { MEMORYD_DATA_DIR: home } })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(isTold ? /not running/ : /closed before an answer|does not answer/),
    });
    server.close();
  });

  it("looks where a flag, the environment or the user's configuration file says", async () => {
    daemon = await startFakeDaemon(home, { "/stats": { body: STATS } });
    const config = join(home, "elsewhere.json");
    writeFileSync(config, JSON.stringify({ dataDir: home }));
    const env = { MEMORYD_DATA_DIR: "" };
    expect(await run(["status", "--data-dir", home], { env })).toMatchObject({ code: 0 });
    expect(await run(["status", "--config", config], { env })).toMatchObject({ code: 0 });
    expect(await run(["status"], { env })).toMatchObject({ code: 1 });
  });
});

it.skipIf(process.platform === "win32")("takes an empty or relative home for none", async () => {
  const { HOME: _, ...unset } = { ...process.env };
  const passwd = spawnSync(process.execPath, ["-p", "os.homedir()"], { env: unset, encoding: "utf8" });
  const env = { MEMORYD_DATA_DIR: "", HOME: "", XDG_DATA_HOME: "data" };
  const { stdout } = await runBuilt(["data", "path"], { env });
  expect(stdout.startsWith(passwd.stdout.trim())).toBe(true);
});

it("answers an agent with a tool error where the data directory cannot be made, and logs no stack trace", async () => {
  writeFileSync(join(home, "file"), "");
  const messages = [
    {
      method: "initialize",
      id: 1,
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "x", version: "1" } },
    },
    { method: "notifications/initialized" },
    { method: "tools/call", id: 2, params: { name: "memory_query", arguments: { query: "x" } } },
  ];
  const child = spawn(process.execPath, [LAUNCHER, "mcp", "--data-dir", join(home, "file", "data")], {
    env: environmentOf(home),
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
  for (const message of messages) child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  let answer = "";
  for await (const chunk of child.stdout.setEncoding("utf8")) {
    answer += chunk as string;
    if (answer.includes('"id":2')) break;
  }
  child.kill();
  // Node 24 says that the file exists, Node 20 that it is no folder.
  expect(answer).toMatch(
    /cannot be used: a file is (?:where .* needs a folder|in the way at ).*"isError":true/,
  );
  expect(stderr).not.toContain("stack");
});

describe("memoryd status", () => {
  it("prints what runs, and why a backup was skipped", async () => {
    const skipped = { folder: "/b", items: [], damaged: [], running: null, last: { problem: "No room." } };
    daemon = await startFakeDaemon(home, { "/stats": { body: STATS }, "/backups": { body: skipped } });
    const { code, stdout } = await run(["status"]);
    expect(code).toBe(0);
    expect(stdout).toContain("memoryd is running\n");
    expect(stdout).toContain(`listening  http://127.0.0.1:${daemon.port}\n`);
    expect(stdout).toContain("data       /data (2.5 MB)\n");
    expect(stdout).toContain("memories   12\n");
    expect(stdout).toContain("backups    No room.\n");
    expect(daemon.requests.at(-1)).toMatchObject({ token: `Bearer ${daemon.token}` });
  });

  it("prints the same as JSON, also when nothing runs", async () => {
    expect(JSON.parse((await run(["status", "--json"])).stdout)).toEqual({ running: false, data_dir: home });
    daemon = await startFakeDaemon(home, { "/stats": { body: STATS } });
    const { stdout } = await run(["status", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      running: true,
      pid: process.pid,
      memory_count: 12,
      ready: true,
    });
  });

  it("says when the daemon is not ready", async () => {
    const notReady = { ...STATS, ready: false, not_ready: ["The model loads."] };
    daemon = await startFakeDaemon(home, { "/stats": { body: notReady } });
    expect((await run(["status"])).stdout).toContain("not ready: The model loads.");
  });

  it.each([
    [{}, "accepted"],
    [
      { adds_refused: "the disk is full (1 MB free, 2 MB needed)" },
      "refused: the disk is full (1 MB free, 2 MB needed)",
    ],
    [{ read_only: true, adds_refused: "the disk is full" }, "refused until a restart"],
  ])("says whether writes are taken: %j", async (state, said) => {
    const body = { ...STATS, store: { ...STATS.store, ...state } };
    daemon = await startFakeDaemon(home, { "/stats": { body } });
    expect((await run(["status"])).stdout).toContain(`writes     ${said}\n`);
  });
});

describe("memoryd add", () => {
  it("remembers its arguments with all that its options say", async () => {
    daemon = await startFakeDaemon(home, { "/memory/add": { body: RECORD } });
    const options = "-t drinks -t Ünï -u ann -p home -s s1 --occurred-at 2026-01-02".split(" ");
    const result = await run(["add", "likes", "tea  very", ...options, "--metadata", '{"a":[1]}']);
    expect(result).toEqual({ code: 0, stdout: "remembered id-1 (semantic)\n", stderr: "" });
    expect(daemon.requests.at(-1)).toEqual({
      method: "POST",
      path: "/memory/add",
      token: `Bearer ${daemon.token}`,
      client: "memoryd-cli",
      body: {
        content: "likes tea  very",
        tags: ["drinks", "Ünï"],
        user_id: "ann",
        project: "home",
        session_id: "s1",
        occurred_at: "2026-01-02T00:00:00.000Z",
        metadata: { a: [1] },
      },
    });
  });

  it("remembers standard input as it is, but for the last line end", async () => {
    daemon = await startFakeDaemon(home, { "/memory/add": { body: { ...RECORD, deduplicated: true } } });
    const result = await run(["add"], { stdin: "  first line\n\nläst 🐈\r\n" });
    expect(result.stdout).toBe("already remembered id-1 (semantic)\n");
    expect(daemon.requests.at(-1)?.body).toEqual({ content: "  first line\n\nläst 🐈" });
  });

  it("remembers standard input for a dash, and a file", async () => {
    daemon = await startFakeDaemon(home, { "/memory/add": { body: RECORD } });
    await run(["add", "-"], { stdin: "from input\n" });
    expect(daemon.requests.at(-1)?.body).toEqual({ content: "from input" });
    writeFileSync(join(home, "note.txt"), "from a file\n");
    await run(["add", "--file", join(home, "note.txt")]);
    expect(daemon.requests.at(-1)?.body).toEqual({ content: "from a file" });
    expect(await run(["add", "--file", join(home, "none")])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/none cannot be read .*, so nothing was added\.\n$/),
    });
  });

  it.skipIf(!existsSync("/dev/full"))("says that the output is full (needs /dev/full)", async () => {
    daemon = await startFakeDaemon(home, { "/memory/add": { body: RECORD } });
    const full = openSync("/dev/full", "w");
    const child = spawn(process.execPath, [LAUNCHER, "add", "x"], {
      env: environmentOf(home, { MEMORYD_DATA_DIR: home }),
      stdio: ["ignore", full, "pipe"],
    });
    closeSync(full);
    const [stderr, [code]] = await Promise.all([child.stderr?.toArray() ?? [], once(child, "close")]);
    expect(code).toBe(1);
    expect(Buffer.concat(stderr).toString()).toMatch(
      /^The output could not be written \(ENOSPC.*\), so what was done is not shown\.\n$/,
    );
  });

  it("refuses standard input that is not UTF-8", async () => {
    const { code, stderr } = await run(["add"], { stdin: Uint8Array.of(0x66, 0xff, 0xfe) });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: "Standard input is not text in UTF-8, so nothing was added.\n",
    });
  });

  it("repeats the daemon's reasons, with the fields", async () => {
    const problem = {
      code: "INVALID_REQUEST",
      detail: "The date is wrong.",
      errors: [{ path: "/occurred_at", message: "must be a date" }],
    };
    daemon = await startFakeDaemon(home, { "/memory/add": { status: 400, body: problem } });
    expect(await run(["add", "x", "--occurred-at", "2026-01-02"])).toEqual({
      code: 1,
      stdout: "",
      stderr: "The date is wrong. (/occurred_at must be a date)\n",
    });
  });

  it("tells no reason twice", async () => {
    const problem = {
      code: "INVALID_REQUEST",
      detail: "The period is not one: valid_to is before valid_from.",
      errors: [{ path: "/valid_to", message: "is before valid_from" }],
    };
    daemon = await startFakeDaemon(home, { "/api/temporal/fact": { status: 400, body: problem } });
    expect(await run(["fact", "add", "Ann", "lives in", "York", "--from", "2030", "--to", "2020"])).toEqual({
      code: 1,
      stdout: "",
      stderr: "The period is not one: valid_to is before valid_from.\n",
    });
  });
});

describe("memoryd query", () => {
  const match = {
    id: "id-1",
    content: "long",
    snippet: "likes\n tea\u001b[31m",
    score: 0.834,
    primary_sector: "semantic",
    occurred_at: "2026-01-02T00:00:00.000Z",
    tags: ["drinks"],
  };

  it("prints the matches, fit for a terminal", async () => {
    daemon = await startFakeDaemon(home, {
      "/memory/query": { body: { matches: [match], relevant: 1, plausible: 1 } },
    });
    const words = "-k 3 -u ann -p home -t drinks --sector semantic --from 2026-01-01 --min-score 0.2".split(
      " ",
    );
    const { code, stdout } = await run(["query", "what", "does she drink?", ...words]);
    expect(code).toBe(0);
    expect(stdout).toBe(" 1. 0.83  likes tea\ufffd[31m\n          2026-01-02 · semantic #drinks · id-1\n");
    expect(daemon.requests.at(-1)?.body).toEqual({
      query: "what does she drink?",
      // One more tells whether there are more.
      k: 4,
      user_id: "ann",
      time_zone: "UTC",
      snippet: 240,
      filters: {
        project: "home",
        tags: ["drinks"],
        sector: "semantic",
        from: "2026-01-01T00:00:00.000Z",
        min_score: 0.2,
      },
    });
  });

  it("marks what a later one replaced", async () => {
    const matches = [match, { ...match, superseded_by: "id-2" }];
    daemon = await startFakeDaemon(home, {
      "/memory/query": { body: { matches, relevant: 2, plausible: 2 } },
    });
    expect((await run(["query", "x"])).stdout.match(/#drinks · .*/g)).toEqual([
      "#drinks · id-1",
      "#drinks · superseded by id-2 · id-1",
    ]);
  });

  it("prints as many as asked, and says that more answer", async () => {
    const body = { matches: [match, match, match], relevant: 3, plausible: 3 };
    daemon = await startFakeDaemon(home, { "/memory/query": { body } });
    const { stdout } = await run(["query", "x", "-k", "2"]);
    expect(stdout.match(/likes/g)).toHaveLength(2);
    expect(stdout).toMatch(/\nmore answer; print them with -k 8\n$/);
    expect((await run(["query", "x", "-k", "3"])).stdout).not.toContain("more answer");
  });

  it("prints the time in a recording, the page of a document", async () => {
    const matches = [
      { ...match, source: { filename: "talk.mp4", chunk_index: 3, start_ms: 751_900 } },
      { ...match, source: { filename: "film.mp4", chunk_index: -1, start_ms: 0 } },
      { ...match, source: { filename: null, url: "https://a.example/b.pdf", chunk_index: 0, page: 4 } },
    ];
    daemon = await startFakeDaemon(home, {
      "/memory/query": { body: { matches, relevant: 3, plausible: 3 } },
    });
    const { stdout } = await run(["query", "x"]);
    expect(stdout).toContain(" · talk.mp4 12:31 · id-1");
    expect(stdout).toContain(" · film.mp4 · id-1");
    expect(stdout).toContain(" · https://a.example/b.pdf p. 4 · id-1");
  });

  it("prints the whole answer as JSON", async () => {
    daemon = await startFakeDaemon(home, { "/memory/query": { body: { matches: [match], took_ms: 3 } } });
    expect(JSON.parse((await run(["query", "x", "--json"])).stdout)).toEqual({
      matches: [match],
      took_ms: 3,
    });
  });

  it("says when nothing was found", async () => {
    daemon = await startFakeDaemon(home, { "/memory/query": { body: { matches: [] } } });
    expect(await run(["query", "x"])).toEqual({ code: 0, stdout: "Nothing found.\n", stderr: "" });
  });
});
