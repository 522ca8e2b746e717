import type { ExtractionAccount, IngestRequest } from "./document.ts";
import type { Chunk, CutDocument } from "./extraction.ts";
import { clockTime } from "../text/clock-time.ts";
import { type DocumentDigest, digestText } from "../text/extractive-summary.ts";
import type { MemorySource } from "../memory.ts";

/** The memories that a document becomes, before anything is embedded. */
export interface DocumentPlan {
  readonly strategy: "single" | "root-child";
  readonly account: ExtractionAccount;
  /** In order, the root first where there is one. */
  readonly memories: readonly PlannedMemory[];
}

export interface PlannedMemory {
  readonly content: string;
  readonly source: MemorySource;
}

const ENGLISH_NAMES = new Intl.DisplayNames(["en"], { type: "language" });

const ROOT_INDEX = -1;
const PATH_TIE = " › ";
const MAX_TITLE_CHARS = 120;

/** The same document is always planned alike. */
export function planDocument(
  documentId: string,
  document: CutDocument,
  { filename, url }: Pick<IngestRequest, "filename" | "url">,
): DocumentPlan {
  const { title, chunks, digest } = document;
  const place = (
    chunkIndex: number,
    { headings, page, startMs, endMs }: Omit<Chunk, "content">,
  ): MemorySource => {
    const section = sectionOf(title, headings);
    return {
      documentId,
      filename,
      mediaType: document.mediaType,
      chunkIndex,
      chunkCount: chunks.length,
      ...(page !== undefined && { page }),
      ...(section !== "" && { section }),
      ...(startMs !== undefined && { startMs }),
      ...(endMs !== undefined && { endMs }),
      ...(url !== null && { url }),
    };
  };

  const account = accountOf(document);
  const memories = chunks.map((chunk, i) => ({ content: chunk.content, source: place(i, chunk) }));
  if (digest === undefined) {
    const single = memories.map((memory) => withoutKnownTitle(memory, title));
    return { strategy: "single", account, memories: single };
  }
  const isSpoken = chunks[0]?.startMs !== undefined;
  // It stands for all pages, and for the whole of a recording.
  const whole = { headings: [], ...(isSpoken && { startMs: 0, endMs: document.durationMs ?? 0 }) };
  const { section: _section, ...source } = place(ROOT_INDEX, whole);
  const titled = { ...digest, title: title ?? filename ?? url ?? "Untitled document" };
  const content = isSpoken ? recordingText(document, titled) : digestText(titled);
  return { strategy: "root-child", account, memories: [{ content, source }, ...memories] };
}

/** A title that stands in the text is searched with it. */
function withoutKnownTitle({ content, source }: PlannedMemory, title: string | undefined): PlannedMemory {
  const { section: _section, ...untitled } = source;
  return { content, source: title === undefined || content.includes(title) ? untitled : source };
}

function recordingText({ kind, durationMs = 0, language }: CutDocument, digest: DocumentDigest): string {
  const what = kind === "audio" ? "Audio" : kind === "video" ? "Video" : "Subtitles";
  const spoken = language === undefined ? "" : `, ${languageName(language)}`;
  const about = `${what}, ${clockTime(durationMs)}${spoken}`;
  return digestText({ ...digest, title: `${digest.title}\n\n${about}` });
}

/** In English; what is no tag is answered as it is. */
function languageName(tag: string): string {
  try {
    return ENGLISH_NAMES.of(tag) ?? tag;
  } catch {
    return tag;
  }
}

function sectionOf(title: string | undefined, headings: readonly string[]): string {
  const path = title === undefined || headings[0] === title ? headings : [title, ...headings];
  return path
    .map((step) => step.replaceAll(/\s+/g, " "))
    .map((step) => (step.length > MAX_TITLE_CHARS ? `${cut(step)}…` : step))
    .join(PATH_TIE);
}

function cut(text: string): string {
  return text
    .slice(0, MAX_TITLE_CHARS)
    .replace(/[\uD800-\uDBFF]$/, "")
    .trimEnd();
}

function accountOf(document: CutDocument): ExtractionAccount {
  const { kind, method, title, author, date, language, pages, durationMs, soundTrack, charCount } = document;
  return {
    kind,
    method,
    ...(title !== undefined && { title }),
    ...(author !== undefined && { author }),
    ...(date !== undefined && { date }),
    ...(language !== undefined && { language }),
    ...(pages !== undefined && { pages }),
    ...(durationMs !== undefined && { durationMs }),
    ...(soundTrack !== undefined && { soundTrack }),
    charCount,
  };
}
