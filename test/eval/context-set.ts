/**
 * Scripted projects for the context at the start. First line: project (`-`: none, all projects are told), user, query. Then one
 * note a line: a mark, days ago, where (`-`: in no project, `other`: in another one), a kind in the metadata (`c=`), the text.
 *
 * Marks: `+` needed · `.` of no use · `=` of some use · `x` superseded by the next line, which names it · `~` the same, not named ·
 * `d` text of a document · `f` a fact that is needed · `F` one that has ended.
 */
import { readFileSync } from "node:fs";
import { composeContext } from "../../src/core/context/compose-context.ts";
import { recordFact } from "../../src/core/facts/record-fact.ts";
import { addMemory } from "../../src/core/memories/add-memories.ts";
import { embeddingChanges, withDerived } from "../../src/core/memories/compose-memory.ts";
import { FollowUps } from "../../src/core/memories/follow-ups.ts";
import { listMemories } from "../../src/core/memories/list-memories.ts";
import type { Embedder } from "../../src/core/ports.ts";
import { createSectorClassifier } from "../../src/core/sectors/sectors.ts";
import { estimateTokens } from "../../src/core/text/text-size.ts";
import { createInMemoryStore } from "../support/in-memory-store.ts";
import type { EmbeddingModel } from "../../src/models/bundled-models.ts";
import { memoryRow } from "../support/memory-row.ts";
import { createMemoryWorld } from "../support/memory-world.ts";

const NOW = Date.UTC(2026, 10, 22, 9);
const DAY_MS = 86_400_000;

export type Mark = "+" | "." | "=" | "x" | "~" | "d" | "f" | "F";

export interface Line {
  readonly mark: Mark;
  readonly at: number;
  readonly project: string | null;
  readonly kind: string | undefined;
  readonly text: string;
}

export interface ScriptedProject {
  readonly project: string | undefined;
  readonly userId: string;
  readonly query: string | undefined;
  readonly lines: readonly Line[];
}

/** What else somebody keeps, without a project: of no use for one. */
const KEPT = (
  JSON.parse(readFileSync(new URL("../fixtures/kept-notes/notes.json", import.meta.url), "utf8")) as {
    readonly content: string;
  }[]
).map(({ content }) => content);
const KEPT_OF_EACH = 40;

/** @param place among the scripts, which chooses what else is kept. */
export function readScript(script: string, place: number): ScriptedProject {
  const [head = "", ...rest] = script.split("\n").map((line) => line.trim());
  const [name = "", userId = "", query = ""] = head.split("|").map((part) => part.trim());
  const project = name === "-" ? undefined : name;
  const lines = rest.map((line): Line => {
    const match = /^([+.=x~dfF]) (\d+) (?:(-|other) )?(?:c=(\w+) )?(.+)$/.exec(line);
    if (match === null) throw new TypeError(`no line of a script: ${line}`);
    const [, mark, days, place, kind, text = ""] = match;
    const home = project ?? null;
    return {
      mark: mark as Mark,
      at: NOW - Number(days) * DAY_MS,
      project: place === undefined ? home : place === "-" ? null : "another",
      kind,
      text,
    };
  });
  const kept = Array.from({ length: project === undefined ? 0 : KEPT_OF_EACH }, (_, i): Line => {
    const text = KEPT[(place * KEPT_OF_EACH + i) % KEPT.length] ?? "";
    return { mark: ".", at: NOW - (i * 9 + 2.5) * DAY_MS, project: null, kind: undefined, text };
  });
  return { project, userId, query: query === "" ? undefined : query, lines: [...lines, ...kept] };
}

