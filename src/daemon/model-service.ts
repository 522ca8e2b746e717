import { readFileSync, statSync } from "node:fs";
import { stampKey } from "../core/embedding.ts";
import type { DocumentEmbedding, EmbeddingStamp, QuestionEmbedding } from "../core/embedding.ts";
import { conflict, invalidRequest, storeFull, storeUnusable } from "../core/errors.ts";
import { createSectorClassifier, type SectorClassifier, type SectorModel } from "../core/sectors/sectors.ts";
import type { Embedder } from "../core/ports.ts";
import { EMBEDDER_IDLE_MS } from "../config/limits.ts";
import { type EmbeddingModel, GONE_MODELS, MEMORYD_E5 } from "../models/bundled-models.ts";
import { modelsOf } from "../models/added/added-models.ts";
import { type ModelEmbedder, openEmbedder } from "../models/onnx-embedder.ts";
import { nodeDisk } from "../storage/files/disk.ts";
import { inWords } from "../storage/files/disk-space.ts";
import type { OpenedStore } from "../storage/open-store.ts";
import { chooseModel, chosenModel, findModel } from "./chosen-model.ts";
import type { Logger } from "./system.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { remake, type RemakeOptions } from "../core/memories/remake.ts";

/** The embedder of the store's model, whichever that is. */
class ChangingEmbedder implements Embedder {
  now: ModelEmbedder;

  constructor(now: ModelEmbedder) {
    this.now = now;
  }

  get stamp() {
    return this.now.stamp;
  }
  get profile() {
    return this.now.profile;
  }

  embedDocument(text: string): Promise<DocumentEmbedding> {
    return this.#byPresent((embedder) => embedder.embedDocument(text));
  }

  embedQuestion(text: string): Promise<QuestionEmbedding> {
    return this.#byPresent((embedder) => embedder.embedQuestion(text));
  }

  wake(): void {
    this.now.wake?.();
  }

  /** Once more where the embedder was changed meanwhile: what it gave is another model's, or a refusal. */
  async #byPresent<T>(embed: (embedder: ModelEmbedder) => Promise<T>): Promise<T> {
    for (;;) {
      const now = this.now;
      const [result] = await Promise.allSettled([embed(now)]);
      if (now !== this.now) continue;
      if (result.status === "rejected") throw result.reason;
      return result.value;
    }
  }
}

/** The model that a store is opened with. */
export type OpeningModel = { readonly model: EmbeddingModel; readonly embedder: Promise<ModelEmbedder> };

/** The model that was chosen for the store, else the one it has or its successor; of a new one, the configured. Begins to load it. */
export function openModel(
  stored: EmbeddingStamp | undefined,
  { dataDir, model: wanted }: { readonly dataDir: string; readonly model: string },
  log: Logger,
  threads?: number,
): OpeningModel {
  const chosen = chosenModel(dataDir);
  const gone = GONE_MODELS.get(stored?.model ?? "");
  const isGone = [...GONE_MODELS.values()].includes(wanted);
  const configured = chosen ?? (isGone ? MEMORYD_E5 : findModel(dataDir, wanted));
  if (configured === undefined)
    throw storeUnusable(`${unknownModel(dataDir, wanted)} \`memoryd models add FOLDER\` adds others.`);
  const known = stored === undefined ? undefined : modelOf(dataDir, stored);
  // One that is not known is another version's: the store refuses it and says why.
  const keeps = chosen === undefined && known !== undefined && known.successor !== configured.name;
  const model = keeps ? known : gone !== undefined && chosen === undefined ? MEMORYD_E5 : configured;
  if (gone !== undefined || (isGone && chosen === undefined))
    log.warn(
      { before: gone ?? wanted, now: model.name },
      "the model no longer ships; another takes its place",
    );
  if (!isSame(model, configured))
    log.info(
      {
        model: `${model.name} (${model.languages})`,
        wanted: `${configured.name} (${configured.languages})`,
        toChange: `memoryd models use ${configured.name}`,
      },
      "the store keeps the model that it was made with",
    );
  const embedder = openEmbedder(model, { idleTimeoutMs: EMBEDDER_IDLE_MS, log, workers: threads });
  embedder.catch(() => undefined);
  return { model, embedder };
}

/** @returns undefined for one that neither ships nor was added. */
export const modelOf = (dataDir: string, stamp: EmbeddingStamp): EmbeddingModel | undefined =>
  modelsOf(dataDir).find((model) => stampKey(model.stamp) === stampKey(stamp));

const unknownModel = (dataDir: string, name: string): string =>
  `There is no model "${name}"; there are ${namesOf(dataDir)}.`;

const namesOf = (dataDir: string): string =>
  modelsOf(dataDir)
    .map(({ name }) => name)
    .join(", ");

const isSame = (a: EmbeddingModel, b: EmbeddingModel) => stampKey(a.stamp) === stampKey(b.stamp);

