/** Text out of documents: what a document is read into, and the port that reads it. */
import type { DocumentDigest } from "../text/extractive-summary.ts";

/** What is read as text. `md` and `txt` differ only in how they are cut into blocks; `srt` and `vtt` are subtitles. */
export type TextKind = "pdf" | "docx" | "html" | "md" | "txt" | "srt" | "vtt";
export type DocumentKind = TextKind | "audio" | "video";

/**
 * - `heading`: `level` 1 (topmost) to 6. The document's own title is not repeated as one unless it stands in the text.
 * - `paragraph`: lines that were broken by the page's width are joined; a line break that was meant is kept as `\n`.
 * - `list-item`: one item without its nested items, which follow as items of a deeper `level` (1 is the outermost).
 *   Begins with its mark: "- " or "3. ".
 * - `table-row`: cells joined by " | ". The rows of one table follow one another; `isHeader` marks the rows that name columns.
 * - `code`: lines, breaks and indentation as they are, without fences.
 * - `quote`: one paragraph of a quotation, without its mark.
 */
export type BlockType = "heading" | "paragraph" | "list-item" | "table-row" | "code" | "quote";

/** A piece of a document's structure. Never empty; without control characters but `\n` and `\t`; no blank ends. */
export interface Block {
  readonly type: BlockType;
  readonly text: string;
  /** Of headings and list items, from 1; absent elsewhere. */
  readonly level?: number;
  /** Of documents that have pages: where the block begins, from 1, in the order of the file. */
  readonly page?: number;
  /** Of table rows. */
  readonly isHeader?: true;
  /** Of what was spoken, which is in paragraphs: from the start of the recording, in milliseconds; `startMs` never falls. */
  readonly startMs?: number;
  /** Not before `startMs`. */
  readonly endMs?: number;
}

/** A document as text. What it says of itself is cleaned and cut to 1 000 characters, but not to be trusted. */
export interface ExtractedDocument {
  readonly kind: DocumentKind;
  /** Of the kind found in the bytes, without parameters. */
  readonly mediaType: string;
  /**
   * How the text was found: "pdf.js", "mammoth", "readability", "html-rules", "marked", "plain-text" or "subtitles"; of recordings, the decoder and what
   * was made of it: "ffmpeg + whisper", "ffmpeg-wasm + subtitles".
   */
  readonly method: string;
  readonly title?: string;
  readonly author?: string;
  /** When it was written or published, by its own account: epoch milliseconds UTC. */
  readonly date?: number;
  /** By its own account: a BCP 47 tag such as "en" or "pt-BR". */
  readonly language?: string;
  /** Of web pages: the address the page calls canonical; absolute, http or https, and not checked by anybody. */
  readonly url?: string;
  /** Of documents that have pages. */
  readonly pages?: number;
  /** Of recordings and subtitles. */
  readonly durationMs?: number;
  /** Of recordings with several tracks: which was transcribed. */
  readonly soundTrack?: TranscribedTrack;
  /** Of all the blocks' texts. */
  readonly charCount: number;
  /** In reading order; at least one. */
  readonly blocks: readonly Block[];
}

export interface TranscribedTrack {
  /** From 1, in the order of the file. */
  readonly number: number;
  /** How many there are. */
  readonly count: number;
}

/** A piece of a document that becomes a memory of its own. */
export interface Chunk {
  readonly content: string;
  /** The headings that the whole of it stands under, outermost first. Not part of `content`. */
  readonly headings: readonly string[];
  /** Where it begins; absent where the document has no pages. */
  readonly page?: number;
  /** Of what was spoken: from the start of the recording, in milliseconds. */
  readonly startMs?: number;
  readonly endMs?: number;
}

/** A document that was read and cut into what is remembered of it. */
export interface CutDocument extends Omit<ExtractedDocument, "blocks"> {
  /** Its own, or else the heading that all the rest stands under. */
  readonly title?: string;
  /** In reading order; at least one. */
  readonly chunks: readonly Chunk[];
  /** What tells of the whole; absent where one chunk is the whole. */
  readonly digest?: DocumentDigest;
}

/** A file that is read in pieces and never held in memory whole. It must not change or go until the extraction ends. */
export interface SpooledFile {
  readonly path: string;
}

export interface ExtractionInput {
  readonly bytes: Uint8Array | SpooledFile;
  /** What the sender calls it: a media type, a file extension, or a `DocumentKind`. `application/octet-stream` claims nothing. */
  readonly claimedType?: string;
  /** Its extension is the claim where `claimedType` claims nothing; never opened. */
  readonly filename?: string;
  /** Where a page came from, to resolve its relative addresses; never fetched. */
  readonly url?: string;
}

/** Bounds of one extraction. What passes one is refused with TOO_LARGE, in a message that names the bound. */
export interface ExtractionLimits {
  readonly maxBytes: number;
  readonly maxPages: number;
  /** Of the text found. */
  readonly maxChars: number;
  /** What a compressed document may grow to. */
  readonly maxInflatedBytes: number;
  /** Time spent working, not time passed: a machine that sleeps or is busy elsewhere fails no document. */
  readonly maxWorkingMs: number;
  /** Resident memory of the process that reads. */
  readonly maxResidentBytes: number;
}

/** What is no larger is read within a second or so, nearly always, and does not wait for what is. */
export const SMALL_DOCUMENT_BYTES = 64 * 1_024;

export interface ExtractionProgress {
  readonly stage: "reading" | "extracting";
  /** Of `total`: bytes while reading; pages while extracting. Of a document without pages, the whole is 1. */
  readonly done: number;
  readonly total: number;
}

export interface ExtractionOptions {
  /** Ends the work at once; the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: ExtractionProgress) => void;
  /** Whose document it is: what reads it has read none of anybody else's. */
  readonly user?: string;
}

/**
 * Reads documents of unknown origin and cuts them, by `cutDocument`, where neither holds anybody up. Whatever a document holds, it ends in an answer or in an error that names no text
 * of it, and the next document is read as if it had not been there.
 */
export interface TextExtractor {
  /**
   * Documents are read in the order of asking, but small ones do not wait for large ones.
   *
   * @throws {ServiceError} UNSUPPORTED_MEDIA_TYPE: a kind that cannot be read, or bytes that are not what was claimed.
   *   UNPROCESSABLE: encrypted, damaged, without text, or hostile. TOO_LARGE: see `ExtractionLimits`.
   *   NOT_READY: after `close`.
   */
  extract(input: ExtractionInput, options?: ExtractionOptions): Promise<CutDocument>;
  /**
   * Checks what a document that was read before is called now, without reading it again.
   *
   * @throws {ServiceError} UNSUPPORTED_MEDIA_TYPE: it is not of the kind that is claimed, or nobody knows that kind.
   */
  checkClaim(claim: Pick<ExtractionInput, "claimedType" | "filename">, kind: DocumentKind): void;
  /** Refuses what waits, ends what runs; then nothing of it is left. */
  close(): Promise<void>;
}
