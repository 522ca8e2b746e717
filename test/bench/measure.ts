import { readFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg } from "node:os";
import { SUBJECTS } from "../support/fill-store.ts";
import { seededRandom } from "../support/seeded-random.ts";

/** Measures in an empty folder; `known` is the text that the result replaces. @returns a table in Markdown. */
export type Part = (directory: string, known: string) => Promise<string>;

/** Milliseconds of calls. */
export interface Timing {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

export function timingOf(times: readonly number[]): Timing {
  const ascending = times.toSorted((a, b) => a - b);
  const at = (share: number) => ascending[Math.floor(ascending.length * share)] ?? Number.NaN;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: ascending.at(-1) ?? Number.NaN };
}

/** What a call takes, milliseconds. */
export async function timed(call: () => unknown): Promise<number> {
  const startedAt = performance.now();
  await call();
  return performance.now() - startedAt;
}

/** Calls in turns so that all of them meet the same load; of each the round that other work disturbed least. */
export async function timeInTurns<K extends string>(
  calls: Readonly<Record<K, (turn: number) => unknown>>,
  { rounds, perRound }: { readonly rounds: number; readonly perRound: number },
): Promise<Record<K, Timing>> {
  const best = {} as Record<K, Timing>;
  let turn = 0;
  for (let round = 0; round < rounds; round += 1) {
    for (const name of Object.keys(calls) as K[]) {
      const times: number[] = [];
      while (times.length < perRound) times.push(await timed(() => calls[name]((turn += 1))));
      const timing = timingOf(times);
      if (best[name] === undefined || timing.p50 < best[name].p50) best[name] = timing;
    }
  }
  return best;
}

/** So many callers, each of whom waits for its answer: calls per second, and what each took. */
export async function timeCallers(
  call: (turn: number) => Promise<unknown>,
  { callers, calls }: { readonly callers: number; readonly calls: number },
): Promise<Timing & { readonly perSecond: number }> {
  const times: number[] = [];
  let turn = 0;
  const took = await timed(() =>
    Promise.all(
      Array.from({ length: callers }, async () => {
        while (turn < calls) {
          const own = (turn += 1);
          times.push(await timed(() => call(own)));
        }
      }),
    ),
  );
  return { ...timingOf(times), perSecond: (times.length * 1_000) / took };
}

/** Calls again and again beside something else; and notes what each call took. */
export function callBeside(call: () => Promise<unknown>): {
  readonly times: number[];
  stop(): Promise<void>;
} {
  const times: number[] = [];
  const over = new AbortController();
  const calling = (async () => {
    while (!over.signal.aborted) {
      times.push(await timed(call));
      // A turn for others.
      await new Promise((done) => setTimeout(done, 2));
    }
  })();
  return {
    times,
    async stop() {
      over.abort();
      await calling;
    },
  };
}

/** The machine and its load of 1, 5 and 15 minutes. */
export function machine(): string {
  const model = cpus()[0]?.model.trim() ?? "unknown processor";
  const load = loadavg().map((average) => average.toFixed(1));
  return `${availableParallelism()} × ${model}, Node ${process.version}, load ${load.join(" ")}`;
}

/**
 * Processor time of the longest turn of this thread's event loop, milliseconds, until it is stopped: other work on the machine makes
 * turns longer, but not their processor time. For the main thread; Linux only.
 */
export function longestTurn(): { stop(): number } {
  const used = () =>
    Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
  let [before, longest] = [used(), 0];
  const look = () => {
    const now = used();
    longest = Math.max(longest, now - before);
    before = now;
  };
  const timer = setInterval(look, 1);
  return {
    stop() {
      clearInterval(timer);
      look();
      return longest;
    },
  };
}

/** Resident megabytes of a process, the processor seconds it has used and the bytes it has written; Linux only. */
export function usageOf(pid: number | "self") {
  const read = (name: string) => readFileSync(`/proc/${pid}/${name}`, "utf8");
  // After the command's name, which may hold anything, the 12th and 13th are user and system time in ticks of 10 ms.
  const fields = read("stat")
    .replace(/^.*\) /s, "")
    .split(" ");
  return {
    residentMegabytes: Number(/VmRSS:\s*(\d+)/.exec(read("status"))?.[1]) / 1_024,
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / 100,
    bytesWritten: Number(/^write_bytes: (\d+)/m.exec(read("io"))?.[1]),
  };
}

export const ms = (value: number): string => `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ms`;
export const seconds = (value: number): string => `${(value / 1_000).toFixed(1)} s`;
export const megabytes = (value: number): string => `${value.toFixed(0)} MB`;

/** A Markdown table; without rows of names the first column is the name. */
export function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(columns), `|${"---|".repeat(columns.length)}`, ...rows.map(line)].join("\n");
}

const VERBS = ["asked about", "moved to", "paid for", "forgot", "repaired", "wrote down", "agreed on"];
const THINGS =
  "garden meeting kitchen invoice train Berlin sister budget piano recipe window Tuesday dentist bicycle report".split(
    " ",
  );
// Not the texts of an earlier run, which a store of that run has.
const random = seededRandom(Date.now());
const pick = (list: readonly string[]) => list[Math.floor(random() * list.length)] ?? "";
/** Of the vocabulary that stores are filled with: some words common, most rare. */
const filler = () => `w${Math.floor(random() ** 2 * 20_000)}`;

/** A memory of 25 words, about 36 word pieces; no two alike. */
export function newMemoryText(turn: number): string {
  const things = Array.from({ length: 16 }, (_, i) => (i % 4 === 3 ? "and the" : pick(THINGS))).join(" ");
  return `${pick(SUBJECTS)} ${pick(VERBS)} the ${things} ${turn}.`;
}

/** A question about memories that `fillStore` made. */
export function newQuestion(): string {
  return `What did ${pick(SUBJECTS)} say about ${filler()} and ${filler()}?`;
}
