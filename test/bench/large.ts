import { setTimeout as sleep } from "node:timers/promises";
import type { DocumentRow } from "../../src/core/documents/document.ts";
import { documentChanges, documentDeletion } from "../../src/core/documents/store-document.ts";
import { EMBEDDING_DIMENSIONS, TOKEN_DIMENSIONS } from "../../src/core/embedding.ts";
import { readText } from "../../src/core/memories/compose-memory.ts";
import { sha256, systemClock, uuidSource } from "../../src/daemon/system.ts";
import { MINILM } from "../../src/models/bundled-models.ts";
import { nodeDisk } from "../../src/storage/files/disk.ts";
import { openStore } from "../../src/storage/open-store.ts";
import { fillStore } from "../support/fill-store.ts";
import { startDaemonUnderLoad } from "./daemon-under-load.ts";
import {
  longestTurn,
  ms,
  newMemoryText,
  newQuestion,
  seconds,
  table,
  timed,
  timingOf,
  usageOf,
} from "./measure.ts";

const USUAL = 100_000;
/** A document of 10 million characters. */
const CHUNKS = 8_700;
const [WINDOWS, TOKENS] = [3, 130];
const [ROUNDS, PER_ROUND] = [4, 10];
const DAY = 24 * 60 * 60_000;

/** Questions with filters, and the largest document added and deleted, in a store that `fillStore` filled. */
export async function benchLarge(directory: string, isFilled: boolean): Promise<string> {
  if (!isFilled) await fillStore({ directory, count: USUAL, stamp: MINILM.stamp });
  return `${await document(directory)}\n\n${await filtered(directory)}`;
}

async function filtered(directory: string): Promise<string> {
  const daemon = await startDaemonUnderLoad(directory);
  const { memory_count } = (await daemon.get("/health")) as { memory_count: number };
  const ofUser = { user_id: "user7" };
  // The store's memories are a minute apart, up to now.
  const { items } = (await daemon.get("/memory/all?user_id=user7&l=1")) as {
    items: { occurred_at: string }[];
  };
  const newest = Date.parse(items[0]?.occurred_at ?? "");
  const tenth = { from: new Date(newest - (memory_count / 10) * 60_000).toISOString() };
  const month = { from: new Date(newest - 30 * DAY).toISOString() };
  const FILTERS = {
    none: {},
    "user, 1 %": ofUser,
    "tag, 99 %": { tags: ["common"] },
    "tag, 1 %": { tags: ["rare"] },
    "time, 10 %": tenth,
    "time, a month": month,
    "user and tag": { ...ofUser, tags: ["common"] },
    "user and time": { ...ofUser, ...tenth },
  };
  const found = Object.entries(FILTERS).map(([name, filters]) => ({
    name,
    times: [] as number[],
    cpu: 0,
    ask: () => daemon.post("/memory/query", { query: newQuestion(), filters }),
  }));
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const one of found) {
      const before = usageOf(daemon.pid).cpuSeconds;
      const times: number[] = [];
      while (times.length < PER_ROUND) times.push(await timed(one.ask));
      if (round < 0) continue;
      one.times.push(...times);
      one.cpu += usageOf(daemon.pid).cpuSeconds - before;
    }
  }
  await daemon.stop();
  return table(
    [`filter, ${memory_count} memories`, "question p50, p95", "processor time"],
    found.map(({ name, times, cpu }) => {
      const { p50, p95 } = timingOf(times);
      return [name, `${ms(p50)}, ${ms(p95)}`, ms((cpu * 1_000) / times.length)];
    }),
  );
}

/** In this process, with drawn vectors: the model would take most of an hour. */
async function document(directory: string): Promise<string> {
  const log = { info() {}, warn: console.error, error: console.error };
  const { store, checkpointer } = await openStore({
    disk: nodeDisk,
    directory,
    clock: systemClock,
    stamp: () => MINILM.stamp,
    log,
  });
  const id = uuidSource.newId(systemClock.now());
  const composed = new Map(
    Array.from({ length: CHUNKS }, (_, i) => {
      const content = Array.from({ length: 8 }, (_, j) => newMemoryText(i * 8 + j)).join(" ");
      const owner = { userId: "bench", project: null, sessionId: null, occurredAt: null };
      const source = {
        documentId: id,
        filename: "large.txt",
        mediaType: "text/plain",
        chunkIndex: i,
        chunkCount: CHUNKS,
      };
      const identity = { ...owner, content, tags: [], metadata: {}, source };
      const windows = Array.from({ length: WINDOWS }, () => drawn());
      return [
        i,
        {
          id: uuidSource.newId(systemClock.now()),
          identity,
          hash: sha256(content).slice(0, 32),
          direction: windows[0] ?? drawn(),
          embedding: { windows, tokens: { vectors: drawnTokens() }, stamp: MINILM.stamp },
          sectors: { primarySector: "semantic", sectors: ["semantic"] } as const,
          createdBy: null,
          supersedes: [],
          readText: readText(identity, systemClock.now()),
        },
      ] as const;
    }),
  );
  const memories = Array.from(composed.values(), ({ identity: { content, source } }) => ({
    content,
    source,
  }));
  const request = {
    filename: "large.txt",
    url: null,
    tags: [],
    metadata: {},
    createdBy: null,
    fetchedAt: null,
  };
  const rows: string[][] = [];
  const step = async (name: string, work: () => Promise<unknown>) => {
    const turn = longestTurn();
    const took = await timed(work);
    // What follows the answer is a part of it.
    await sleep(500);
    rows.push([name, seconds(took), ms(turn.stop())]);
  };
  await step(`${CHUNKS} chunks are added`, () =>
    store.commit((section) =>
      mapped(
        documentChanges(section, {
          id,
          existing: undefined,
          job: { userId: "bench", project: null },
          request: request as never,
          file: { sha256: sha256(id), bytes: 10_000_000 },
          mediaType: "text/plain",
          plan: { strategy: "root-child", account: { kind: "txt" } as never, occurredAt: null, memories },
          composed,
        }),
      ),
    ),
  );
  await step("they go into the tables", () => checkpointer.flush());
  const row = store.catalogue.documents.byId.get(id) as DocumentRow;
  await step("they are deleted", () => store.commit(() => documentDeletion({ store }, row, id)));
  await step("they go from the tables", () => checkpointer.flush());
  await store.close();
  return table(
    [`a document in a store of ${store.catalogue.size}`, "took", "longest turn, processor time"],
    rows,
  );
}

function* mapped<T, C>(steps: Generator<T, C>) {
  return { changes: yield* steps, result: undefined };
}

const drawn = () => {
  const vector = Float32Array.from({ length: EMBEDDING_DIMENSIONS }, () => Math.random() - 0.5);
  const length = Math.hypot(...vector);
  return vector.map((component) => component / length);
};
const drawnTokens = () =>
  Int8Array.from({ length: TOKENS * TOKEN_DIMENSIONS }, () => Math.round((Math.random() - 0.5) * 60));
