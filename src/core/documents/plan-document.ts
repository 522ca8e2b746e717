import { cutIntoChunks, isShort, wholeText } from "./chunking.ts";
import type { ExtractionAccount, IngestRequest } from "./document.ts";
import type { Block, ExtractedDocument } from "./extraction.ts";
import { digestOf, digestText } from "../text/extractive-summary.ts";
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

const ROOT_INDEX = -1;
const PATH_TIE = " › ";
const MAX_TITLE_CHARS = 120;

/** The same document is always planned alike. */
export function planDocument(
  documentId: string,
  document: ExtractedDocument,
  { filename, url }: Pick<IngestRequest, "filename" | "url">,
): DocumentPlan {
  const { blocks } = document;
  const [first] = blocks;
  const title = document.title ?? titleIn(blocks);
  const chunks = cutIntoChunks(blocks);
  const isSingle = isShort(blocks) || chunks.length === 1;
  const place = (
    chunkIndex: number,
    chunkCount: number,
    headings: readonly string[],
    page?: number,
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
      ...(url !== null && { url }),
    };
  };

  const account = accountOf(document, title);
  if (isSingle) {
    const content = wholeText(blocks);
    const source = place(0, 1, [], first?.page);
    const { section: _section, ...plain } = source;
    // A title that stands in the text is searched with it.
    const isInText = title === undefined || content.includes(title);
    return { strategy: "single", account, memories: [{ content, source: isInText ? plain : source }] };
  }
  const digest = digestOf(blocks, title ?? filename ?? url ?? "Untitled document");
  const { section: _section, ...rootSource } = place(ROOT_INDEX, chunks.length, [], first?.page);
  return {
    strategy: "root-child",
    account,
    memories: [
      { content: digestText(digest), source: rootSource },
      ...chunks.map(({ content, headings, page }, i) => ({
        content,
        source: place(i, chunks.length, headings, page),
      })),
    ],
  };
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
  const { kind, method, author, date, language, pages, charCount } = document;
  return {
    kind,
    method,
    ...(title !== undefined && { title }),
    ...(author !== undefined && { author }),
    ...(date !== undefined && { date }),
    ...(language !== undefined && { language }),
    ...(pages !== undefined && { pages }),
    charCount,
  };
}
