// Prints "N passed, N failed" over the JSON reports of vitest in a folder, and exits with 1 if anything failed.
// The second argument is how many checks failed; those whose failed tests are in a report are not counted twice.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const [folder, failedChecks] = process.argv.slice(2);
let passed = 0;
let failed = 0;
let explainedChecks = 0;
for (const name of readdirSync(folder)) {
  const report = JSON.parse(readFileSync(join(folder, name), "utf8"));
  // A file that cannot be loaded has no tests to fail.
  const brokenFiles = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === "failed" && !assertionResults.some((test) => test.status === "failed"),
  ).length;
  const failedHere = report.numFailedTests + brokenFiles;
  passed += report.numPassedTests;
  failed += failedHere;
  if (failedHere > 0) explainedChecks += 1;
}
failed += Math.max(0, Number(failedChecks) - explainedChecks);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
