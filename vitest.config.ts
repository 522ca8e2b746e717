import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { ONNX_ENVIRONMENT } from "./src/models/bundled-models.ts";

/** One project a kind of test: `npm test` runs the fast ones, the others have scripts of their own. */
const slow = { testTimeout: 600_000, hookTimeout: 120_000, pool: "forks" } as const;
/** Kinds that measure: each file has the machine for itself. */
const alone = { ...slow, fileParallelism: false } as const;
/** By default one core stays idle, which is half of a machine of two. */
const ALL_CORES = "100%";
/** As few stores are opened in a thread of their own as in a process: `test/e2e` has those. */
const IN_THIS_THREAD = ["test/support/tables-in-this-thread.ts", "test/support/random-cases.ts"];
/** For files that wait for daemons and disks half of the time. */
const WAITING = availableParallelism() + 2;
/** Files that take longest, of all projects: one that begins last would run alone at the end. */
const LONGEST =
  /\/(regular-expressions|salvage|failing-disk.*|damage|upgrade|watched-folders|transcription|packaging|compaction|media-decoding)\.test\.ts$/;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => (LONGEST.test(moduleId) ? 0 : 1);
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b));
  }
}
/** Bytes; about a tenth of them is used at once. */
const ROOM_FOR_STORES = 4e8;
const MEMORY_DISK = "/dev/shm";
/**
 * Stores lie in memory where there is room: they are copied, synced and removed thousands of times, which takes a file
 * system of a real disk up to half of the processor time. `test:e2e` and `test:stress` have them on the real disk.
 */
function stores(): Record<string, string> {
  if (!existsSync(MEMORY_DISK)) return {};
  const { bavail, bsize } = statfsSync(MEMORY_DISK);
  if (bavail * bsize < ROOM_FOR_STORES) return {};
  const folder = mkdtempSync(join(MEMORY_DISK, "memoryd-"));
  // What tests leave would take memory until the machine starts again.
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return { TMPDIR: folder, MEMORYD_TEST_DISK: tmpdir() };
}
const STORES_IN_MEMORY = stores();
/** Files whose runs, rounds and kills `test:stress` multiplies. */
const stressed = readdirSync("test", { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.ts"))
  .map((file) => join("test", file))
  .filter((file) => /\/support\/stress\.ts|"fast-check"/.test(readFileSync(file, "utf8")));

/** Where `.ci/run` wants the results as JSON, beside what is printed. */
const report = process.env["MEMORYD_TEST_REPORT"];

export default defineConfig({
  test: {
    // Some tests load ONNX Runtime themselves.
    env: ONNX_ENVIRONMENT,
    sequence: { sequencer: LongestFirst },
    // As for whole tests: the machine may be busy.
    expect: { poll: { timeout: 30_000 } },
    // Of every project: those of a project are added.
    setupFiles: "test/support/languages.ts",
    reporters: report === undefined ? ["default"] : ["default", ["json", { outputFile: report }]],
    // `extends` gives a project all of the above.
    projects: [
      {
        extends: true,
        test: {
          name: "fast",
          // Commands that run in the test's process read no configuration file of whoever runs the tests.
          env: { ...ONNX_ENVIRONMENT, ...STORES_IN_MEMORY, XDG_CONFIG_HOME: "/nonexistent" },
          include: ["test/**/*.test.ts"],
          exclude: ["test/e2e/**", "test/survival/**", "test/bench/**", "test/eval/**"],
          setupFiles: IN_THIS_THREAD,
          pool: "forks",
          maxWorkers: ALL_CORES,
          // One process per core loads modules and models once; no test of this project replaces a module.
          isolate: false,
          // Some start a dozen processes, one after the other, and the machine may be busy.
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: "survival",
          include: ["test/survival/**/*.test.ts"],
          setupFiles: IN_THIS_THREAD,
          env: { ...ONNX_ENVIRONMENT, ...STORES_IN_MEMORY },
          ...slow,
          maxWorkers: WAITING,
        },
      },
      {
        extends: true,
        test: { name: "e2e", include: ["test/e2e/**/*.test.ts"], ...slow, maxWorkers: WAITING },
      },
      {
        extends: true,
        test: {
          name: "stress",
          include: stressed,
          setupFiles: IN_THIS_THREAD,
          ...slow,
          testTimeout: 0,
          maxWorkers: ALL_CORES,
          env: { MEMORYD_TEST_STRESS: process.env["MEMORYD_TEST_STRESS"] ?? "10" },
        },
      },
      { extends: true, test: { name: "eval", include: ["test/eval/**/*.eval.ts"], ...alone } },
    ],
  },
});
