import type { ErrorCode } from "../errors.ts";
import type { ExtractedDocument } from "./extraction.ts";
import type { Metadata, Owned, Written } from "../memory.ts";

/** The row of an ingested document, which ties its original to its memories. Times are epoch milliseconds UTC. */
export interface DocumentRow extends Owned, Written {
  /** UUIDv7. */
  readonly id: string;
  /** SHA-256 of the original, hex; also its name in the file store. */
  readonly sha256: string;
  readonly bytes: number;
  /** As last sent. Its memories are cited by this name, whatever their rows hold. */
  readonly filename: string | null;
  /** Found in the bytes, not claimed. */
  readonly mediaType: string;
  /** The address it was fetched from, after redirects; null for an upload. */
  readonly url: string | null;
  readonly tags: readonly string[];
  /** Given by the writer, and fields of a note's front matter; its memories have the same. */
  readonly metadata: Metadata;
  readonly extraction: ExtractionAccount;
  readonly strategy: "single" | "root-child";
  /** Deleting this memory deletes the document; with `single` it is the only memory. */
  readonly rootMemoryId: string;
  /** In order, the root first where there is one; deleted memories are still named. */
  readonly memoryIds: readonly string[];
  /** Estimate for the memories' texts, at four characters per token. */
  readonly totalTokens: number;
  /** The `CHUNKING_VERSION` that cut it. */
  readonly chunkingVersion: number;
  readonly createdAt: number;
  /** When the page was fetched; null for an upload. */
  readonly fetchedAt: number | null;
  /** The `order` of its first memory. */
  readonly order: number;
}

/** How a document was read. Its claims about itself are not to be trusted. */
export type ExtractionAccount = Omit<
  ExtractedDocument,
  "mediaType" | "url" | "blocks" | "tags" | "occurredAt" | "metadata"
>;

/** A request to ingest. Exactly one of `file` and `url` at first; a fetched page has both. */
export interface IngestRequest extends Written {
  readonly file: { readonly sha256: string; readonly bytes: number } | null;
  readonly url: string | null;
  readonly filename: string | null;
  /** The type that the sender claims; null for none. */
  readonly claimedType: string | null;
  readonly tags: readonly string[];
  readonly metadata: Metadata;
  readonly fetchedAt: number | null;
  /** The address must not be on this machine nor in a private network. */
  readonly publicOnly?: true;
}

/** A job's row: `queued` until it is over. Only the runner knows whether it runs. */
export interface JobRow extends Owned {
  readonly kind: "ingest";
  readonly status: "queued" | "succeeded" | "failed" | "cancelled";
  /** Null once the job is over: a request is kept no longer than needed. */
  readonly request: IngestRequest | null;
  /** Id of the document it made or found; null until then. */
  readonly documentId: string | null;
  readonly deduplicated: boolean;
  readonly problem: JobProblem | null;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  /** Place in the order of jobs. */
  readonly order: number;
}

export type JobProblem = { readonly code: ErrorCode; readonly message: string };
