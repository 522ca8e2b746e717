import { type ChildProcess, fork, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { lockDataDirectory } from "../../../src/storage/files/lock.ts";

let directory: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "lock-"));
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
  }
  rmSync(directory, { recursive: true, force: true });
});

const namespace = process.platform === "linux" ? readlinkSync("/proc/self/ns/pid") : "";
/** What stands in the directory, without the sockets that prove who lives. */
const files = () => readdirSync(directory).filter((name) => !name.startsWith("lock.socket-"));
const sockets = () => readdirSync(directory).filter((name) => name.startsWith("lock.socket-"));
const lockPath = () => join(directory, "lock");
const claimed = () => JSON.parse(readFileSync(lockPath(), "utf8")) as Record<string, unknown>;

/** A process that tries to lock the directory when it is told, says how that went, and stays. */
async function startContender(): Promise<ChildProcess> {
  const built = new URL("../../../dist/storage/files/lock.js", import.meta.url);
  if (!existsSync(built)) throw new Error("dist/ is missing: run `npm run build` before this test");
  const child = fork(join(import.meta.dirname, "lock-contender.mjs"), [built.href, directory]);
  children.push(child);
  await once(child, "message");
  return child;
}

async function contend(child: ChildProcess): Promise<string> {
  child.send("go");
  const [answer] = (await once(child, "message")) as [string];
  return answer;
}

async function kill(child: ChildProcess): Promise<void> {
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}

/** A lock as another process would have left it. */
function leaveLock(fields: Record<string, unknown>): void {
  const token = "00000000-0000-4000-8000-000000000000";
  const since = "2026-01-02T03:04:05.000Z";
  const own = {
    pid: process.pid,
    startTime: "1",
    bootId: null,
    host: hostname(),
    pidNamespace: namespace,
    socket: null,
  };
  writeFileSync(lockPath(), JSON.stringify({ ...own, token, since, ...fields }));
}

describe("lockDataDirectory", () => {
  it("keeps everyone else out until it is released", async () => {
    const lock = await lockDataDirectory(directory);
    expect(statSync(lockPath()).mode & 0o777).toBe(0o600);
    const refusal = lockDataDirectory(directory);
    await expect(refusal).rejects.toMatchObject({ code: "STORE_UNUSABLE" });
    await expect(refusal).rejects.toThrow(
      `process ${process.pid} on ${hostname()}, since ${String(claimed()["since"])}`,
    );
    await lock.release();
    await lock.release();
    await (await lockDataDirectory(directory)).release();
    expect(readdirSync(directory)).toEqual([]);
  });

  it("says what to do where it cannot write", async () => {
    await expect(lockDataDirectory(join(directory, "missing"))).rejects.toMatchObject({
      code: "STORE_UNUSABLE",
      message: expect.stringMatching(/cannot be locked: ENOENT.*Check that it is there/),
    });
  });

  it("does not remove a lock that someone else took over", async () => {
    const lock = await lockDataDirectory(directory);
    leaveLock({});
    await lock.release();
    expect(existsSync(lockPath())).toBe(true);
  });

  it("works where the file system has no links", async () => {
    const link = () => Promise.reject(Object.assign(new Error("no links here"), { code: "EPERM" }));
    const lock = await lockDataDirectory(directory, { link });
    await expect(lockDataDirectory(directory, { link })).rejects.toMatchObject({ code: "STORE_UNUSABLE" });
    await lock.release();
    leaveLock({ pid: 2 ** 22 + 1 });
    await (await lockDataDirectory(directory, { link })).release();
    expect(readdirSync(directory)).toEqual([]);
  });
});

