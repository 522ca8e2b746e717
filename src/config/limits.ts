import { readFileSync } from "node:fs";
import { bytesOfSize } from "./settings-schema.ts";

/** Limits that need no setting: each is far above what people store, and far below what stalls a machine. */
export const MAX_DOCUMENT_PAGES = 5_000;
export const MAX_DOCUMENT_CHARS = 10_000_000;
/** Size of the unpacked parts of a document. */
export const MAX_INFLATED_BYTES = 200_000_000;
/** Memory of a process that reads documents. */
export const MAX_EXTRACTION_RESIDENT_BYTES = 1_000_000_000;
/** Working time per document. */
export const MAX_EXTRACTION_MS = 120_000;
export const MAX_RECORDING_SECONDS = 21_600;
/** Documents ingested at a time. */
export const INGEST_WORKERS = 2;
/** How long a model of speech stays in memory without work. */
export const MODEL_IDLE_MS = 300_000;
/** The same of the model that embeds, of 45 MB: loading it again takes .25 s of a processor, and prompts of an agent come minutes apart. */
export const EMBEDDER_IDLE_MS = 1_800_000;
/** How long a stop may take before it is cut short. */
export const SHUTDOWN_MS = 10_000;

/** Memory of a further embedding thread with the larger of the models that ship; they may have half of a budget. */
const FURTHER_THREAD_BYTES = 60e6;

/** Embedding threads, at most as many as usual, and bytes for caches; both as by default where the budget is `auto`. */
export function shareMemory(budget: string, usualThreads: number) {
  const bytes = bytesOfSize(budget);
  if (bytes === undefined) return {};
  const further = Math.min(usualThreads - 1, Math.floor(bytes / 2 / FURTHER_THREAD_BYTES));
  return { threads: 1 + further, cacheBytes: bytes - further * FURTHER_THREAD_BYTES };
}

/** The version of this package, such as `0.1.0`. */
export const { version: VERSION } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
) as { readonly version: string };
