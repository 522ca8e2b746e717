// Tells of everything that failed, then prints "N passed, N failed", and exits with 1 if anything failed. The folder
// it is given holds the JSON report of each suite (NAME.json) and what each failed check or suite printed (NAME.log).
import { readdirSync, readFileSync } from "node:fs";
import { basename, join, relative } from "node:path";

/** How much of a failure is shown: enough to see what was expected, short enough for many. */
const SHOWN_LINES = 25;

const folder = process.argv[2];
const namesWith = (ending) =>
  readdirSync(folder).flatMap((file) => (file.endsWith(ending) ? [basename(file, ending)] : []));

/** The failures of a suite: its failed tests, and its files that could not be loaded, which have no tests to fail. */
function failuresOf(report) {
  return report.testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(process.cwd(), name);
    const tests = assertionResults.filter((test) => test.status === "failed");
    if (tests.length === 0 && status === "failed") return [{ title: file, text: message }];
    return tests.map((test) => ({
      title: `${file} > ${test.fullName}`,
      text: test.failureMessages.join("\n"),
    }));
  });
}

/** Tests that were left out; on a machine with all tools there are none. */
function skippedIn(report) {
  const isSkipped = ({ status }) => status === "pending" || status === "skipped";
  return report.testResults.flatMap(({ assertionResults }) => assertionResults.filter(isSkipped));
}

let passed = 0;
const skipped = [];
const failures = [];
for (const name of namesWith(".json")) {
  const report = JSON.parse(readFileSync(join(folder, `${name}.json`), "utf8"));
  passed += report.numPassedTests;
  skipped.push(...skippedIn(report));
  const lines = (text) => text.split("\n").slice(0, SHOWN_LINES);
  for (const { title, text } of failuresOf(report)) failures.push({ suite: name, title, lines: lines(text) });
}
for (const name of namesWith(".log")) {
  if (failures.some(({ suite }) => suite === name)) continue;
  const printed = readFileSync(join(folder, `${name}.log`), "utf8")
    .trimEnd()
    .split("\n");
  failures.push({ suite: name, title: "", lines: printed.slice(-SHOWN_LINES) });
}

for (const { suite, title, lines } of failures) {
  console.log(`\n=== FAILED ${suite} ${title}`.trimEnd());
  for (const line of lines) console.log(`  ${line}`);
}
for (const { fullName } of skipped) console.log(`=== skipped ${fullName}`);
console.log(`\n${passed} passed, ${failures.length} failed`);
process.exitCode = failures.length === 0 ? 0 : 1;
