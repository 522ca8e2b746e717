import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call, type DaemonProcess, startDaemonProcess } from "../support/daemon-process.ts";
import { times } from "../support/stress.ts";

/**
 * The daemon is killed at random moments while clients record, correct, close and erase facts. After each restart every
 * fact stands as it was acknowledged, a batch is there whole or not at all, nothing erased comes back, no timeline holds
 * two facts at one moment, and what was known before is still answered.
 */
const ROUNDS = times(4);
const CLIENTS = 5;
const LONGEST_LIFE_CALLS = 150;
const FACT = "/api/temporal/fact";
const DAY_MS = 86_400_000;
/** Of a batch: they share one subject, so that halves would show. */
const BATCH = 20;

/** What a client knows of a fact: the bodies it may be answered with. Null: gone. */
interface Known {
  states: (object | null)[];
}

interface Answered {
  readonly id: string;
  readonly subject: string;
  readonly valid_from: string;
  readonly valid_to: string | null;
}

let dataDir: string;
let daemon: DaemonProcess;
let counter = 0;
/** Steps of clients that were answered, over all lives. */
let answered = 0;
/** By id. */
const known = new Map<string, Known>();
const batches = new Set<string>();
const subjects = new Set<string>();
/** What a read with `known_at` answered, by its address. */
const remembered = new Map<string, unknown>();
beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), "memoryd-kill-facts-"));
});
afterAll(async () => {
  await daemon?.kill();
  rmSync(dataDir, { recursive: true, force: true });
});

const ask = async (method: string, path: string, body?: object) => {
  const answer = await call(daemon, method, path, body);
  expect(answer.status, `${method} ${path}`).toBe(200);
  return answer.body;
};
/** A fact as a write or a read answers it, without what the erasing of another one clears. */
function recordOf(answer: object): object {
  const left = new Set(["superseded", "deduplicated", "status", "superseded_by", "similar"]);
  return Object.fromEntries(Object.entries(answer).filter(([name]) => !left.has(name)));
}

function recordOrNull(answer: object | undefined): object | null {
  return answer === undefined ? null : recordOf(answer);
}

/** Works on subjects of its own until the connection breaks, so that it knows what to expect. */
async function client(): Promise<void> {
  const subject = `subject ${(counter += 1)}`;
  subjects.add(subject);
  let last: string | undefined;
  for (let step = 0; ; step += 1) {
    try {
      const dice = Math.random();
      if (last === undefined || dice < 0.5) last = await move(subject, step);
      else if (dice < 0.7)
        await change(last, () => ask("PATCH", `${FACT}/${last}`, { confidence: Math.random() }));
      else if (dice < 0.8) await recordBatch();
      else if (dice < 0.9) await rememberMoment(subject);
      else {
        const erased = last;
        last = undefined;
        // Before it is asked: cut off by a kill, it may have happened all the same.
        for (const path of remembered.keys()) {
          if (path.includes(encodeURIComponent(subject))) remembered.delete(path);
        }
        await change(erased, async () => {
          await ask("DELETE", `${FACT}/${erased}?erase=true`);
          return null;
        });
      }
      answered += 1;
    } catch (error) {
      if (error instanceof TypeError) return;
      throw error;
    }
  }
}

/** Each move is a day later, so it closes the one before. */
async function move(subject: string, step: number): Promise<string> {
  const body = {
    subject,
    predicate: "lives in",
    object: `place ${(counter += 1)}`,
    valid_from: (step + 1) * DAY_MS,
  };
  const { facts } = await ask("GET", `${FACT}?subject=${encodeURIComponent(subject)}&at=2100-01-01`);
  const open = facts[0] === undefined ? undefined : known.get(facts[0].id);
  // Until it is acknowledged, the one before may be closed or not.
  if (open !== undefined) open.states = [...open.states, expect.objectContaining({ id: facts[0].id })];
  const made = await ask("POST", FACT, body);
  known.set(made.id, { states: [recordOf(made)] });
  if (open !== undefined) open.states = [recordOf((await ask("GET", `${FACT}/${facts[0].id}`)).fact)];
  return made.id;
}

async function change(id: string, send: () => Promise<object | null>): Promise<void> {
  const fact = known.get(id);
  if (fact === undefined) return;
  fact.states = [...fact.states, expect.objectContaining({ id }), null];
  const answer = await send();
  fact.states = [answer === null ? null : recordOf(answer)];
}

async function recordBatch(): Promise<void> {
  const subject = `batch ${(counter += 1)}`;
  batches.add(subject);
  const facts = Array.from({ length: BATCH }, (_, i) => ({
    subject,
    predicate: "speaks",
    object: `language ${i}`,
    cardinality: "many",
    valid_from: 1_000 + i,
  }));
  const { results } = await ask("POST", `${FACT}/batch`, { facts });
  for (const result of results) known.set(result.id, { states: [recordOf(result)] });
}

async function rememberMoment(subject: string): Promise<void> {
  const path = `${FACT}?subject=${encodeURIComponent(subject)}&known_at=${encodeURIComponent(new Date(Date.now() - 1).toISOString())}`;
  remembered.set(path, await ask("GET", path));
}

async function everything(): Promise<Map<string, Answered>> {
  const found = new Map<string, Answered>();
  for (let cursor = ""; ;) {
    const body = await ask("GET", `${FACT}?l=1000${cursor}`);
    for (const fact of body.facts) found.set(fact.id, fact);
    if (body.next_cursor === null) return found;
    cursor = `&cursor=${body.next_cursor}`;
  }
}

async function check(): Promise<void> {
  const found = await everything();
  for (const [id, fact] of known) {
    const state = recordOrNull(found.get(id));
    expect(fact.states).toContainEqual(state);
    fact.states = [state];
    if (state === null) expect((await call(daemon, "GET", `${FACT}/${id}`)).status).toBe(404);
  }
  for (const subject of batches) {
    const count = [...found.values()].filter((fact) => fact.subject === subject).length;
    expect([0, BATCH]).toContain(count);
  }
  for (const subject of subjects) {
    const facts = [...found.values()].filter((fact) => fact.subject === subject);
    const ends = facts.toSorted((a, b) => Date.parse(a.valid_from) - Date.parse(b.valid_from));
    for (const [i, next] of ends.slice(1).entries()) {
      expect(Date.parse(ends[i]?.valid_to ?? "9999-01-01")).toBeLessThanOrEqual(Date.parse(next.valid_from));
    }
  }
  for (const [path, answer] of remembered) expect(await ask("GET", path)).toEqual(answer);
}

describe(`a daemon that is killed ${ROUNDS} times`, () => {
  it("has every fact as it acknowledged it", async () => {
    for (let round = 1; round <= ROUNDS; round += 1) {
      // Checkpoints come often, so that many kills fall into one.
      daemon = await startDaemonProcess(dataDir, { MEMORYD_CHECKPOINT_BYTES: "65536" });
      await check();
      const clients = Promise.all(Array.from({ length: CLIENTS }, client));
      let haveEnded = false;
      void clients.finally(() => (haveEnded = true)).catch(() => undefined);
      const end = answered + Math.random() * LONGEST_LIFE_CALLS;
      const isOver = () => answered >= end || haveEnded;
      while (!isOver()) await sleep(Math.random() * 10);
      await daemon.kill();
      await clients;
    }
    expect(known.size).toBeGreaterThan(ROUNDS * 5);
  });
});
