/**
 * LanceDB's vector indexes as the first stage of a question: 250 candidates, which the core would score exactly. Each step runs
 * in a process of its own, for its memory, and leaves its figures in the directory: a later run on it does the other steps.
 */
import { fork } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect, Index, Session, type VectorQuery } from "@lancedb/lancedb";
import { EMBEDDING_DIMENSIONS as DIMENSIONS } from "../../src/core/embedding.ts";
import { fillRows } from "./lance-rows.ts";
import { megabytes, ms, seconds, table as markdown, timed, timingOf, usageOf } from "./measure.ts";

const QUESTIONS = 50;
const CANDIDATES = 250;
const BEST = 10;
const INDEX_CACHE_BYTES = 4n * 1024n ** 3n;
const METADATA_CACHE_BYTES = 64n * 1024n ** 2n;

/** A user has every hundredth memory, an owner those on a hundredth of the subjects. */
const FILTERS: Readonly<Record<string, (question: number, count: number) => string | undefined>> = {
  "no filter": () => undefined,
  "user, 1 %": (question) => `user = 'user${question}'`,
  "user of few subjects, 1 %": (question) => `owner = 'user${(question * 37) % 100}'`,
  "tag, 1 ‰": () => "array_has(tags, 'rare')",
  "time, 10 %": (question, count) => {
    const from = ((question % 10) * count) / 10;
    return `time >= ${from} AND time < ${from + count / 10}`;
  },
};

type Setting = (query: VectorQuery) => VectorQuery;
/**
 * The same number with a filter as without. With `minimumNprobes` and no maximum LanceDB 0.39 compares all rows whenever there is a
 * filter, as `analyzePlan` says, which is what "all partitions" measures.
 */
const probes =
  (partitions: number, refine?: number): Setting =>
  (query) => {
    const probed = query.nprobes(partitions);
    return refine === undefined ? probed : probed.refineFactor(refine);
  };
const beam =
  (ef: number): Setting =>
  (query) =>
    query.nprobes(100).ef(ef);
/** A quarter of the default sample and fewer rounds: training takes most of a build. */
const ivf = (count: number) =>
  ({
    distanceType: "cosine",
    numPartitions: Math.round(Math.sqrt(count)),
    sampleRate: 64,
    maxIterations: 20,
  }) as const;
const ALL = { "all partitions": probes(10_000) };
const coded = { "50 probes": probes(50), "150 probes": probes(150), "150, refine 4": probes(150, 4), ...ALL };

interface Kind {
  index(count: number): Index;
  readonly settings: Readonly<Record<string, Setting>>;
  /** More rows take it too long to build, or have an index of gigabytes. */
  readonly upTo?: number;
}

const KINDS: Readonly<Record<string, Kind>> = {
  IVF_FLAT: {
    index: (count) => Index.ivfFlat(ivf(count)),
    settings: { "50 probes": probes(50), "150 probes": probes(150), ...ALL },
    upTo: 200_000,
  },
  IVF_PQ: {
    index: (count) => Index.ivfPq({ ...ivf(count), numSubVectors: 96 }),
    settings: coded,
    upTo: 200_000,
  },
  "IVF_RQ 1 bit": { index: (count) => Index.ivfRq({ ...ivf(count), numBits: 1 }), settings: coded },
  "IVF_RQ 4 bits": { index: (count) => Index.ivfRq({ ...ivf(count), numBits: 4 }), settings: coded },
  IVF_HNSW_SQ: {
    index: (count) =>
      Index.hnswSq({
        distanceType: "cosine",
        numPartitions: Math.ceil(count / 250_000),
        efConstruction: 150,
      }),
    settings: { "ef 375": beam(375), "ef 1000": beam(1_000) },
    upTo: 200_000,
  },
};

interface Asked {
  readonly setting: string;
  readonly filter: string;
  readonly p50: number;
  readonly p95: number;
  /** Processor time of a question, ms. */
  readonly cpu: number;
  /** The best by question. */
  readonly found: readonly (readonly number[])[];
}
interface Figures {
  readonly asked?: readonly Asked[];
  readonly numbers: Readonly<Record<string, number>>;
}

