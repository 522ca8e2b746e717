import { join } from "node:path";
import { type EmbeddingModel, MEMORYD_E5, MINILM } from "../../src/models/bundled-models.ts";
import { openEmbedder } from "../../src/models/onnx-embedder.ts";
import { fillStore } from "../support/fill-store.ts";
import { type DaemonUnderLoad, startDaemonUnderLoad } from "./daemon-under-load.ts";
import { megabytes, ms, seconds, table, timeCallers, timed, usageOf } from "./measure.ts";
import { realNote, realQuestion, withNoteEmbedder } from "./real-notes.ts";

/** The default model, and the one that is faster and reads English alone. */
const MODELS = [MEMORYD_E5, MINILM];
const CALLERS = 8;
const STARTS = 3;
const QUESTIONS = 300;
const ROUNDS = 3;
const ADDS = 500;
/** The number of a note that no store has. */
const FIRST_ADDED = 10_000_000;
const count = (value: number) => value.toFixed(0);
const ratio = (value: number) => value.toFixed(1);

/** How each figure is shown, and what it may come to with the default model, by number of memories. */
const FIGURES = {
  "question, processor time": { show: ms },
  "of it the model": { show: ms },
  "of it all else": { show: ms, most: { 1_200: 5, 10_000: 5, 100_000: 12 } },
  "question, p50": { show: ms },
  "question, p95": { show: ms },
  "questions per second, 8 callers": { show: count, least: { 1_200: 180, 10_000: 150 } },
  "question, p50, 8 callers": { show: ms },
  "question, p95, 8 callers": { show: ms },
  "add, processor time": { show: ms },
  "add, p50": { show: ms },
  "add, p99": { show: ms },
  "adds per second, 8 callers": { show: count, least: { 1_200: 120, 10_000: 120, 100_000: 120 } },
  "first answer after the start": { show: seconds, most: { 10_000: 1_200 } },
  "resident after a start": { show: megabytes },
  "resident after 1 000 questions, 8 callers": { show: megabytes, most: { 1_200: 320, 1_000_000: 1_331 } },
  "written per byte": { show: ratio, most: { 1_200: 6, 10_000: 6, 100_000: 6 } },
} satisfies Record<
  string,
  {
    readonly show: (value: number) => string;
    readonly most?: Readonly<Record<number, number>>;
    readonly least?: Readonly<Record<number, number>>;
  }
>;
type Figures = Record<keyof typeof FIGURES, number>;

/**
 * A row for each figure of each size and a column for each model, goals in parentheses, misses bold: the real daemon over HTTP. Rows of
 * other sizes stay as they are.
 *
 * @param stores directories of stores, by size, that are filled already, with the default model; memories are added to them.
 */
export async function benchSizes(
  directory: string,
  known: string,
  sizes: readonly number[],
  stores: ReadonlyMap<number, string> = new Map(),
): Promise<string> {
  const rows = new Map<string, string[][]>();
  for (const [, size = "", cells = ""] of known.matchAll(/^\| (\d[\d ]*) \| (.*) \|$/gm))
    rows.set(size, [...(rows.get(size) ?? []), [size, ...cells.split(" | ")]]);
  const day = new Date().toISOString().slice(0, 10);
  for (const size of sizes) {
    const name = size.toLocaleString("en").replaceAll(",", " ");
    const store = stores.get(size);
    const columns: Figures[] = [];
    for (const model of store === undefined ? MODELS : [MEMORYD_E5]) {
      const path = store ?? join(directory, `${size}-${model.name}`);
      const filled =
        store === undefined
          ? await withNoteEmbedder(model, (embedder) =>
              fillStore({ directory: path, count: size, stamp: model.stamp, textOf: realNote, embedder }),
            )
          : { bytesWritten: Number.NaN, bytesOfRows: 1 };
      const written = filled.bytesWritten / filled.bytesOfRows;
      columns.push({ ...(await measure(path, model, size)), "written per byte": written });
    }
    const cellsOf = (what: keyof Figures) =>
      columns.map((figures, i) => shown(what, figures[what], i === 0 ? size : undefined));
    rows.set(
      name,
      (Object.keys(FIGURES) as (keyof Figures)[]).map((what) => [name, what, ...cellsOf(what), day]),
    );
  }
  const memoriesOf = (size: string) => Number(size.replaceAll(" ", ""));
  return table(
    ["memories", "figure", ...MODELS.map(({ name }) => `\`${name}\``), "measured on"],
    [...rows]
      .sort(([one], [other]) => memoriesOf(one) - memoriesOf(other))
      .flatMap(([, cells]) => cells)
      .map((cells) => (cells.length < 3 + MODELS.length ? cells.toSpliced(-1, 0, "–") : cells)),
  );
}

