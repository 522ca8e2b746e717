import type { ErrorCode } from "../core/errors.ts";
import type { Chunk, CutDocument, ExtractionInput, ExtractionLimits } from "../core/documents/extraction.ts";

/** What a document is called by its sender. */
export type DocumentClaims = Omit<ExtractionInput, "bytes">;

/** One document: `begin`, its bytes in pieces, `end`. The next begins when this one is `done` or `failed`. */
export type ToWorker =
  | {
      readonly type: "begin";
      readonly claims: DocumentClaims;
      readonly limits: ExtractionLimits;
      readonly byteCount: number;
    }
  | { readonly type: "bytes"; readonly piece: Uint8Array }
  | { readonly type: "end" };

export type FromWorker =
  | { readonly type: "ready" }
  | { readonly type: "progress"; readonly done: number; readonly total: number }
  /** Chunks in order, a part of them each time, so that neither side handles a whole book at once. */
  | { readonly type: "chunks"; readonly chunks: readonly Chunk[] }
  | { readonly type: "done"; readonly document: Omit<CutDocument, "chunks"> }
  | { readonly type: "failed"; readonly code: ErrorCode; readonly message: string };
