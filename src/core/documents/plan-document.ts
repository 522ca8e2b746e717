import { cutIntoChunks, isShort, wholeText } from "./chunking.ts";
import { cutSpeech } from "./cut-speech.ts";
import type { ExtractionAccount, IngestRequest } from "./document.ts";
import type { Block, ExtractedDocument } from "./extraction.ts";
import { clockTime } from "../text/clock-time.ts";
import { type DocumentDigest, digestOf, digestText } from "../text/extractive-summary.ts";
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
  document: ExtractedDocument,
  { filename, url }: Pick<IngestRequest, "filename" | "url">,
): DocumentPlan {
  const { blocks, durationMs } = document;
  const [first] = blocks;
  const title = document.title ?? titleIn(blocks);
  const isSpoken = first?.startMs !== undefined;
  const chunks: readonly PlacedChunk[] = isSpoken ? cutSpeech(blocks) : cutIntoChunks(blocks);
  // What was spoken is cited to the second, however short it is.
  const isSingle = chunks.length === 1 || (!isSpoken && isShort(blocks));
  const place = (
    chunkIndex: number,
    chunkCount: number,
    { headings = [], page, startMs, endMs }: Omit<PlacedChunk, "content">,
  ): MemorySource => {
    const section = sectionOf(title, headings);
    return {
      documentId,
      filename,
      mediaType: document.mediaType,
      chunkIndex,
      chunkCount,
      ...(page !== undefined && { page }),
      ...(section !== "" && { section }),
      ...(startMs !== undefined && { startMs }),
      ...(endMs !== undefined && { endMs }),
      ...(url !== null && { url }),
    };
  };

  const account = accountOf(document, title);
  const beginning = { ...(first?.page !== undefined && { page: first.page }) };
  if (isSingle) {
    const [spoken] = isSpoken ? chunks : [];
    const content = spoken?.content ?? wholeText(blocks);
    const source = place(0, 1, spoken ?? beginning);
    const { section: _section, ...plain } = source;
    // A title that stands in the text is searched with it.
    const isInText = title === undefined || content.includes(title);
    return { strategy: "single", account, memories: [{ content, source: isInText ? plain : source }] };
  }
  // Sentences of speech may begin in one block and end in another.
  const running = isSpoken
    ? chunks.map(({ content }) => ({ type: "paragraph", text: content }) as const)
    : blocks;
  const digest = digestOf(running, title ?? filename ?? url ?? "Untitled document");
  const root = isSpoken
    ? { content: recordingText(document, digest), where: { startMs: 0, endMs: durationMs ?? 0 } }
    : { content: digestText(digest), where: beginning };
  const { section: _section, ...rootSource } = place(ROOT_INDEX, chunks.length, root.where);
  return {
    strategy: "root-child",
    account,
    memories: [
      { content: root.content, source: rootSource },
      ...chunks.map(({ content, ...where }, i) => ({ content, source: place(i, chunks.length, where) })),
    ],
  };
}

/** A chunk of either rule. */
interface PlacedChunk {
  readonly content: string;
  readonly headings?: readonly string[];
  readonly page?: number;
  readonly startMs?: number;
  readonly endMs?: number;
}

function recordingText(
  { kind, durationMs = 0, language }: ExtractedDocument,
  digest: DocumentDigest,
): string {
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

/** The heading that all else stands under, where the document begins with one. */
function titleIn(blocks: readonly Block[]): string | undefined {
  const [first, ...others] = blocks;
  if (first?.type !== "heading") return undefined;
  const { level = 1 } = first;
  const isAlone = others.every((block) => block.type !== "heading" || (block.level ?? 1) > level);
  return isAlone ? first.text : undefined;
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

function accountOf(document: ExtractedDocument, title: string | undefined): ExtractionAccount {
  const { kind, method, author, date, language, pages, durationMs, charCount } = document;
  return {
    kind,
    method,
    ...(title !== undefined && { title }),
    ...(author !== undefined && { author }),
    ...(date !== undefined && { date }),
    ...(language !== undefined && { language }),
    ...(pages !== undefined && { pages }),
    ...(durationMs !== undefined && { durationMs }),
    charCount,
  };
}