async function measure(
  path: string,
  model: EmbeddingModel,
  size: number,
): Promise<Omit<Figures, "written per byte">> {
  const embedder = await openEmbedder(model, { workers: 1 });
  const firsts: number[] = [];
  let daemon: DaemonUnderLoad | undefined;
  while (firsts.length < STARTS) {
    await daemon?.stop();
    daemon = await startDaemonUnderLoad(path, { MEMORYD_MODEL: model.name });
    const fresh = daemon;
    firsts.push(
      fresh.readyAfter + (await timed(() => fresh.post("/memory/query", { query: realQuestion(size) }))),
    );
  }
  if (daemon === undefined) throw new Error("started above");
  const asked = daemon;
  const { pid } = asked;
  const started = usageOf(pid).residentMegabytes;
  const ask = () => asked.post("/memory/query", { query: realQuestion(size) });
  const add = (turn: number) =>
    asked.post("/memory/add", { content: realNote(FIRST_ADDED + turn), user_id: "bench" });
  const cost = async (calls: number, run: () => Promise<unknown>) => {
    const before = usageOf(pid).cpuSeconds;
    await run();
    return ((usageOf(pid).cpuSeconds - before) * 1_000) / calls;
  };
  await timeCallers(ask, { callers: 1, calls: QUESTIONS });

  const [questions, embeddings]: [number[], number[]] = [[], []];
  let alone = { p50: Infinity, p95: Infinity };
  let together = { p50: Infinity, p95: Infinity, perSecond: 0 };
  // In turns, so that both meet the same load; of each figure the round that other work disturbed least.
  for (let round = 0; round < ROUNDS; round += 1) {
    questions.push(
      await cost(QUESTIONS, async () => {
        const timing = await timeCallers(ask, { callers: 1, calls: QUESTIONS });
        if (timing.p50 < alone.p50) alone = timing;
      }),
    );
    const before = usageOf("self").cpuSeconds;
    for (let i = 0; i < QUESTIONS; i += 1) await embedder.embedQuestion(realQuestion(size));
    embeddings.push(((usageOf("self").cpuSeconds - before) * 1_000) / QUESTIONS);
    const timing = await timeCallers(ask, { callers: CALLERS, calls: 1_000 / ROUNDS });
    if (timing.perSecond > together.perSecond) together = timing;
  }
  const resident = usageOf(pid).residentMegabytes;
  await embedder.close();

  let one = { p50: Infinity, p99: Infinity };
  const added = await cost(ADDS, async () => {
    one = await timeCallers((turn) => add(turn), { callers: 1, calls: ADDS });
  });
  const byEight = await timeCallers((turn) => add(ADDS + turn), { callers: CALLERS, calls: 2 * ADDS });
  await asked.stop();
  const [question, embedding] = [Math.min(...questions), Math.min(...embeddings)];
  return {
    "question, processor time": question,
    "of it the model": embedding,
    "of it all else": question - embedding,
    "question, p50": alone.p50,
    "question, p95": alone.p95,
    "questions per second, 8 callers": together.perSecond,
    "question, p50, 8 callers": together.p50,
    "question, p95, 8 callers": together.p95,
    "add, processor time": added,
    "add, p50": one.p50,
    "add, p99": one.p99,
    "adds per second, 8 callers": byEight.perSecond,
    "first answer after the start": Math.min(...firsts),
    "resident after a start": started,
    "resident after 1 000 questions, 8 callers": resident,
  };
}

/** @param size of a store whose figure has a goal; undefined where none has. */
function shown(what: keyof Figures, value: number, size: number | undefined): string {
  const figure: {
    show: (value: number) => string;
    most?: Record<number, number>;
    least?: Record<number, number>;
  } = FIGURES[what];
  const { show, most = {}, least = {} } = figure;
  if (Number.isNaN(value)) return "–";
  const [upper, lower] = size === undefined ? [] : [most[size], least[size]];
  const goal = upper ?? lower;
  if (goal === undefined) return show(value);
  const holds = value <= (upper ?? Infinity) && value >= (lower ?? 0);
  return `${holds ? show(value) : `**${show(value)}**`} (${upper === undefined ? "≥" : "≤"} ${show(goal)})`;
}
