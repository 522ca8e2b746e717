import {
  appendFileSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type LogTail, openLogTail } from "../../src/cli/log-tail.ts";
import { logFileOf, openRotatingLog } from "../../src/rotating-log.ts";

let folder: string;
let tail: LogTail | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "memoryd-tail-"));
});
afterEach(() => {
  tail?.close();
  rmSync(folder, { recursive: true, force: true });
});

const open = () => (tail = openLogTail(() => folder));
const news = (from: LogTail) => Buffer.concat([...from.news()]).toString("utf8");

it("reads what is written after it was opened, once", () => {
  writeFileSync(logFileOf(folder), "before\n");
  const log = open();
  expect(log.begunAt).toBe(7);
  expect(news(log)).toBe("");
  appendFileSync(logFileOf(folder), "one\n");
  appendFileSync(logFileOf(folder), "two\n");
  expect(news(log)).toBe("one\ntwo\n");
  expect(news(log)).toBe("");
});

it("waits for a log that is not there yet", () => {
  const log = open();
  expect(log.begunAt).toBe(0);
  expect(news(log)).toBe("");
  writeFileSync(logFileOf(folder), "first\n");
  expect(news(log)).toBe("first\n");
});

it.each([1, 2, 3])("loses no line when the log is set aside %i times between two looks", (times) => {
  const sink = openRotatingLog(logFileOf(folder), { maxBytes: 10 });
  sink.write("before\n");
  const log = open();
  const lines = Array.from({ length: times + 1 }, (_, index) => `line ${index} \n`);
  for (const line of lines) sink.write(line);
  expect(news(log)).toBe(lines.join(""));
  sink.write("and on\n");
  expect(news(log)).toBe("and on\n");
  sink.close();
});

it("has what is left when more was set aside than is kept", () => {
  const sink = openRotatingLog(logFileOf(folder), { maxBytes: 10, kept: 3 });
  sink.write("before\n");
  const log = open();
  for (let index = 0; index < 9; index += 1) sink.write(`line ${index} \n`);
  sink.close();
  expect(news(log)).toBe("line 5 \nline 6 \nline 7 \nline 8 \n");
});

it("begins anew in a log that was emptied", () => {
  writeFileSync(logFileOf(folder), "a longer line from before\n");
  const log = open();
  truncateSync(logFileOf(folder));
  expect(news(log)).toBe("");
  appendFileSync(logFileOf(folder), "new\n");
  expect(news(log)).toBe("new\n");
});

it("goes on when the log was removed and made anew", () => {
  writeFileSync(logFileOf(folder), "before\n");
  const log = open();
  rmSync(logFileOf(folder));
  expect(news(log)).toBe("");
  writeFileSync(logFileOf(folder), "after\n");
  expect(news(log)).toBe("after\n");
});

it.each([
  ["linked", linkSync],
  ["copied", copyFileSync],
])("goes on where it was when the data was moved, its files %s", (_, bring) => {
  let place = join(folder, "old");
  const move = (to: string) => {
    mkdirSync(to);
    for (const name of readdirSync(place)) bring(join(place, name), join(to, name));
    rmSync(place, { recursive: true });
    place = to;
  };
  const write = (line: string) => {
    const sink = openRotatingLog(logFileOf(place), { maxBytes: 10 });
    sink.write(line);
    sink.close();
  };
  for (const line of ["oldest  \n", "before\n"]) write(line);
  const log = (tail = openLogTail(() => place));
  expect(log.begunAt).toBe(7);
  move(join(folder, "new"));
  expect(news(log)).toBe("");
  appendFileSync(logFileOf(place), "on\n");
  expect(news(log)).toBe("on\n");

  // Set aside just before the move, and again after it.
  write("second  \n");
  move(join(folder, "newer"));
  write("third   \n");
  expect(news(log)).toBe("second  \nthird   \n");
  write("fourth  \n");
  expect(news(log)).toBe("fourth  \n");
});
