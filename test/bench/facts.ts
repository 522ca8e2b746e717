import { type DaemonUnderLoad, startDaemonUnderLoad } from "./daemon-under-load.ts";
import { megabytes, ms, seconds, table, timeInTurns, usageOf } from "./measure.ts";

const FACTS = 100_000;
const SUBJECTS = 10_000;
const BATCH = 1_000;
const GOAL_MS = 15;
const PREDICATES = ["lives in", "works at", "speaks", "owns", "prefers"];
const WORDS = ["amber", "birch", "cedar", "delta", "ember", "frost", "grove", "haven", "island", "jasper"];

/** Every read of facts, and the writing of one: 100 000 facts of 10 000 subjects, most ended, so with two versions. */
export async function benchFacts(directory: string): Promise<string> {
  let daemon = await startDaemonUnderLoad(directory);
  let knownAt = "";
  for (let first = 0; first < FACTS; first += BATCH) {
    const facts = Array.from({ length: BATCH }, (_, place) => factOf(first + place));
    await daemon.post("/api/temporal/fact/batch", { facts });
    if (first === FACTS / 2) knownAt = new Date().toISOString();
  }
  // Again, so that the facts come from the tables.
  await daemon.stop();
  daemon = await startDaemonUnderLoad(directory);
  const resident = usageOf(daemon.pid).residentMegabytes;
  const calls = callsTo(daemon, knownAt);
  await timeInTurns(calls, { rounds: 1, perRound: 10 });
  const timings = await timeInTurns(calls, { rounds: 5, perRound: 30 });
  await daemon.stop();
  return table(
    ["facts", "p50", "p95", "goal"],
    [
      ...Object.entries(timings).map(([name, { p50, p95 }]) => [name, ms(p50), ms(p95), `≤ ${GOAL_MS} ms`]),
      ["start to ready", seconds(daemon.readyAfter), "", "≤ 3 s"],
      ["resident after start", megabytes(resident), "", "≤ 600 MB"],
    ],
  );
}

function callsTo(daemon: DaemonUnderLoad, knownAt: string) {
  const someone = () => `Person number ${Math.floor(Math.random() * SUBJECTS)}`;
  const get = (path: string, conditions: Readonly<Record<string, string>> = {}) =>
    daemon.get(`/api/temporal/${path}?${new URLSearchParams(conditions).toString()}`);
  const at = "2010-06-01";
  const compared = { time1: at, time2: "2015-01-01" };
  const { subject, predicate } = factOf(7);
  return {
    "one subject": () => get("fact", { subject: someone() }),
    current: () => get("fact/current", { subject, predicate, at }),
    "all, a page": () => get("fact"),
    "all, page 500": () => get("fact", { u: "50000" }),
    "all at a moment": () => get("fact", { at }),
    "all at a moment, as known half-way": () => get("fact", { at, known_at: knownAt }),
    "a user in a hundred": () => get("fact", { user_id: "user-7" }),
    timeline: () => get("timeline", { subject: someone() }),
    "search, a part": () => get("search", { pattern: "ember haven" }),
    "search, many stars": () => get("search", { pattern: "*a*a*a*a*a*a*a*zz" }),
    "compare, all": () => get("compare", compared),
    "compare, one subject": () => get("compare", { ...compared, subject: someone() }),
    stats: () => get("stats"),
    "stats of a user": () => get("stats", { user_id: "user-7" }),
    volatile: () => get("volatile"),
    "record one": () =>
      daemon.post("/api/temporal/fact", { subject: someone(), predicate: "has seen", object: someone() }),
  };
}

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
