import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { Profiler } from "node:inspector";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { MINILM } from "../../src/models/bundled-models.ts";
import { fillStore } from "../support/fill-store.ts";
import { startDaemonUnderLoad } from "./daemon-under-load.ts";
import { ms, newQuestion, table } from "./measure.ts";

const WARMING = 150;
const QUESTIONS = 400;
const PICTURES = join(import.meta.dirname, "flames");
/** What V8 names frames that are no functions. */
const IDLE = "(idle)";
const NO_WORK = new Set([IDLE, "(root)"]);

interface Frame {
  readonly name: string;
  /** The file below `dist`, or empty for Node's and V8's own. */
  readonly file: string;
  /** Milliseconds with what it calls. */
  total: number;
  readonly callees: Map<string, Frame>;
}

/**
 * A flame graph of the main thread for each size, written to `flames/`: one caller asks, after questions that warm it. Rows of other sizes
 * stay as they are.
 */
export async function benchFlames(
  directory: string,
  known: string,
  sizes: readonly number[],
  stores: ReadonlyMap<number, string>,
): Promise<string> {
  mkdirSync(PICTURES, { recursive: true });
  const rows = new Map<number, string[]>();
  for (const [, size, cells = ""] of known.matchAll(/^\| (?=\[(\d+)\])(.*) \|$/gm))
    rows.set(Number(size), cells.split(" | "));
  for (const size of sizes) {
    const path = stores.get(size) ?? join(directory, String(size));
    if (!stores.has(size)) await fillStore({ directory: path, count: size, stamp: MINILM.stamp });
    const root = await profileOf(path, join(directory, `${size}.cpuprofile`));
    const title = `${size} memories, main thread, ${ms(root.total / QUESTIONS)} a question`;
    writeFileSync(join(PICTURES, `${size}.svg`), drawn(root, title));
    const rooms = [...ownTimes(root)].sort(([, a], [, b]) => b - a).slice(0, 8);
    rows.set(size, [
      `[${size}](flames/${size}.svg)`,
      ms(root.total / QUESTIONS),
      rooms.map(([room, own]) => `${room} ${((100 * own) / root.total).toFixed(0)} %`).join(", "),
    ]);
  }
  return table(
    ["memories", "main thread, a question", "of that, itself"],
    [...rows].sort(([a], [b]) => a - b).map(([, row]) => row),
  );
}

async function profileOf(path: string, file: string): Promise<Frame> {
  const daemon = await startDaemonUnderLoad(path, { MEMORYD_BENCH_PROFILE: file }, "cpu-profile.mjs");
  const ask = async (times: number) => {
    for (let i = 0; i < times; i += 1) await daemon.post("/memory/query", { query: newQuestion() });
  };
  await ask(WARMING);
  process.kill(daemon.pid, "SIGUSR2");
  await sleep(200);
  await ask(QUESTIONS);
  process.kill(daemon.pid, "SIGUSR2");
  for (;;) {
    try {
      const root = treeOf(JSON.parse(readFileSync(file, "utf8")) as Profiler.Profile);
      await daemon.stop();
      return root;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      await sleep(50);
    }
  }
}