describe("a lock that was left behind", () => {
  it.each([
    ["by a process that is gone", { pid: 2 ** 22 + 1 }],
    ["before the last boot", { bootId: "another boot" }],
  ])("%s is taken over", async (_, fields) => {
    leaveLock(fields);
    const lock = await lockDataDirectory(directory);
    expect(claimed()).toMatchObject({ pid: process.pid });
    await lock.release();
    expect(readdirSync(directory)).toEqual([]);
  });

  it.runIf(process.platform === "linux")("is taken over when its pid went to another process", async () => {
    leaveLock({ pid: process.ppid });
    await (await lockDataDirectory(directory)).release();
  });

  it("on another host never is", async () => {
    leaveLock({ host: "elsewhere", pid: 2 ** 22 + 1, bootId: "another boot" });
    await expect(lockDataDirectory(directory)).rejects.toThrow(
      /on elsewhere, since 2026-01-02.*remove .*lock/,
    );
  });

  it("is not taken over where only the pid is known and a process has it", async () => {
    leaveLock({ startTime: null, pid: process.ppid });
    await expect(lockDataDirectory(directory)).rejects.toMatchObject({ code: "STORE_UNUSABLE" });
  });

  it("is taken over also when its taking over was broken off", async () => {
    const token = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;
    leaveLock({ pid: 2 ** 22 + 1 });
    for (const n of [0, 1]) {
      const right = { ...claimed(), token: token(n + 1) };
      writeFileSync(join(directory, `lock.stale-${token(n)}`), JSON.stringify(right));
    }
    await lockDataDirectory(directory);
    expect(files()).toEqual(["lock"]);
    expect(claimed()).toMatchObject({ pid: process.pid });
  });

  it("counts as alive where its pid is of another namespace, and nothing else says that it has ended", async () => {
    for (const fields of [
      { pidNamespace: "pid:[1]", pid: 2 ** 22 + 1 },
      { pidNamespace: "pid:[1]", pid: 2 ** 22 + 1, socket: null },
      // The file of the socket was removed.
      { pidNamespace: "pid:[1]", pid: 2 ** 22 + 1, socket: "lock.socket-00000000" },
    ]) {
      leaveLock(fields);
      await expect(lockDataDirectory(directory)).rejects.toMatchObject({ code: "STORE_UNUSABLE" });
      expect(files()).toEqual(["lock"]);
    }
    expect(sockets()).toEqual([]);
  });

  it("of another namespace is taken over where nobody listens at its socket, which goes with it", async () => {
    const contender = await startContender();
    expect(await contend(contender)).toBe("locked");
    await kill(contender);
    const [left] = sockets();
    writeFileSync(lockPath(), JSON.stringify({ ...claimed(), pidNamespace: "pid:[1]" }));
    const lock = await lockDataDirectory(directory);
    expect(sockets()).not.toContain(left);
    await lock.release();
    expect(readdirSync(directory)).toEqual([]);
  });

  it("of another namespace counts as alive where the directory is seen through another file system", async () => {
    const contender = await startContender();
    expect(await contend(contender)).toBe("locked");
    await kill(contender);
    writeFileSync(lockPath(), JSON.stringify({ ...claimed(), pidNamespace: "pid:[1]", directory: "1:2" }));
    await expect(lockDataDirectory(directory)).rejects.toThrow(/If this is a copy of that one, remove/);
  });

  it("is refused with a sentence when nobody can read it", async () => {
    writeFileSync(lockPath(), "");
    await expect(lockDataDirectory(directory)).rejects.toThrow(/cannot be read.*remove that file/);
  });
});

describe("the socket of a lock", () => {
  it("proves a process of an unknown namespace, or of another host name on this kernel, to be alive", async () => {
    const lock = await lockDataDirectory(directory);
    const own = claimed();
    for (const fields of [{ pidNamespace: "pid:[1]" }, { host: "renamed", pidNamespace: "pid:[1]" }]) {
      writeFileSync(lockPath(), JSON.stringify({ ...own, pid: 2 ** 22 + 1, ...fields }));
      await expect(lockDataDirectory(directory)).rejects.toMatchObject({ code: "STORE_UNUSABLE" });
    }
    await lock.release();
  });

  it("is missing where the path of the directory is too long for one; a pid of this namespace does without", async () => {
    const top = directory;
    directory = join(top, "x".repeat(60), "y".repeat(60));
    mkdirSync(directory, { recursive: true });
    const lock = await lockDataDirectory(directory);
    expect([sockets(), claimed()["socket"]]).toEqual([[], null]);
    await expect(lockDataDirectory(directory)).rejects.toMatchObject({ code: "STORE_UNUSABLE" });
    await lock.release();
    leaveLock({ pid: 2 ** 22 + 1, socket: null });
    await (await lockDataDirectory(directory)).release();
    directory = top;
  });

  it("is missing where the file system has none; a pid of this namespace does without", async () => {
    const openSocket = () => Promise.resolve(undefined);
    const lock = await lockDataDirectory(directory, { openSocket });
    expect(claimed()).toMatchObject({ socket: null });
    await expect(lockDataDirectory(directory, { openSocket })).rejects.toMatchObject({
      code: "STORE_UNUSABLE",
    });
    await lock.release();
    leaveLock({ pid: 2 ** 22 + 1, socket: null });
    await (await lockDataDirectory(directory, { openSocket })).release();
    expect(readdirSync(directory)).toEqual([]);
  });
});

