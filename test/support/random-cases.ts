/**
 * Properties are tried with the same random cases in every run, so that a run fails for what was changed;
 * `npm run test:stress` draws new ones, and more of them.
 */
import fc from "fast-check";
import { times } from "./stress.ts";

const isStress = process.env["MEMORYD_TEST_STRESS"] !== undefined;
fc.configureGlobal(isStress ? { numRuns: times(100) } : { seed: 20_261_122 });