/** A world that holds the project as its notes were written, one after the other; the marks by id. */
export async function openProject(
  { lines, userId }: ScriptedProject,
  embedder: Embedder,
  { sectors }: EmbeddingModel,
) {
  const world = createMemoryWorld();
  let now = NOW;
  const clock = { now: () => now };
  const { store } = createInMemoryStore(clock, embedder.stamp);
  const followUps = new FollowUps(store, {
    onPending: () => {},
    isBusy: () => false,
    nextTurn: async () => {},
  });
  const classify = createSectorClassifier(JSON.parse(readFileSync(sectors, "utf8")));
  const ports = { ...world.ports, store, facts: store, clock, embedder, followUps, classify };
  const markOf = new Map<string, Line>();
  const replaced = new Map<Line, string>();
  const inOrder = lines
    .map((line, i) => ({ line, after: lines[i - 1] }))
    .sort((a, b) => a.line.at - b.line.at);
  for (const { line, after } of inOrder) {
    const { mark, at, project, kind, text } = line;
    now = at;
    if (mark === "f" || mark === "F") {
      const [subject = "", predicate = "", object = ""] = text.split("|").map((part) => part.trim());
      const owner = project === null ? { userId } : { userId, project };
      const { fact } = await recordFact(ports, { subject, predicate, object, validFrom: at, ...owner });
      markOf.set(fact.id, line);
      continue;
    }
    if (mark === "d") {
      const id = `d-${text}`;
      const source = {
        documentId: id,
        filename: "a.md",
        mediaType: "text/markdown",
        chunkIndex: 0,
        chunkCount: 1,
      };
      const embedding = await embedder.embedDocument(text);
      const made = { createdAt: at, updatedAt: at };
      await store.commit(({ nextOrder: order }) => {
        const row = withDerived(memoryRow({ id, content: text, userId, project, source, order, ...made }));
        const changes = [{ table: "memories", id, row } as const, ...embeddingChanges(id, userId, embedding)];
        return { changes, result: undefined };
      });
      markOf.set(id, line);
      continue;
    }
    const named = after?.mark === "x" ? replaced.get(after) : undefined;
    const { memory } = await addMemory(ports, {
      content: text,
      userId,
      ...(project !== null && { project }),
      ...(kind !== undefined && { metadata: { kind, origin: "capture" } }),
      ...(named !== undefined && { supersedes: [named] }),
    });
    markOf.set(memory.id, line);
    if (mark === "x") replaced.set(line, memory.id);
    await followUps.flush();
  }
  now = NOW;
  return { ports, markOf: markOf as ReadonlyMap<string, Line> };
}

export interface Told {
  readonly needed: number;
  readonly told: number;
  readonly toldNeeded: number;
  readonly useless: number;
  readonly superseded: number;
  readonly tokens: number;
  readonly missed: readonly string[];
  readonly wrong: readonly string[];
}

type World = Awaited<ReturnType<typeof openProject>>;

/** What the context tells of the project within a number of tokens. */
export async function toldByContext({ ports, markOf }: World, script: ScriptedProject, maxTokens: number) {
  const { items, tokens } = await composeContext(ports, {
    userId: script.userId,
    maxTokens,
    ...(script.project !== undefined && { project: script.project }),
    ...(script.query !== undefined && { query: script.query }),
  });
  return judged(
    items.map(({ id }) => id),
    markOf,
    tokens,
  );
}

/** What the ten newest notes tell within the same tokens, each on a line with its date. */
export async function toldByNewest({ ports, markOf }: World, script: ScriptedProject, maxTokens: number) {
  const { items } = await listMemories(ports, {
    filter: {
      userId: script.userId,
      ...(script.project !== undefined && { projects: [script.project, null] }),
    },
    limit: 10,
    offset: 0,
  });
  const ids: string[] = [];
  let tokens = 0;
  for (const { id, content } of items) {
    tokens += estimateTokens(`- 2026-11-22 01234567 ${content}\n`);
    if (tokens > maxTokens) break;
    ids.push(id);
  }
  return judged(ids, markOf, tokens);
}

function judged(ids: readonly string[], markOf: ReadonlyMap<string, Line>, tokens: number): Told {
  const isNeeded = ({ mark }: Line) => mark === "+" || mark === "f";
  const told = ids.flatMap((id) => markOf.get(id) ?? []);
  const needed = [...markOf.values()].filter(isNeeded);
  const useless = told.filter(({ mark, project }) => mark === "." || mark === "d" || project === "another");
  const superseded = told.filter(({ mark }) => "x~F".includes(mark));
  return {
    needed: needed.length,
    told: told.length,
    toldNeeded: told.filter(isNeeded).length,
    useless: useless.length,
    superseded: superseded.length,
    tokens,
    missed: needed.filter((line) => !told.includes(line)).map(({ text }) => text),
    wrong: [...useless, ...superseded].map(({ mark, text }) => `${mark} ${text}`),
  };
}