interface World {
  readonly directory: string;
  readonly count: number;
}

/** Figures of a step, which runs in a process of its own where the directory has none. */
async function figuresOf(world: World, step: string): Promise<Figures> {
  const file = join(world.directory, `${step}.json`);
  if (!existsSync(file)) {
    const child = fork(import.meta.filename, [JSON.stringify({ ...world, step })], {
      execArgv: ["--import", "jiti/register"],
    });
    const code = await new Promise<number | null>((done) => child.on("exit", (exit) => done(exit)));
    if (code !== 0) throw new Error(`${step} ended with ${code}`);
  }
  return JSON.parse(readFileSync(file, "utf8")) as Figures;
}

/** @param known rows of other sizes in it stay. */
export async function benchLance(directory: string, known: string, count: number): Promise<string> {
  const world = { directory, count };
  await figuresOf(world, "fill");
  const exact = (await figuresOf(world, "exact")).asked ?? [];
  const rows = [rowOf(count, "none, all rows compared", exact, exact, [])];
  for (const [kind, { settings, upTo = Infinity }] of Object.entries(KINDS)) {
    if (count > upTo) continue;
    // Another kind's index may have taken its place since.
    const isWhole = ["ask", "grow"].every((what) => existsSync(join(directory, `${what} ${kind}.json`)));
    if (!isWhole) rmSync(join(directory, `build ${kind}.json`), { force: true });
    const { numbers: built } = await figuresOf(world, `build ${kind}`);
    const { asked = [], numbers: used } = await figuresOf(world, `ask ${kind}`);
    const { numbers: grown } = await figuresOf(world, `grow ${kind}`);
    const costs = [
      `${seconds(built["cpu"] ?? 0)}, ${megabytes(built["bytes"] ?? 0)}`,
      `+ ${megabytes(used["resident"] ?? 0)}`,
      `${ms(grown["before"] ?? 0)}, ${ms(grown["unindexed"] ?? 0)}, ${ms(grown["after"] ?? 0)}`,
      `${seconds(grown["cpu"] ?? 0)}, ${megabytes(grown["written"] ?? 0)}`,
    ];
    Object.keys(settings).forEach((setting, i) => {
      const of = asked.filter((one) => one.setting === setting);
      rows.push(rowOf(count, `${kind}, ${setting}`, of, exact, i === 0 ? costs : []));
    });
  }
  const others = [...known.matchAll(/^\| (\d+) \| (.*) \|$/gm)].filter(([, size]) => Number(size) !== count);
  const all = [...others.map(([, size = "", rest = ""]) => [size, ...rest.split(" | ")]), ...rows];
  const costs = ["build", "resident", "1 % more rows: p50 before, not indexed, indexed", "indexing them"];
  return markdown(["rows", "index", ...Object.keys(FILTERS), ...costs], all);
}

function rowOf(
  count: number,
  name: string,
  asked: readonly Asked[],
  exact: readonly Asked[],
  costs: readonly string[],
) {
  const cells = Object.keys(FILTERS).map((filter) => {
    const [one, truth] = [asked, exact].map((list) => list.find((other) => other.filter === filter));
    if (one === undefined || truth === undefined) return "–";
    const recalls = truth.found.map((best, question) => {
      const candidates = new Set(one.found[question]);
      return best.slice(0, BEST).filter((row) => candidates.has(row)).length / Math.min(BEST, best.length);
    });
    const recall = recalls.reduce((sum, share) => sum + share, 0) / recalls.length;
    return `${recall.toFixed(3)}; ${ms(one.p50)}, ${ms(one.p95)}; ${ms(one.cpu)}`;
  });
  return [String(count), name, ...cells, ...Array.from({ length: 4 }, (_, i) => costs[i] ?? "")];
}

