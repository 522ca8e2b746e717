import type { Config } from "../config/config.ts";
import { VERSION } from "../config/limits.ts";
import type { ServiceStatus } from "../core/status.ts";
import type { ModelEmbedder } from "../models/onnx-embedder.ts";
import { type OpenedStore, STORE_FORMAT } from "../storage/open-store.ts";

interface Parts {
  readonly instanceId: string;
  readonly startedAt: number;
  readonly embedder: ModelEmbedder;
  readonly opened: OpenedStore;
  readonly documents: ServiceStatus["documents"];
  readonly damagedOriginals: readonly string[];
  readonly repairs: readonly string[];
  readonly sandbox: ServiceStatus["sandbox"];
}

/** The state of a running daemon. */
export function statusOf(
  config: Config,
  { instanceId, startedAt, embedder, opened, documents, damagedOriginals, repairs, sandbox }: Parts,
): ServiceStatus {
  const { store, storeId, journal, checkpointer, tables, damage } = opened;
  const { latest } = checkpointer;
  const tableBytes = (latest?.tables ?? [])
    .flatMap(({ files }) => files)
    .reduce((sum, { size }) => sum + size, 0);
  const failures = [journal.readOnly, checkpointer.stopped, tables.failure];
  const notReady = failures.flatMap((error) => error?.message ?? []);
  return {
    version: VERSION,
    instanceId,
    startedAt,
    notReady: [
      ...notReady,
      ...damage.map((reason) => `A file of the store is damaged: ${reason}.`),
      ...damagedOriginals,
    ],
    repairs,
    memoryCount: store.catalogue.size,
    documents,
    sandbox,
    embedding: { model: embedder.name, dimensions: embedder.dimensions, modelSha256: embedder.modelSha256 },
    store: {
      dataDir: config.dataDir,
      format: STORE_FORMAT,
      storeId,
      position: `${journal.position.epoch}.${journal.position.sequence}`,
      checkpoint: latest === undefined ? "" : `${latest.epoch}.${latest.sequence}`,
      pendingRows: store.pending.rows,
      pendingBytes: store.pending.bytes,
      diskBytes: tableBytes + journal.bytes,
      journalBytes: journal.bytes,
      checkpoints: latest?.number ?? 0,
      unerased: opened.purge.waiting?.items ?? 0,
      readOnly: journal.readOnly !== undefined,
      addsRefused: store.addsRefused ?? null,
    },
    embeddingQueue: { waiting: embedder.waiting, workers: embedder.workers },
  };
}
