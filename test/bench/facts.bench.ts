/**
 * Every read of facts, and the writing of one, over HTTP: 100 000 facts of 10 000 subjects, most of which have ended,
 * so that most have two versions. The figures go into `facts-results.md`.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { type DaemonUnderLoad, startDaemonUnderLoad } from "./daemon-under-load.ts";
import { figure, ms, table } from "./report.ts";
import { timeInTurns, usageOf } from "./timing.ts";

const FACTS = 100_000;
const SUBJECTS = 10_000;
const BATCH = 1_000;
const GOAL_MS = 15;
const PREDICATES = ["lives in", "works at", "speaks", "owns", "prefers"];
const WORDS = ["amber", "birch", "cedar", "delta", "ember", "frost", "grove", "haven", "island", "jasper"];
const RESULTS = join(import.meta.dirname, "facts-results.md");

const directory = mkdtempSync(join(tmpdir(), "memoryd-bench-facts-"));
let daemon: DaemonUnderLoad;
let knownAt = "";

beforeAll(async () => {
  daemon = await startDaemonUnderLoad(directory);
  for (let first = 0; first < FACTS; first += BATCH) {
    const facts = Array.from({ length: BATCH }, (_, place) => factOf(first + place));
    await daemon.post("/api/temporal/fact/batch", { facts });
    if (first === FACTS / 2) knownAt = new Date().toISOString();
  }
  // Again, so that the facts come from the tables.
  await daemon.stop();
  daemon = await startDaemonUnderLoad(directory);
}, 600_000);

afterAll(async () => {
  await daemon?.stop();
  rmSync(directory, { recursive: true, force: true });
});

describe(`${FACTS} facts of ${SUBJECTS} subjects`, () => {
  it("are read and written", async () => {
    const ready = daemon.readyAfter;
    const resident = usageOf(daemon.pid).residentMegabytes;
    const someone = () => `Person number ${Math.floor(Math.random() * SUBJECTS)}`;
    const get = (path: string, conditions: Readonly<Record<string, string>> = {}) =>
      daemon.get(`/api/temporal/${path}?${new URLSearchParams(conditions).toString()}`);
    const at = "2010-06-01";
    const known = factOf(7);
    const calls = {
      "one subject": () => get("fact", { subject: someone() }),
      current: () => get("fact/current", { subject: known.subject, predicate: known.predicate, at }),
      "all, a page": () => get("fact"),
      "all, page 500": () => get("fact", { u: "50000" }),
      "all at a moment": () => get("fact", { at }),
      "all at a moment, as known half-way": () => get("fact", { at, known_at: knownAt }),
      "a user in a hundred": () => get("fact", { user_id: "user-7" }),
      timeline: () => get("timeline", { subject: someone() }),
      "search, a part": () => get("search", { pattern: "ember haven" }),
      "search, many stars": () => get("search", { pattern: "*a*a*a*a*a*a*a*zz" }),
      "compare, all": () => get("compare", { time1: at, time2: "2015-01-01" }),
      "compare, one subject": () => get("compare", { time1: at, time2: "2015-01-01", subject: someone() }),
      stats: () => get("stats"),
      "stats of a user": () => get("stats", { user_id: "user-7" }),
      volatile: () => get("volatile"),
      "record one": () =>
        daemon.post("/api/temporal/fact", { subject: someone(), predicate: "has seen", object: someone() }),
    };
    await timeInTurns(calls, { rounds: 1, callsARound: 10 });
    const timings = await timeInTurns(calls, { rounds: 5, callsARound: 30 });
    const figures = Object.entries(timings).map(([name, { p50, p95 }]) => ({
      ...figure(`p50, ${name}`, ms(p50), "", p50, GOAL_MS, `≤ ${GOAL_MS} ms`),
      against: `p95 ${ms(p95)}`,
    }));
    const text = table(`${FACTS} facts of ${SUBJECTS} subjects, over HTTP`, [
      ...figures,
      figure("start to ready", ms(ready), "", ready, 3_000, "≤ 3 s"),
      figure("resident after start", `${resident.toFixed(0)} MB`, "", resident, 600, "≤ 600 MB"),
    ]);
    writeFileSync(RESULTS, `# Figures of the last benchmark of facts\n${text}`);
    process.stdout.write(text);
  }, 600_000);
});

/** Of each subject ten facts, two years apart, by one of a hundred users. */
function factOf(index: number) {
  const subject = (index * 7_919) % SUBJECTS;
  const year = 2000 + 2 * Math.floor(index / SUBJECTS);
  return {
    subject: `Person number ${subject}`,
    predicate: PREDICATES[index % PREDICATES.length] ?? "",
    object: `${WORDS[index % 10]} ${WORDS[(index >> 3) % 10]} object ${index % 30_000}`,
    valid_from: Date.UTC(year, subject % 12, 1),
    user_id: `user-${subject % 100}`,
  };
}
