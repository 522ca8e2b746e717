import { availableParallelism } from "node:os";

/** Limits that nobody needs to choose: each is far above what people store, and far below what stalls a machine. */
export const MAX_DOCUMENT_PAGES = 5_000;
export const MAX_DOCUMENT_CHARS = 10_000_000;
/** Of work on reading one document. */
export const MAX_EXTRACTION_MS = 120_000;
export const MAX_RECORDING_SECONDS = 21_600;
/** Documents ingested at a time. */
export const INGEST_WORKERS = 2;
/** How long a model stays in memory without work. */
export const MODEL_IDLE_MS = 300_000;
/** Threads that embed: more of them share the memory bandwidth, and one core is left to the main thread. */
export const EMBEDDING_WORKERS = Math.min(4, Math.max(1, availableParallelism() - 1));
/** How long a stop may take before it is cut short. */
export const SHUTDOWN_MS = 10_000;
