import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { machine } from "./timing.ts";

const FILE = join(import.meta.dirname, "results.md");

export interface Figure {
  readonly what: string;
  readonly measured: string;
  /** What it is held against, and the outcome. */
  readonly against: string;
  readonly ratio: string;
  readonly goal: string;
  readonly holds: boolean | undefined;
}

/** Without anything to be held against. */
export function plain(what: string, measured: string): Figure {
  return { what, measured, against: "", ratio: "", goal: "", holds: undefined };
}

/** `value` must not pass `limit`; it is shown as a ratio where there is something beside it. */
export function figure(
  what: string,
  measured: string,
  against: string,
  value: number,
  limit: number,
  goal: string,
): Figure {
  return {
    what,
    measured,
    against,
    ratio: against === "" ? "" : value.toFixed(2),
    goal,
    holds: value <= limit,
  };
}

/** Figures as a table. */
export function table(title: string, figures: readonly Figure[]): string {
  const rows = figures.map(
    ({ what, measured, against, ratio, goal, holds }) =>
      `| ${what} | ${measured} | ${against} | ${ratio} | ${goal} | ${holds === undefined ? "" : holds ? "holds" : "misses"} |`,
  );
  return [
    "",
    `## ${title}`,
    "",
    machine(),
    "",
    "| | measured | beside | ratio | goal | |",
    "|---|---|---|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

/** Prints tables and writes them into `results.md`, in which the last run stands. */
export class Report {
  constructor(title: string) {
    const lines = [
      `# ${title}`,
      "",
      `Written by \`npm run bench\` on ${new Date().toISOString().slice(0, 10)}. Of every figure the round least disturbed by other`,
      "work on the machine; what stands beside a figure was measured in turns with it. Load: of 1, 5 and 15 minutes.",
    ];
    writeFileSync(FILE, `${lines.join("\n")}\n`);
  }

  section(title: string, figures: readonly Figure[]): void {
    const text = table(title, figures);
    appendFileSync(FILE, text);
    process.stdout.write(text);
  }
}

export const ms = (value: number): string => `${value < 10 ? value.toFixed(2) : value.toFixed(1)} ms`;