async function runStep({ directory, count, step }: World & { readonly step: string }): Promise<Figures> {
  const session = new Session(INDEX_CACHE_BYTES, METADATA_CACHE_BYTES);
  const connection = await connect(join(directory, "tables"), { session });
  const [what = "", kindName = ""] = step.split(/ (.*)/);
  if (what === "fill") {
    const questions = await fillRows(connection, count, QUESTIONS);
    writeFileSync(
      join(directory, "questions"),
      Buffer.concat(questions.map((one) => new Uint8Array(one.buffer))),
    );
    return { numbers: {} };
  }
  const table = await connection.openTable("rows");
  const floats = new Float32Array(new Uint8Array(readFileSync(join(directory, "questions"))).buffer);
  const questions = Array.from({ length: QUESTIONS }, (_, i) =>
    floats.slice(i * DIMENSIONS, (i + 1) * DIMENSIONS),
  );
  const ask = async (setting: Setting, filter: string): Promise<Omit<Asked, "setting">> => {
    const [times, found]: [number[], number[][]] = [[], []];
    const { cpuSeconds } = usageOf("self");
    for (const [i, question] of questions.entries()) {
      const where = FILTERS[filter]?.(i, count);
      const query = setting(table.query().nearestTo(question).distanceType("cosine"));
      if (where !== undefined) query.where(where);
      let rows: number[] = [];
      const took = async () => {
        const answer = await query.select(["n", "_distance"]).limit(CANDIDATES).toArrow();
        rows = Array.from(answer.getChild("n")?.toArray() as Int32Array);
      };
      times.push(await timed(took));
      found.push(rows);
    }
    const { p50, p95 } = timingOf(times);
    const cpu = ((usageOf("self").cpuSeconds - cpuSeconds) * 1_000) / questions.length;
    return { filter, p50, p95, cpu, found };
  };
  const before = usageOf("self");
  const bytes = () => bytesBelow(join(directory, "tables"));
  const spent = () => ({ cpu: (usageOf("self").cpuSeconds - before.cpuSeconds) * 1_000 });
  const all = Object.keys(FILTERS);
  if (what === "exact") {
    const asked: Asked[] = [];
    for (const filter of all)
      asked.push({ setting: "", ...(await ask((query) => query.bypassVectorIndex(), filter)) });
    return { asked, numbers: {} };
  }
  const kind = KINDS[kindName];
  if (kind === undefined) throw new Error(`no step ${step}`);
  const [first] = Object.values(kind.settings);
  if (what === "build") {
    const bytesBefore = bytes();
    const elapsed = await timed(() =>
      table.createIndex("vector", { config: kind.index(count), replace: true }),
    );
    return { numbers: { ...spent(), elapsed, bytes: (bytes() - bytesBefore) / 1e6 } };
  }
  if (what === "ask") {
    const asked: Asked[] = [];
    for (const [setting, of] of Object.entries(kind.settings))
      for (const filter of all) {
        // Caches are filled by the first round.
        if (of === first) await ask(of, filter);
        asked.push({ setting, ...(await ask(of, filter)) });
      }
    return { asked, numbers: { resident: usageOf("self").residentMegabytes - before.residentMegabytes } };
  }
  if (what !== "grow" || first === undefined) throw new Error(`no step ${step}`);
  const median = async () => (await ask(first, "no filter")) && (await ask(first, "no filter")).p50;
  const version = await table.version();
  const atFirst = await median();
  await table.add(
    await table
      .query()
      .limit(count / 100)
      .toArrow(),
  );
  const unindexed = await median();
  const since = usageOf("self");
  await table.optimize({ cleanupOlderThan: new Date(0) });
  const now = usageOf("self");
  const numbers = {
    before: atFirst,
    unindexed,
    cpu: (now.cpuSeconds - since.cpuSeconds) * 1_000,
    written: (now.bytesWritten - since.bytesWritten) / 1e6,
    after: await median(),
  };
  await table.checkout(version);
  await table.restore();
  return { numbers };
}

function bytesBelow(directory: string): number {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

if (process.argv[1] === import.meta.filename) {
  const given = JSON.parse(process.argv[2] ?? "") as World & { readonly step: string };
  const figures = await runStep(given);
  writeFileSync(join(given.directory, `${given.step}.json`), JSON.stringify(figures));
}