const UNSHARE = ["--pid", "--net", "--fork", "--mount-proc"];
const canUnshare = spawnSync("unshare", [...UNSHARE, "true"]).status === 0;

describe.runIf(canUnshare)("between namespaces", () => {
  const lockScript = (then: string) =>
    `const { lockDataDirectory } = await import(${JSON.stringify(new URL("../../../dist/storage/files/lock.js", import.meta.url).href)});
     const lock = await lockDataDirectory(${JSON.stringify(directory)}).catch((error) => error);
     ${then}`;
  const run = (script: string, wrapper: readonly string[] = []) => {
    const [command, ...args] = [...wrapper, process.execPath, "--input-type=module", "-e", script];
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
    children.push(child);
    return child;
  };
  const said = async (child: ChildProcess) => String((await once(child.stdout ?? child, "data"))[0]);
  const tell = `console.log("release" in lock ? "locked" : lock.message);`;
  const stay = `${tell} setInterval(() => {}, 1e6);`;

  it.each([
    ["a sandbox is kept out by a process outside", [], ["unshare", ...UNSHARE]],
    ["a process outside is kept out by a sandbox", ["unshare", ...UNSHARE], []],
    ["a sandbox is kept out by another", ["unshare", ...UNSHARE], ["unshare", ...UNSHARE]],
    ["a sandbox that sees the /proc of others is kept out", [], ["unshare", "--pid", "--fork"]],
  ])("%s, and let in once that has ended", async (_, holder, comer) => {
    const first = run(lockScript(stay), holder);
    expect(await said(first)).toBe("locked\n");
    expect(await said(run(lockScript(tell), comer))).toMatch(/in use by another memoryd/);
    // Of a sandbox, `unshare` is the parent; the process itself stands in the lock by its own pid.
    spawnSync("pkill", ["-KILL", "-P", String(first.pid)]);
    if (holder.length === 0) first.kill("SIGKILL");
    if (first.exitCode === null && first.signalCode === null) await once(first, "exit");
    expect(await said(run(lockScript(tell), comer))).toBe("locked\n");
  });
});

describe("between processes", () => {
  it("one of many wins, and SIGKILL lets the next one in", async () => {
    const contenders = await Promise.all(Array.from({ length: 4 }, startContender));
    for (let round = 0; contenders.length > 1; round += 1) {
      const answers = await Promise.all(contenders.map(contend));
      expect(answers.filter((answer) => answer === "locked")).toHaveLength(1);
      for (const answer of answers)
        expect(answer).toMatch(/^locked$|in use by another memoryd \(process \d+ on /);
      const winner = contenders.splice(answers.indexOf("locked"), 1)[0];
      // Not waited for by its parent yet in the first round: a process that has ended and still has its pid.
      if (winner !== undefined) await kill(winner);
    }
    const last = contenders[0];
    if (last !== undefined) expect(await contend(last)).toBe("locked");
  });

  it.runIf(process.platform === "linux")(
    "a process that has ended holds nothing, though its parent has not noticed",
    async () => {
      // A shell that starts a contender and then becomes `sleep`, which never asks what became of it.
      const script = `"$0" "$1" "$2" "$3" & exec sleep 60`;
      const contender = join(import.meta.dirname, "lock-contender.mjs");
      const built = new URL("../../../dist/storage/files/lock.js", import.meta.url).href;
      const shell = spawn("sh", ["-c", script, process.execPath, contender, built, directory], {
        stdio: "ignore",
      });
      children.push(shell);
      while (!existsSync(lockPath())) await new Promise((resolve) => setImmediate(resolve));
      process.kill(Number(claimed()["pid"]), "SIGKILL");
      let lock = await lockDataDirectory(directory).catch(() => undefined);
      while (lock === undefined) lock = await lockDataDirectory(directory).catch(() => undefined);
      await lock.release();
    },
  );
});
