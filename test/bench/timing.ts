import { readFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg } from "node:os";

/** Milliseconds of calls made one after the other, of the round that other work on the machine disturbed least. */
export interface Timing {
  readonly p50: number;
  readonly p95: number;
}

/** What each of several things costs, measured in turns so that all of them meet the same load. */
export async function timeInTurns<K extends string>(
  calls: Readonly<Record<K, (turn: number) => unknown>>,
  { rounds, callsARound }: { readonly rounds: number; readonly callsARound: number },
): Promise<Record<K, Timing>> {
  const names = Object.keys(calls) as K[];
  const measured = new Map<K, Timing[]>(names.map((name) => [name, []]));
  let turn = 0;
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) {
      const times: number[] = [];
      for (let i = 0; i < callsARound; i += 1) {
        const startedAt = performance.now();
        await calls[name]((turn += 1));
        times.push(performance.now() - startedAt);
      }
      times.sort((a, b) => a - b);
      measured.get(name)?.push({ p50: quantile(times, 0.5), p95: quantile(times, 0.95) });
    }
  }
  return Object.fromEntries(names.map((name) => [name, leastDisturbed(measured.get(name) ?? [])])) as Record<
    K,
    Timing
  >;
}

/** Calls a second of so many callers, each of whom waits for its answer: the best of the rounds. */
export async function callsPerSecond(
  call: (turn: number) => Promise<unknown>,
  { callers, calls }: { readonly callers: number; readonly calls: number },
): Promise<number> {
  let next = 0;
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (next < calls) await call((next += 1));
    }),
  );
  return (calls * 1_000) / (performance.now() - startedAt);
}

/** The value that such a share of the values does not pass. */
export function percentile(values: readonly number[], share: number): number {
  return quantile(
    [...values].sort((a, b) => a - b),
    share,
  );
}

function quantile(ascending: readonly number[], share: number): number {
  return ascending[Math.floor(ascending.length * share)] ?? Number.NaN;
}

function leastDisturbed(rounds: readonly Timing[]): Timing {
  return rounds.reduce((best, round) => (round.p50 < best.p50 ? round : best));
}

/** The machine and its load, to stand above figures. */
export function machine(): string {
  const model = cpus()[0]?.model.trim() ?? "unknown processor";
  const load = loadavg()
    .map((average) => average.toFixed(1))
    .join(" ");
  return `${availableParallelism()} × ${model}, Node ${process.version}, load ${load}`;
}

/** Resident megabytes of a process, and the processor seconds it has used; Linux only. */
export function usageOf(pid: number): { readonly residentMegabytes: number; readonly cpuSeconds: number } {
  const kilobytes = /VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "NaN";
  // After the command's name, which may hold anything, the 12th and 13th are user and system time in ticks of 10 ms.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return {
    residentMegabytes: Number(kilobytes) / 1_024,
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / 100,
  };
}
