/**
 * How much more than usual the tests with random or repeated trials do: `npm run test:stress` sets it, and
 * `MEMORYD_TEST_STRESS=50 npm run test:stress` sets it higher.
 */
const STRESS = Number(process.env["MEMORYD_TEST_STRESS"] ?? 1);
const MS_PER_MINUTE = 60_000;

/** Number of random runs, rounds or kills: `usual` without stress. */
export function times(usual: number): number {
  return Math.ceil(usual * STRESS);
}

/** Distance between the steps that are tried, at least 1: `usual` without stress. */
export function strideOf(usual: number): number {
  return Math.max(1, Math.round(usual / STRESS));
}

/** Time limit of a test, in ms. */
export function minutes(usual: number): number {
  return usual * MS_PER_MINUTE * STRESS;
}