/** The models of an open store, and how they change while it is served. */
export function createModelService({
  dataDir,
  opened,
  model: first,
  embedder: firstEmbedder,
  threads,
  log,
}: {
  readonly dataDir: string;
  readonly opened: Pick<OpenedStore, "store" | "checkpointer">;
  readonly model: EmbeddingModel;
  readonly embedder: ModelEmbedder;
  readonly threads?: number | undefined;
  readonly log: Logger;
}) {
  const { store, checkpointer } = opened;
  const embedder = new ChangingEmbedder(firstEmbedder);
  let model = first;
  let classify = classifierOf(model);
  let remaking: ReturnType<typeof startRemaking> | undefined;
  let isChanging = false;

  async function assertRoom(): Promise<void> {
    await store.assertWritable();
    const made = checkpointer.latest?.tables.filter(({ name }) => /^(vectors|tokens)(-|$)/.test(name)) ?? [];
    const bytes = made.flatMap(({ files }) => files).reduce((sum, { size }) => sum + size, 0);
    // Replaced vectors stay in the files until the next purge.
    const space = { free: await nodeDisk.freeBytes(dataDir), needed: checkpointer.roomNeeded + bytes };
    if (space.free < space.needed)
      throw storeFull(
        `There is no room to embed all memories again (${inWords(space)}); nothing was changed.`,
      );
  }

  async function change(to: EmbeddingModel): Promise<void> {
    await assertRoom();
    const next = await openEmbedder(to, { idleTimeoutMs: EMBEDDER_IDLE_MS, log, workers: threads });
    // First, so that a restart goes on with it.
    await chooseModel(dataDir, to.name);
    log.info({ from: model.name, to: to.name }, AGAIN);
    const before = embedder.now;
    embedder.now = next;
    // Texts that it was embedding are embedded with the new one.
    const closed = before.close();
    model = to;
    classify = classifierOf(to);
    await store.changeModel(to.stamp);
    remaking?.wake();
    await closed;
  }

  async function list() {
    const { before } = store.vectors;
    const total = store.catalogue.size;
    return {
      items: modelsOf(dataDir).map((each) => ({
        name: each.name,
        dimensions: each.hiddenSize,
        bytes: Object.values(each.files).reduce(
          (sum, { path }) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0),
          0,
        ),
        languages: each.languages,
        licence: each.licence,
        active: isSame(each, model),
      })),
      migration:
        before === undefined
          ? null
          : {
              from: modelOf(dataDir, before)?.name ?? GONE_MODELS.get(before.model) ?? "a model that is gone",
              to: model.name,
              done: total - [...store.lackingVectors()].length,
              total,
              status: remaking?.isWaiting === true ? ("waiting" as const) : ("running" as const),
            },
    };
  }

  return {
    embedder,
    classify: ((input) => classify(input)) as SectorClassifier,
    /** Repairs under way, in sentences. */
    get repairs(): readonly string[] {
      return remaking?.repairs ?? [];
    },
    /** Begins to embed what lacks vectors of the store's model; until then words find it. */
    begin(followUps: RemakeOptions["followUps"]): void {
      if (store.vectors.before !== undefined) log.info({ to: model.name }, AGAIN);
      remaking = startRemaking({ store, embedder, followUps }, log, async () => {
        if (store.vectors.before !== undefined) await store.modelChanged();
      });
      store.vectors.onForeign = () => remaking?.wake();
    },
    /** Interrupts it; the next start goes on. */
    async stop(): Promise<void> {
      await remaking?.stop();
    },
    list,
    /**
     * Makes a model the store's: new memories and questions use it from then on, and all other memories are embedded again,
     * one after another, in the background and over restarts; until then words find them. Resolves when that has begun.
     * @throws {ServiceError} INVALID_REQUEST (no such model), CONFLICT (another caller changes it), STORE_FULL,
     *   MODEL_UNAVAILABLE, NOT_READY.
     */
    async use(name: string) {
      const to = findModel(dataDir, name);
      if (to === undefined)
        throw invalidRequest(unknownModel(dataDir, name), {
          fields: [{ path: "/name", message: `is none of ${namesOf(dataDir)}` }],
        });
      if (isChanging) throw conflict("The model is being changed already.");
      isChanging = true;
      try {
        if (!isSame(to, model)) await change(to);
      } finally {
        isChanging = false;
      }
      return list();
    },
  };
}

export const classifierOf = ({ sectors }: EmbeddingModel): SectorClassifier =>
  createSectorClassifier(JSON.parse(readFileSync(sectors, "utf8")) as SectorModel);

const AGAIN = "all memories are embedded again with another model; until then words find them";
const RETRY_MS = 30_000;

/** Makes missing vectors and inferred updates, again when woken; `onDone` is called whenever nothing is missing. */
function startRemaking(
  parts: Pick<RemakeOptions, "store" | "embedder" | "followUps">,
  log: Logger,
  onDone: () => Promise<void>,
) {
  const { store } = parts;
  const stopping = new AbortController();
  const { signal } = stopping;
  let left = 0;
  let isWaiting = false;
  let isWoken = true;
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    while (isWoken && !signal.aborted) {
      isWoken = false;
      try {
        await remake({ ...parts, signal, onProgress: (lacking) => (left = lacking) });
        if (!isWoken) await onDone();
      } catch (error) {
        isWoken = true;
        if (signal.aborted) return;
        log.warn({ err: error }, "vectors and inferred updates not made again yet");
        isWaiting = true;
        await sleep(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined);
        isWaiting = false;
      }
    }
  }
  const wake = () => {
    isWoken = true;
    running ??= run().finally(() => (running = undefined));
  };
  wake();
  return {
    /** Sentences on vectors and inferred updates that are being made again; empty at the end. */
    get repairs(): readonly string[] {
      return [
        ...(left > 0 ? [`The vectors of ${left} memories are made again.`] : []),
        ...(store.lacksEdges ? ["What memories replace is inferred again."] : []),
      ];
    },
    /** True between a failure and the next attempt. */
    get isWaiting(): boolean {
      return isWaiting;
    },
    /** More is lacking. */
    wake,
    /** Interrupts it; the next start goes on. */
    async stop(): Promise<void> {
      stopping.abort();
      await running;
    },
  };
}
