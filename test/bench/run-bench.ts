/**
 * `npm run bench`: the table of goals at 1 200, 10 000 and 100 000 memories; with `--million` at a million, too, which takes half an
 * hour to fill, and with `--million --store DIR` at the million of a filled store alone, to which memories are added; `sizes 1200 10000`
 * measures these sizes alone. Names (`facts`, `users`, `flames`, `purge`, `backup`, `postgres`, `models`, `--soak [THOUSANDS]` of requests)
 * run these parts instead. Tables are printed and replace what stands between the markers of their name: those of sizes, soak and postgres
 * in docs/benchmarks.md, others in results.md. Nothing is asserted: figures are for reading.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { benchBackup } from "./backup.ts";
import { benchFacts } from "./facts.ts";
import { benchFlames } from "./flames.ts";
import { benchLarge } from "./large.ts";
import { benchLance } from "./lance.ts";
import { machine, type Part } from "./measure.ts";
import { benchModels } from "./models.ts";
import { benchPostgres } from "./postgres.ts";
import { benchPurge } from "./purge.ts";
import { benchSizes } from "./sizes.ts";
import { benchSoak } from "./soak.ts";
import { benchUsers } from "./users.ts";

const given = process.argv.slice(2);
const at = given.indexOf("--store");
const [, store] = at === -1 ? [] : given.splice(at, 2);
const words = given.map((word) => word.replace(/^--/, ""));
const numbers = [...new Set(words.filter((word) => /^\d+$/.test(word)).map(Number))];
const [thousands = 1_000] = numbers;
const MILLION = 1_000_000;
const sizes = [
  ...(store === undefined ? [1_200, 10_000, 100_000] : []),
  ...(words.includes("million") ? [MILLION] : []),
];
const stores = new Map(store === undefined ? [] : [[MILLION, resolve(store)]]);

const PARTS: Readonly<Record<string, Part>> = {
  sizes: (directory, known) => benchSizes(directory, known, numbers.length > 0 ? numbers : sizes, stores),
  soak: (directory) => benchSoak(directory, thousands * 1_000),
  flames: (directory, known) => benchFlames(directory, known, sizes, stores),
  facts: benchFacts,
  users: benchUsers,
  purge: benchPurge,
  backup: benchBackup,
  postgres: benchPostgres,
  models: benchModels,
  large: (directory) => benchLarge(store ?? directory, store !== undefined),
  lance: (directory, known) =>
    benchLance(store ?? directory, known, words.includes("million") ? MILLION : 200_000),
};
const RESULTS = join(import.meta.dirname, "results.md");
const BENCHMARKS = join(import.meta.dirname, "../../docs/benchmarks.md");

const named = words.filter((word) => word !== "million" && !/^\d+$/.test(word));
for (const name of named.length > 0 ? named : ["sizes"]) {
  const part = PARTS[name];
  if (part === undefined) throw new Error(`no part ${name}; there are ${Object.keys(PARTS).join(", ")}`);
  const file = ["sizes", "soak", "postgres"].includes(name) ? BENCHMARKS : RESULTS;
  const [begin, end] = [`<!-- bench ${name} -->\n`, `<!-- end of ${name} -->`];
  const page = readFileSync(file, "utf8");
  const [from, to] = [page.indexOf(begin) + begin.length, page.indexOf(end)];
  if (from < begin.length || to < from) throw new Error(`${file} has no markers of ${name}`);
  const directory = mkdtempSync(join(tmpdir(), "memoryd-bench-"));
  try {
    const table = await part(directory, page.slice(from, to));
    const day = new Date().toISOString().slice(0, 10);
    const text = `\n${table}\n\n${day}, ${machine()}\n\n`;
    process.stdout.write(text);
    writeFileSync(file, page.slice(0, from) + text + page.slice(to));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
