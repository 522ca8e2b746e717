/**
 * Every read of facts over 100 000 facts of 10 000 subjects, most with two versions, in memory.
 *
 * Timed: the operation alone, no HTTP. Target: p50 under 15 ms each, those by subject or user far under 1 ms.
 */
import { it } from "vitest";
import { compareFacts } from "../../src/core/compare-facts.ts";
import { factStats } from "../../src/core/fact-stats.ts";
import { factTimeline } from "../../src/core/fact-timeline.ts";
import { findFacts } from "../../src/core/find-facts.ts";
import { namedFacts } from "../../src/core/named-facts.ts";
import { recordFact } from "../../src/core/record-fact.ts";
import { recordFacts } from "../../src/core/record-facts.ts";
import { searchFacts } from "../../src/core/search-facts.ts";
import { volatileFacts } from "../../src/core/volatile-facts.ts";
import { createFakeFactPorts } from "../support/in-memory-fact-store.ts";
import { figure, ms, table } from "./report.ts";
import { timeInTurns } from "./timing.ts";

const FACTS = 100_000;
const SUBJECTS = 10_000;
const BATCH = 1_000;
const MOST_MS = 15;
const PREDICATES = ["lives in", "works at", "speaks", "owns", "prefers"];
const WORDS = ["amber", "birch", "cedar", "delta", "ember", "frost", "grove", "haven", "island", "jasper"];

const ports = createFakeFactPorts();
const start = ports.clock.now();
for (let first = 0; first < FACTS; first += BATCH) {
  ports.clock.time += 1_000;
  const items = Array.from({ length: BATCH }, (_, place) => {
    const index = first + place;
    const subject = (index * 7_919) % SUBJECTS;
    return {
      subject: `Person number ${subject}`,
      predicate: PREDICATES[index % PREDICATES.length] ?? "",
      object: `${WORDS[index % 10]} ${WORDS[(index >> 3) % 10]} object ${index % 30_000}`,
      validFrom: Date.UTC(2000 + 2 * Math.floor(index / SUBJECTS), subject % 12, 1),
      userId: `user-${subject % 100}`,
    };
  });
  await recordFacts(ports, { items });
}
const limit = 100;
const at = Date.UTC(2010, 5, 1);
const subject = "Person number 7";

const reads: Record<string, () => unknown> = {
  "find, all": () => findFacts(ports, { limit }),
  "find, page 500": () => findFacts(ports, { limit, offset: 50_000 }),
  "find, at": () => findFacts(ports, { limit, at }),
  "find, at and known_at": () => findFacts(ports, { limit, at, knownAt: start + 50_000 }),
  "find, one subject": () => findFacts(ports, { limit, subject }),
  timeline: () => factTimeline(ports, { subject, limit }),
  "search, part": () => searchFacts(ports, { pattern: "ember haven", field: "any", limit }),
  "search, many stars": () => searchFacts(ports, { pattern: "*a*a*a*a*a*a*a*zz", field: "any", limit }),
  compare: () => compareFacts(ports, { time1: at, time2: Date.UTC(2015, 0, 1), limit }),
  stats: () => factStats(ports, {}),
  volatile: () => volatileFacts(ports, { limit: 10 }),
  "named in a question": () => namedFacts(ports, { question: `Where does ${subject} live now?`, limit }),
  "record one": () => recordFact(ports, { subject, predicate: "owns", object: "a boat" }),
};

it(`reads ${FACTS} facts of ${SUBJECTS} subjects`, async () => {
  const timings = await timeInTurns(reads, { rounds: 5, callsARound: 20 });
  const figures = Object.entries(timings).map(([what, { p50 }]) => figure(what, ms(p50), "", p50, MOST_MS, `p50 ≤ ${MOST_MS} ms`));
  process.stdout.write(table(`${FACTS} facts of ${SUBJECTS} subjects, in memory`, figures));
});
