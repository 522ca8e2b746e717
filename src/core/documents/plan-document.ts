import { englishName } from "./choose-track.ts";
import type { ExtractionAccount, IngestRequest } from "./document.ts";
import type { Chunk, CutDocument } from "./extraction.ts";
import { clockTime } from "../text/calendar.ts";
import { digestText } from "../text/extractive-summary.ts";
import { shortened } from "../text/text-size.ts";
import type { MemorySource } from "../memory.ts";

/** The memories that a document becomes, before anything is embedded. */
export interface DocumentPlan {
  readonly strategy: "single" | "root-child";
  readonly account: ExtractionAccount;
  readonly occurredAt: number | null;
  /** In order, the root first where there is one. */
  readonly memories: readonly PlannedMemory[];
}

export interface PlannedMemory {
  readonly content: string;
  readonly source: MemorySource;
}

const ROOT_INDEX = -1;
const PATH_TIE = " › ";
const MAX_TITLE_CHARS = 120;

/** The memories of a document. The same document always gives the same plan. */
export function planDocument(
  documentId: string,
  document: CutDocument,
  { filename, url }: Pick<IngestRequest, "filename" | "url">,
): DocumentPlan {
  const { chunks, digest, mediaType, url: _url, tags: _tags, metadata: _metadata, ...said } = document;
  const { occurredAt = null, ...account } = said;
  const { title } = account;
  const place = (chunkIndex: number, { headings, ...position }: Omit<Chunk, "content">): MemorySource => {
    const section = sectionOf(title, headings);
    return {
      documentId,
      filename,
      mediaType,
      chunkIndex,
      chunkCount: chunks.length,
      ...position,
      ...(section !== "" && { section }),
      ...(url !== null && { url }),
    };
  };

  const memories = chunks.map(({ content, ...chunk }, i) => ({ content, source: place(i, chunk) }));
  if (digest === undefined) {
    const single = memories.map((memory) => withoutKnownTitle(memory, title));
    return { strategy: "single", account, occurredAt, memories: single };
  }
  const isSpoken = chunks[0]?.startMs !== undefined;
  // The root stands for all pages, and for the whole recording.
  const whole = { headings: [], ...(isSpoken && { startMs: 0, endMs: document.durationMs ?? 0 }) };
  const { section: _section, ...source } = place(ROOT_INDEX, whole);
  const name = title ?? filename ?? url ?? "Untitled document";
  const content = digestText(isSpoken ? recordingTitle(document, name) : name, digest);
  return { strategy: "root-child", account, occurredAt, memories: [{ content, source }, ...memories] };
}

/** A title that stands in the text is already searched with it. */
function withoutKnownTitle({ content, source }: PlannedMemory, title: string | undefined): PlannedMemory {
  const { section: _section, ...untitled } = source;
  return { content, source: title === undefined || content.includes(title) ? untitled : source };
}

function recordingTitle({ kind, durationMs = 0, language }: CutDocument, name: string): string {
  const what = kind === "audio" ? "Audio" : kind === "video" ? "Video" : "Subtitles";
  const spoken = language === undefined ? "" : `, ${englishName(language) ?? language}`;
  return `${name}\n\n${what}, ${clockTime(durationMs)}${spoken}`;
}

function sectionOf(title: string | undefined, headings: readonly string[]): string {
  const path = title === undefined || headings[0] === title ? headings : [title, ...headings];
  return path
    .map((step) => step.replaceAll(/\s+/g, " "))
    .map((step) => shortened(step, MAX_TITLE_CHARS))
    .join(PATH_TIE);
}