/** Calls of one function from one place are one frame, wherever in it they stand. */
function treeOf({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): Frame {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const root: Frame = { name: "all", file: "", total: 0, callees: new Map() };
  for (const [i, sampled] of samples.entries()) {
    const stack: Profiler.ProfileNode["callFrame"][] = [];
    for (let id: number | undefined = sampled; id !== undefined; id = parents.get(id)) {
      const frame = byId.get(id)?.callFrame;
      if (frame !== undefined && !NO_WORK.has(frame.functionName)) stack.unshift(frame);
    }
    const took = (timeDeltas[i] ?? 0) / 1_000;
    if (stack.length === 0) continue;
    let frame = root;
    frame.total += took;
    for (const { functionName, url, lineNumber } of stack) {
      const file = fileAt(url, lineNumber);
      const key = `${functionName} ${url} ${file}`;
      let callee = frame.callees.get(key);
      if (callee === undefined)
        frame.callees.set(
          key,
          (callee = { name: functionName || "(anonymous)", file, total: 0, callees: new Map() }),
        );
      callee.total += took;
      frame = callee;
    }
  }
  return root;
}

const known = new Map<string, string>();

const linesByUrl = new Map<string, readonly string[]>();

function linesOf(url: string): readonly string[] {
  const lines = linesByUrl.get(url) ?? readFileSync(new URL(url), "utf8").split("\n");
  linesByUrl.set(url, lines);
  return lines;
}

/** The file below `dist` that a line comes from, which the build names above; empty for those of packages and of Node. */
function fileAt(url: string, line: number): string {
  const place = `${url} ${line}`;
  let file = known.get(place);
  if (file === undefined) {
    const path = /\/dist\/(.+)\.js$/.exec(url)?.[1] ?? "";
    const lines = path.startsWith("program/") ? linesOf(url) : [`// dist/${path}.js`];
    const above = lines.slice(0, line + 1).findLast((each) => /^\/\/ (?:dist|node_modules)\//.test(each));
    file = /^\/\/ dist\/(.*)\.js$/.exec(above ?? "")?.[1] ?? "";
    known.set(place, file);
  }
  return file;
}

/** Milliseconds that rooms of `src`, Node and V8 took themselves. */
function ownTimes(root: Frame): Map<string, number> {
  const times = new Map<string, number>();
  const visit = (frame: Frame) => {
    let own = frame.total;
    for (const callee of frame.callees.values()) {
      own -= callee.total;
      visit(callee);
    }
    const room = roomOf(frame);
    times.set(room, (times.get(room) ?? 0) + own);
  };
  visit(root);
  return times;
}

function roomOf({ name, file }: Frame): string {
  if (name === "(garbage collector)") return "garbage";
  return file === "" ? "Node and libraries" : file.split("/").slice(0, -1).join("/");
}

const WIDTH = 1_200;
const LINE = 17;
/** Narrower frames are left out. */
const LEAST = 3;

/** Widths are times, the callers above their callees; the order of callees is that of their names. */
function drawn(root: Frame, title: string): string {
  const parts: string[] = [];
  let deepest = 0;
  const draw = (frame: Frame, x: number, depth: number) => {
    const width = (frame.total / root.total) * WIDTH;
    if (width < LEAST) return;
    deepest = Math.max(deepest, depth);
    const y = LINE * (depth + 2);
    const letters = Math.floor((width - 6) / 6.2);
    const label = frame.name.length <= letters ? frame.name : `${frame.name.slice(0, letters - 1)}…`;
    parts.push(
      `<g><title>${escaped(`${frame.name} ${frame.file} ${ms(frame.total / QUESTIONS)}`)}</title>` +
        `<rect x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${LINE - 1}" fill="${colourOf(frame)}"/>` +
        (letters < 4 ? "" : `<text x="${(x + 3).toFixed(1)}" y="${y + 12}">${escaped(label)}</text>`) +
        `</g>`,
    );
    let from = x;
    for (const [, callee] of [...frame.callees].sort(([one], [other]) => (one < other ? -1 : 1))) {
      draw(callee, from, depth + 1);
      from += (callee.total / root.total) * WIDTH;
    }
  };
  draw(root, 0, 0);
  const height = LINE * (deepest + 3);
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="monospace" font-size="10">` +
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/><text x="3" y="14" font-size="13">${escaped(title)}</text>` +
    `${parts.join("\n")}</svg>\n`
  );
}

/** A hue a room, so that what belongs together is seen; grey where it is not the program's own. */
function colourOf(frame: Frame): string {
  const room = roomOf(frame);
  if (frame.file === "") return room === "garbage" ? "#d9a5a5" : "#dcdcdc";
  let hue = 0;
  for (const letter of room) hue = (hue * 31 + letter.charCodeAt(0)) % 360;
  return `hsl(${hue} 60% 78%)`;
}

function escaped(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}
