/** The port that reads documents, and the text and structure it gives. */
import type { Metadata, Progress } from "../memory.ts";

/** `md` and `txt` differ only in how they are cut into blocks; `srt` and `vtt` are subtitles, `eml` mails, `mhtml` saved pages, `ipynb` notebooks. */
export type TextKind =
  | "pdf"
  | "docx"
  | "xlsx"
  | "pptx"
  | "epub"
  | "html"
  | "md"
  | "txt"
  | "srt"
  | "vtt"
  | "odt"
  | "ods"
  | "odp"
  | "rtf"
  | "eml"
  | "mhtml"
  | "ipynb"
  | "png"
  | "jpeg"
  | "webp";
export type DocumentKind = TextKind | "audio" | "video";

/**
 * - `heading`: `level` 1 (topmost) to 6. The document's title is a heading only where it stands in the text.
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
  /** For headings and list items, from 1; absent elsewhere. */
  readonly level?: number;
  /** The page or slide where the block begins, from 1; absent in documents without pages. */
  readonly page?: number;
  /** Only for table rows. */
  readonly isHeader?: true;
  /** Only for speech: milliseconds from the start of the recording; never falls from block to block. */
  readonly startMs?: number;
  /** Not before `startMs`. */
  readonly endMs?: number;
}

/** A document as text. Its claims about itself are cleaned and cut to 1 000 characters, but not to be trusted. */
export interface ExtractedDocument {
  readonly kind: DocumentKind;
  /** The type found in the bytes, without parameters. */
  readonly mediaType: string;
  /**
   * How the text was found: "pdf.js", "mammoth", "readability", "html-rules", "marked", "plain-text", "subtitles", "postal-mime",
   * "notebook", "workbook", "slides", "epub", "opendocument", "rtf" or "tesseract"; of recordings, the decoder and what
   * was made of it: "ffmpeg + whisper", "ffmpeg-wasm + subtitles". Of texts whose encoding was guessed also its name: "plain-text, koi8-r".
   */
  readonly method: string;
  readonly title?: string;
  readonly author?: string;
  /** When it was written or published, as it claims: epoch milliseconds UTC. */
  readonly date?: number;
  /** The time that its memories are about, as it says itself: epoch milliseconds UTC. Of a file of an office, when it was last saved. */
  readonly occurredAt?: number;
  /** Tags of a note's front matter: at most 32. */
  readonly tags?: readonly string[];
  /** Other fields of a note's front matter, at most 4 096 characters as JSON. */
  readonly metadata?: Metadata;
  /** As it claims: a BCP 47 tag such as "en" or "pt-BR". */
  readonly language?: string;
  /** The address that a web page calls canonical: absolute, http or https, otherwise not checked. */
  readonly url?: string;
  /** Number of pages or slides; absent in documents without. */
  readonly pages?: number;
  /** Only for recordings and subtitles. */
  readonly durationMs?: number;
  /** The transcribed track of a recording with several. */
  readonly soundTrack?: TranscribedTrack;
  /** The encoding of a text, where it was guessed. */
  readonly encoding?: string;
  /** How sure it is that the text of a picture, or of a guessed encoding, was read right, 0 to 1. */
  readonly confidence?: number;
  /** Sum of the blocks' text lengths. */
  readonly charCount: number;
  /** In reading order; at least one. */
  readonly blocks: readonly Block[];
}

export interface TranscribedTrack {
  /** From 1, in the order of the file. */
  readonly number: number;
  /** Number of tracks. */
  readonly count: number;
}

/** A piece of a document that becomes a memory of its own. */
export interface Chunk {
  readonly content: string;
  /** The headings above it, outermost first. Not part of `content`. */
  readonly headings: readonly string[];
  /** The page where it begins; absent in documents without pages, and for text of more than two. */
  readonly page?: number;
  /** Only for speech: milliseconds from the start of the recording. */
  readonly startMs?: number;
  readonly endMs?: number;
}

/** A document's summary, and places in it. */
export interface DocumentDigest {
  /** Sentences that represent the document, in their order. */
  readonly summary: string;
  /** The headings, indented by level; empty without any. */
  readonly outline: string;
}

/** A document that was read and cut into chunks. */
export interface CutDocument extends Omit<ExtractedDocument, "blocks"> {
  /** The document's title, else the first heading if all others are below it. */
  readonly title?: string;
  /** In reading order; at least one. */
  readonly chunks: readonly Chunk[];
  /** Describes the whole; absent where one chunk is the whole. */
  readonly digest?: DocumentDigest;
}

/** A file that is read in pieces. It must not change or be removed until the extraction ends. */
export type SpooledFile = { readonly path: string };

/** The sender's claims on a document, to be checked. */
export interface DocumentClaims {
  /** A media type, a file extension or a `DocumentKind`. `application/octet-stream` claims nothing. */
  readonly claimedType?: string;
  /** Its extension is the claim where `claimedType` claims nothing; never opened. */
  readonly filename?: string;
  /** Address of a page, to resolve its relative addresses; never fetched. */
  readonly url?: string;
}

export interface ExtractionInput extends DocumentClaims {
  readonly bytes: Uint8Array | SpooledFile;
}

/** Bounds of one extraction. A larger document is refused with TOO_LARGE, in a message that names the bound. */
export interface ExtractionLimits {
  readonly maxBytes: number;
  readonly maxPages: number;
  /** Length of the extracted text. */
  readonly maxChars: number;
  /** Size of a decompressed document. */
  readonly maxInflatedBytes: number;
  /** Time spent working, not time passed: a machine that sleeps or is busy elsewhere fails no document. */
  readonly maxWorkingMs: number;
  /** Resident memory of the process that reads. */
  readonly maxResidentBytes: number;
}

/** Documents up to this size are nearly always read within a second, and do not wait for larger ones. */
export const SMALL_DOCUMENT_BYTES = 64 * 1_024;

/** Counts bytes while reading, pages while extracting; a document without pages counts as 1. */
export type ExtractionProgress = Progress<"reading" | "extracting">;

export interface ExtractionOptions {
  /** Ends the work at once; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: ExtractionProgress) => void;
  /** The document's owner: no process reads documents of two users. */
  readonly user?: string;
}

/** Reads documents of unknown origin, outside the main thread; no document affects the next. */
export interface TextExtractor {
  /**
   * Documents are read in the order of asking, but small ones do not wait for large ones.
   * @throws {ServiceError} UNSUPPORTED_MEDIA_TYPE: a kind that cannot be read, or bytes that are not what was claimed.
   *   UNPROCESSABLE: encrypted, damaged, without text, or hostile. TOO_LARGE: see `ExtractionLimits`.
   *   NOT_READY: after `close`.
   */
  extract(input: ExtractionInput, options?: ExtractionOptions): Promise<CutDocument>;
  /** Checks a claim about a document that was read before. @throws {ServiceError} UNSUPPORTED_MEDIA_TYPE. */
  checkClaim(claim: DocumentClaims, kind: DocumentKind): void;
  /** Refuses waiting work, and ends running work and its processes. */
  close(): Promise<void>;
}
