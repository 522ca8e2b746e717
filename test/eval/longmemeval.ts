/**
 * `npm run eval -- --longmemeval FILE`: how well a daemon finds the sessions and turns that questions of LongMemEval rest
 * on. Each question is a user of its own. What was measured is kept beside the file, so that a run goes on where it ended.
 */
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startDaemonProcess } from "../support/daemon-process.ts";
import { modelUnderTest } from "./bare-model.ts";
import { type Instance, readInstances, timeOf } from "./longmemeval-file.ts";

const PLACES = [1, 5, 10, 50] as const;
const GAIN_PLACES = 10;
/** Turns asked for: the most that a question may; sessions are in the order of their first turn. */
const ASKED = 200;
const BATCH = 100;
const TIMEOUT_MS = 600_000;

/** What was found of one question; a line of the file of results. */
export interface Outcome {
  readonly id: string;
  readonly type: string;
  readonly answerable: boolean;
  readonly turns: number;
  readonly storedMs: number;
  readonly askedMs: number;
  /** Places of evidence among what was found, from 0, and how much evidence there is. */
  readonly session: Found;
  readonly turn: Found;
}
interface Found {
  readonly places: readonly number[];
  readonly of: number;
}

/** Measures the questions that the file of results lacks; resolves to the outcomes of all. */
export async function measure(
  path: string,
  results: string,
  base: string,
  say: (line: string) => void,
): Promise<Outcome[]> {
  const outcomes = existsSync(results) ? readOutcomes(results) : [];
  const known = new Set(outcomes.map(({ id }) => id));
  for await (const instance of readInstances(path)) {
    if (known.has(instance.question_id)) continue;
    const outcome = await measureOne(instance, base);
    appendFileSync(results, `${JSON.stringify(outcome)}\n`);
    outcomes.push(outcome);
    say(
      `${outcomes.length}: ${outcome.id}, ${outcome.turns} turns in ${(outcome.storedMs / 1000).toFixed(1)} s`,
    );
  }
  return outcomes;
}

/** A line that an interrupted run left unfinished is measured again. */
function readOutcomes(results: string): Outcome[] {
  const text = readFileSync(results, "utf8");
  if (!text.endsWith("\n")) appendFileSync(results, "\n");
  return text.split("\n").flatMap((line) => {
    try {
      return [JSON.parse(line) as Outcome];
    } catch {
      return [];
    }
  });
}

async function measureOne(instance: Instance, base: string): Promise<Outcome> {
  const user = `longmemeval-${instance.question_id}`;
  const turns = instance.haystack_sessions.flatMap((session, s) =>
    session.map(({ role, content, has_answer: isEvidence = false }) => ({
      content: `${role}: ${content}`,
      session: s,
      isEvidence,
    })),
  );
  const turnsOf = new Map<string, number[]>();
  const started = performance.now();
  for (let start = 0; start < turns.length; start += BATCH) {
    const part = turns.slice(start, start + BATCH);
    const memories = part.map(({ content, session }) => ({
      content,
      user_id: user,
      session_id: String(session),
      occurred_at: timeOf(instance.haystack_dates[session] ?? ""),
    }));
    const { results } = await send<{ results: { id?: string }[] }>(base, "/memory/add/batch", { memories });
    for (const [i, { id }] of results.entries()) {
      if (id === undefined) throw new Error(`${instance.question_id}: a turn was not accepted`);
      // A text said twice in a session is one memory.
      turnsOf.set(id, [...(turnsOf.get(id) ?? []), start + i]);
    }
  }
  const stored = performance.now();
  const { matches } = await send<{ matches: { id: string }[] }>(base, "/memory/query", {
    query: instance.question,
    user_id: user,
    k: ASKED,
  });
  const asked = performance.now();
  const found = matches.map(({ id }) => turnsOf.get(id) ?? []);
  const sessions = [...new Set(found.flatMap(([first]) => turns[first ?? -1]?.session ?? []))];
  const evidence = new Set(instance.answer_session_ids);
  const isEvidence = (session: number) => evidence.has(instance.haystack_session_ids[session] ?? "");
  await send(base, `/users/${encodeURIComponent(user)}/memories`, undefined);
  return {
    id: instance.question_id,
    type: instance.question_type,
    answerable: !instance.question_id.endsWith("_abs"),
    turns: turns.length,
    storedMs: stored - started,
    askedMs: asked - stored,
    session: {
      places: sessions.flatMap((session, place) => (isEvidence(session) ? [place] : [])),
      of: instance.haystack_session_ids.filter((_, session) => isEvidence(session)).length,
    },
    turn: {
      places: found.flatMap((those, place) => (those.some((t) => turns[t]?.isEvidence) ? [place] : [])),
      of: [...turnsOf.values()].filter((those) => those.some((t) => turns[t]?.isEvidence)).length,
    },
  };
}

