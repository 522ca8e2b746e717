import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call, type DaemonProcess, startDaemonProcess } from "../support/daemon-process.ts";
import { times } from "../support/stress.ts";

/**
 * The daemon is killed at random moments while clients add, change and delete. After each restart everything that was
 * acknowledged must be there, once, and found by a query; what was under way may have happened or not, but not by half.
 */
const ROUNDS = times(5);
const CLIENTS = 6;
const LONGEST_LIFE_CALLS = 150;

/** What one client knows of a memory: the states it may be in. Null: gone. */
interface Known {
  readonly id: string | undefined;
  /** Unlike every other memory's text. */
  readonly marker: string;
  states: readonly (string | null)[];
}

const NOUNS = [
  "kettle",
  "bicycle",
  "invoice",
  "harbour",
  "violin",
  "printer",
  "orchard",
  "passport",
  "lantern",
  "glacier",
];
const VERBS = ["repaired", "sold", "painted", "found", "lent", "cleaned", "ordered", "lost"];

let dataDir: string;
let daemon: DaemonProcess;
let counter = 0;
/** Calls that were answered, over all lives. */
let answered = 0;
const known: Known[] = [];
beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), "memoryd-kill-"));
});
afterAll(async () => {
  await daemon?.kill();
  rmSync(dataDir, { recursive: true, force: true });
});

function sentence(marker: string): string {
  const pick = (list: readonly string[]) => list[Math.floor(Math.random() * list.length)] ?? "";
  return `${marker}: the ${pick(NOUNS)} was ${pick(VERBS)} next to the ${pick(NOUNS)}`;
}

/** Works until the connection breaks. Its memories are its own, so that it knows what to expect. */
async function client(): Promise<void> {
  const own: Known[] = [];
  for (;;) {
    const target = own[Math.floor(Math.random() * own.length)];
    const dice = Math.random();
    try {
      if (target?.id === undefined || target.states[0] === null || dice < 0.6) await add(own);
      else if (dice < 0.85) await patch(target, target.id);
      else await remove(target, target.id);
      answered += 1;
    } catch {
      return;
    }
  }
}

async function add(own: Known[]): Promise<void> {
  const marker = `marker${(counter += 1)}x`;
  const content = sentence(marker);
  const doubtful: Known = { id: undefined, marker, states: [content, null] };
  known.push(doubtful);
  const { status, body } = await call(daemon, "POST", "/memory/add", {
    content,
    session_id: `s${counter % 7}`,
  });
  expect(status).toBe(200);
  const certain: Known = { id: body.id, marker, states: [content] };
  known[known.indexOf(doubtful)] = certain;
  own.push(certain);
}

async function patch(target: Known, id: string): Promise<void> {
  const content = sentence(target.marker);
  const [before = null] = target.states;
  target.states = [before, content];
  expect((await call(daemon, "PATCH", `/memory/${id}`, { content })).status).toBe(200);
  target.states = [content];
}

async function remove(target: Known, id: string): Promise<void> {
  const [before = null] = target.states;
  target.states = [before, null];
  expect((await call(daemon, "DELETE", `/memory/${id}`)).status).toBe(200);
  target.states = [null];
}

async function everything(): Promise<Map<string, { id: string; content: string }[]>> {
  const found = new Map<string, { id: string; content: string }[]>();
  for (let cursor = ""; ;) {
    const { body } = await call(daemon, "GET", `/memory/all?l=500${cursor}`);
    for (const item of body.items) {
      const marker = String(item.content).split(":")[0] ?? "";
      found.set(marker, [...(found.get(marker) ?? []), item]);
    }
    if (body.next_cursor === null) return found;
    cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`;
  }
}

describe(`a daemon that is killed ${ROUNDS} times`, () => {
  it("has everything it acknowledged, once, and finds it", async () => {
    for (let round = 1; round <= ROUNDS; round += 1) {
      // Checkpoints come often, so that many kills fall into one.
      daemon = await startDaemonProcess(dataDir, { MEMORYD_CHECKPOINT_BYTES: "65536" });
      const found = await everything();
      const unchecked = known.filter(({ marker }) => !found.has(marker) || round % 5 === 0);
      for (const memory of known) {
        const copies = found.get(memory.marker) ?? [];
        expect(copies.length, `${memory.marker} in round ${round}`).toBeLessThanOrEqual(1);
        const state = copies[0]?.content ?? null;
        expect(memory.states, `${memory.marker} in round ${round}`).toContain(state);
        memory.states = [state];
      }
      expect([...found.keys()].filter((marker) => !known.some((memory) => memory.marker === marker))).toEqual(
        [],
      );
      await findAll([...known.slice(-60), ...unchecked.slice(0, 60)]);

      const clients = Promise.all(Array.from({ length: CLIENTS }, client));
      let haveEnded = false;
      void clients.finally(() => (haveEnded = true)).catch(() => undefined);
      const end = answered + Math.random() * LONGEST_LIFE_CALLS;
      const isOver = () => answered >= end || haveEnded;
      while (!isOver()) await sleep(Math.random() * 10);
      await daemon.kill();
      await clients;
    }
    expect(known.length).toBeGreaterThan(ROUNDS * 2);
  });
});

async function findAll(memories: readonly Known[]): Promise<void> {
  for (const { id, marker, states } of memories) {
    const { status, body } = await call(daemon, "POST", "/memory/query", {
      query: states[0] ?? marker,
      k: 3,
    });
    expect(status).toBe(200);
    const contents = body.matches.map((match: { content: string }) => match.content);
    if (states[0] === null) expect(contents.join("\n")).not.toContain(`${marker}:`);
    else expect(contents, `query for ${marker}`).toContain(states[0]);
    if (id !== undefined && states[0] === null) {
      expect((await call(daemon, "GET", `/memory/${id}`)).status).toBe(404);
    }
  }
}
