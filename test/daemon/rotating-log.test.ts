import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openRotatingLog } from "../../src/daemon/rotating-log.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "memoryd-log-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("sets a log aside at its size, keeps so many, and loses no line of those", () => {
  const path = join(folder, "new", "memoryd.log");
  const log = openRotatingLog(path, { maxBytes: 10, kept: 2 });
  for (const line of ["1111\n", "2222\n", "3333\n", "4444\n", "5555\n", "6666\n", "7777\n"]) log.write(line);
  log.close();
  const texts = [path, `${path}.1`, `${path}.2`].map((file) => readFileSync(file, "utf8"));
  expect(texts).toEqual(["7777\n", "5555\n6666\n", "3333\n4444\n"]);
  expect(existsSync(`${path}.3`)).toBe(false);
});

it("goes on where the log before ended, and takes a line longer than a log", () => {
  const path = join(folder, "memoryd.log");
  writeFileSync(path, "12345678\n");
  const log = openRotatingLog(path, { maxBytes: 10, kept: 1 });
  log.write("a long line of its own\n");
  log.write("x\n");
  log.close();
  expect(readFileSync(path, "utf8")).toBe("x\n");
  expect(readFileSync(`${path}.1`, "utf8")).toBe("a long line of its own\n");
});
