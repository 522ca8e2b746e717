import { defineConfig } from "vitest/config";
import { ONNX_ENVIRONMENT } from "./src/models/onnx-environment.ts";

/** One project a kind of test: `npm test` runs the fast ones, the others have scripts of their own. */
const slow = { testTimeout: 600_000, hookTimeout: 120_000, fileParallelism: false, pool: "forks" } as const;

/** Where `.ci/run` wants the results as JSON, beside what is printed. */
const report = process.env["MEMORYD_TEST_REPORT"];

export default defineConfig({
  test: {
    // Some tests load ONNX Runtime themselves.
    env: ONNX_ENVIRONMENT,
    reporters: report === undefined ? ["default"] : ["default", ["json", { outputFile: report }]],
    projects: [
      {
        test: {
          name: "fast",
          include: ["test/**/*.test.ts"],
          exclude: ["test/e2e/**", "test/bench/**", "test/eval/**"],
          pool: "forks",
          // Some start a dozen processes, one after the other, and the machine may be busy.
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      { test: { name: "e2e", include: ["test/e2e/**/*.test.ts"], ...slow } },
      { test: { name: "eval", include: ["test/eval/**/*.eval.ts"], ...slow } },
      { test: { name: "bench", include: ["test/bench/**/*.bench.ts"], ...slow } },
    ],
  },
});