/** Sends a body, or deletes where there is none. */
async function send<T>(base: string, path: string, body: object | undefined): Promise<T> {
  const response = await fetch(base + path, {
    ...(body === undefined
      ? { method: "DELETE" }
      : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
}

/** The figures of sessions and of turns, a row a type of question; what nothing answers is counted apart. */
export function report(outcomes: readonly Outcome[]): string {
  const answerable = outcomes.filter((outcome) => outcome.answerable);
  const types = [...new Set(answerable.map(({ type }) => type))].sort();
  const tables = (["session", "turn"] as const).map((unit) => {
    const row = (name: string, of: readonly Outcome[]) => {
      const judged = of.map((outcome) => outcome[unit]).filter((found) => found.of > 0);
      const mean = (value: (found: Found) => number) =>
        judged.length === 0
          ? "–"
          : (judged.reduce((sum, found) => sum + value(found), 0) / judged.length).toFixed(3);
      const recall = PLACES.map((k) => {
        const share = ({ places, of: all }: Found) => places.filter((place) => place < k).length / all;
        return [
          mean((found) => (share(found) > 0 ? 1 : 0)),
          mean((found) => (share(found) === 1 ? 1 : 0)),
          mean(share),
        ].join(", ");
      });
      return [
        name,
        String(judged.length),
        ...recall,
        mean(gain),
        mean(({ places: [first] }) => (first === undefined ? 0 : 1 / (first + 1))),
      ];
    };
    const rows = [
      [unit, "n", ...PLACES.map((k) => `any, all, share @${k}`), `NDCG@${GAIN_PLACES}`, "MRR"],
      ["---", ...Array<string>(PLACES.length + 3).fill("---:")],
      ...types.map((type) =>
        row(
          type,
          answerable.filter((outcome) => outcome.type === type),
        ),
      ),
      row("all", answerable),
    ];
    return rows.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
  });
  const seconds = (key: "storedMs" | "askedMs") =>
    outcomes.reduce((sum, outcome) => sum + outcome[key], 0) / 1000;
  const turns = outcomes.reduce((sum, outcome) => sum + outcome.turns, 0);
  return [
    ...tables,
    `${outcomes.length - answerable.length} questions that nothing answers are in no row. ` +
      `${turns} turns stored in ${seconds("storedMs").toFixed(1)} s, ${outcomes.length} questions asked in ${seconds("askedMs").toFixed(1)} s.`,
  ].join("\n\n");
}

function gain({ places, of }: Found): number {
  const sum = (those: readonly number[]) =>
    those.reduce((total, place) => total + 1 / Math.log2(place + 2), 0);
  const best = Array.from({ length: Math.min(of, GAIN_PLACES) }, (_, place) => place);
  return sum(places.filter((place) => place < GAIN_PLACES)) / sum(best);
}

/** Runs a daemon of its own, prints progress and figures. @throws where the file is missing or of another form */
export async function runLongMemEval(path: string | undefined): Promise<void> {
  if (path === undefined || !existsSync(path))
    throw new Error(
      `${path ?? "no file"}: name your copy of longmemeval_s.json, as in \`npm run eval -- --longmemeval FILE\``,
    );
  const directory = mkdtempSync(join(tmpdir(), "memoryd-longmemeval-"));
  const { name } = modelUnderTest();
  try {
    const daemon = await startDaemonProcess(directory, { MEMORYD_MODEL: name });
    try {
      const results = `${path}.${name}.jsonl`;
      console.log(`Results are kept in ${results}; remove it to measure anew.`);
      console.log(report(await measure(path, results, daemon.baseUrl, (line) => console.log(line))));
    } finally {
      await daemon.stop();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
