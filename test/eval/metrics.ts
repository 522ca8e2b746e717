/** How well a search finds what questions rest on. Nothing here knows how the hits were obtained. */

export interface Scored {
  readonly id: string;
  /** In [0, 1]. */
  readonly score: number;
}

/** Answers with ids, best first; more than asked for is cut. */
export type Retriever = (question: EvalQuestion) => Promise<readonly string[]>;

export interface EvalQuestion {
  readonly id: string;
  readonly text: string;
  /** Whose memories are asked. */
  readonly userId: string;
  readonly category: string;
  /** Ids of the memories that the answer rests on, at least one. */
  readonly evidence: readonly string[];
}

export interface Metrics {
  readonly questions: number;
  /** Mean share of the evidence among the first k. */
  readonly recallAt1: number;
  readonly recallAt5: number;
  readonly recallAt10: number;
  /** Share of questions with any, and with all, of the evidence among the first ten. */
  readonly anyAt10: number;
  readonly allAt10: number;
  /** Mean of 1 / place of the first hit among the first ten, 0 without one. */
  readonly reciprocalRank: number;
}

export async function evaluate(
  questions: readonly EvalQuestion[],
  retrieve: Retriever,
): Promise<ReadonlyMap<string, Metrics>> {
  const outcomes: { readonly category: string; readonly values: Omit<Metrics, "questions"> }[] = [];
  for (const question of questions) {
    outcomes.push({
      category: question.category,
      values: judge(question.evidence, await retrieve(question)),
    });
  }
  const categories = [...new Set(questions.map((question) => question.category))].sort();
  return new Map([
    ...categories.map(
      (name) => [name, mean(outcomes.filter((outcome) => outcome.category === name))] as const,
    ),
    ["all", mean(outcomes)] as const,
  ]);
}

/** The metrics of all questions. */
export function overall(metrics: ReadonlyMap<string, Metrics>): Metrics {
  return metrics.get("all") ?? mean([]);
}

function judge(evidence: readonly string[], hits: readonly string[]): Omit<Metrics, "questions"> {
  const wanted = new Set(evidence);
  const found = (k: number) => hits.slice(0, k).filter((id) => wanted.has(id)).length / wanted.size;
  const place = hits.slice(0, 10).findIndex((id) => wanted.has(id));
  return {
    recallAt1: found(1),
    recallAt5: found(5),
    recallAt10: found(10),
    anyAt10: found(10) > 0 ? 1 : 0,
    allAt10: found(10) === 1 ? 1 : 0,
    reciprocalRank: place < 0 ? 0 : 1 / (place + 1),
  };
}

function mean(outcomes: readonly { readonly values: Omit<Metrics, "questions"> }[]): Metrics {
  const average = (key: keyof Omit<Metrics, "questions">) =>
    outcomes.reduce((sum, { values }) => sum + values[key], 0) / Math.max(1, outcomes.length);
  return {
    questions: outcomes.length,
    recallAt1: average("recallAt1"),
    recallAt5: average("recallAt5"),
    recallAt10: average("recallAt10"),
    anyAt10: average("anyAt10"),
    allAt10: average("allAt10"),
    reciprocalRank: average("reciprocalRank"),
  };
}

const COLUMNS = [
  ["R@1", "recallAt1"],
  ["R@5", "recallAt5"],
  ["R@10", "recallAt10"],
  ["any@10", "anyAt10"],
  ["all@10", "allAt10"],
  ["MRR", "reciprocalRank"],
] as const;

/** Rows of figures as a Markdown table. */
export function table(rows: readonly (readonly [name: string, metrics: Metrics])[]): string {
  const cells = [
    ["", "n", ...COLUMNS.map(([title]) => title)],
    ["---", ...Array<string>(COLUMNS.length + 1).fill("---:")],
    ...rows.map(([name, metrics]) => [
      name,
      String(metrics.questions),
      ...COLUMNS.map(([, key]) => metrics[key].toFixed(3)),
    ]),
  ];
  return cells.map((row) => `| ${row.join(" | ")} |`).join("\n");
}
