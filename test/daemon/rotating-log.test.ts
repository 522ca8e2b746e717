import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openRotatingLog, readLogEnd } from "../../src/daemon/rotating-log.ts";

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

const line = (level: number, msg: string) =>
  `${JSON.stringify({ level, time: "2026-11-22T10:00:00.000Z", port: 1, msg })}\n`;
const messages = ({ items }: Awaited<ReturnType<typeof readLogEnd>>) => items.map(({ message }) => message);

it("reads the last lines of a level and above, over the logs that were set aside", async () => {
  const path = join(folder, "memoryd.log");
  writeFileSync(`${path}.2`, line(50, "oldest"));
  writeFileSync(`${path}.1`, line(20, "quiet") + line(60, "fatal"));
  writeFileSync(path, `${line(30, "ready")}${line(40, "warned")}not of ours\n{"level":30,"ti`);
  const all = await readLogEnd(path, { l: 10, level: "debug" });
  expect(messages(all)).toEqual([
    "oldest",
    "quiet",
    "fatal",
    "ready",
    "warned",
    "not of ours",
    '{"level":30,"ti',
  ]);
  expect(all).toMatchObject({ file: path, hasMore: false });
  expect(all.items[3]).toEqual({
    at: Date.UTC(2026, 10, 22, 10),
    level: "info",
    message: "ready",
    details: { port: 1 },
  });
  expect(all.items[5]).toEqual({ at: null, level: null, message: "not of ours", details: {} });
  const some = await readLogEnd(path, { l: 4, level: "warn" });
  expect(messages(some)).toEqual(["fatal", "warned", "not of ours", '{"level":30,"ti']);
  expect(some.hasMore).toBe(true);
  expect(messages(await readLogEnd(path, { l: 9, level: "error" }))).toContain("oldest");
});

it("reads a bounded part of a long log, and none where there is no file", async () => {
  const path = join(folder, "memoryd.log");
  writeFileSync(path, line(30, "a") + line(30, "ü".repeat(50)) + line(30, "b"));
  const bytes = line(30, "b").length;
  for (const maxBytes of [bytes, bytes + 1, bytes + 60])
    expect(await readLogEnd(path, { l: 9, level: "debug", maxBytes })).toMatchObject({ hasMore: true });
  expect(messages(await readLogEnd(path, { l: 9, level: "debug", maxBytes: bytes + 60 }))).toEqual(["b"]);
  expect(await readLogEnd(join(folder, "none.log"), { l: 9, level: "debug" })).toMatchObject({
    items: [],
    hasMore: false,
  });
  expect((await readLogEnd(undefined, { l: 9, level: "debug" })).file).toBeNull();
});
