import type { ErrorCode } from "../errors.ts";
import type { ExtractedDocument } from "./extraction.ts";
import type { Metadata, Owned, Written } from "../memory.ts";

/** What was ingested: the row that ties an original file to the memories made of it. Times are epoch milliseconds UTC. */
export interface DocumentRow extends Owned, Written {
  /** UUIDv7. */
  readonly id: string;
  /** Of the original's bytes, hex; also its name in the file store. */
  readonly sha256: string;
  readonly bytes: number;
  /** As it was last sent; the name by which its memories are cited, whatever their rows say. */
  readonly filename: string | null;
  /** As found in the bytes. */
  readonly mediaType: string;
  /** Where it was fetched from, after redirects; null for what was sent. */
  readonly url: string | null;
  readonly tags: readonly string[];
  /** As the writer gave it; its memories have the same. */
  readonly metadata: Metadata;
  readonly extraction: ExtractionAccount;
  readonly strategy: "single" | "root-child";
  /** Deleting this memory deletes the document; with `single` it is the only one. */
  readonly rootMemoryId: string;
  /** In order, the root first where there is one; those that were deleted since are still named. */
  readonly memoryIds: readonly string[];
  /** Of the memories' texts, about: a token is taken for four characters. */
  readonly totalTokens: number;
  /** Of the rule that cut it, see `CHUNKING_VERSION`. */
  readonly chunkingVersion: number;
  readonly createdAt: number;
  /** When the page was fetched; null for what was sent. */
  readonly fetchedAt: number | null;
  /** Place in the order of adding: that of its first memory. */
  readonly order: number;
}

/** What is known of a document from reading it. What it says of itself is not to be trusted. */
export type ExtractionAccount = Omit<ExtractedDocument, "mediaType" | "url" | "blocks">;

/** What the writer asked to be ingested. Exactly one of `file` and `url` at first; a fetched page has both. */
export interface IngestRequest extends Written {
  readonly file: { readonly sha256: string; readonly bytes: number } | null;
  readonly url: string | null;
  readonly filename: string | null;
  /** What the sender calls it; null for nothing. */
  readonly claimedType: string | null;
  readonly tags: readonly string[];
  readonly metadata: Metadata;
  readonly fetchedAt: number | null;
  /** The address may not be on this machine nor in a private network. */
  readonly publicOnly?: true;
}

/** A job as it is kept: `queued` until it is over. That it runs is known only where it does. */
export interface JobRow extends Owned {
  readonly kind: "ingest";
  readonly status: "queued" | "succeeded" | "failed" | "cancelled";
  /** Null once it is over: nothing of it is kept longer than it is needed. */
  readonly request: IngestRequest | null;
  /** What it made; null until then. */
  readonly documentId: string | null;
  readonly deduplicated: boolean;
  readonly problem: JobProblem | null;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  /** Place among the jobs. */
  readonly order: number;
}

export interface JobProblem {
  readonly code: ErrorCode;
  readonly message: string;
}

/** Equal for what counts as the same document: the same bytes for the same user and project. */
export function contentKey(of: Pick<DocumentRow, "sha256" | "userId" | "project">): string {
  return JSON.stringify([of.sha256, of.userId, of.project]);
}

/** Which documents or jobs: all conditions hold. */
export interface DocumentFilter {
  readonly userId?: string;
  /** Any of; null for those without one. */
  readonly projects?: readonly (string | null)[];
}
