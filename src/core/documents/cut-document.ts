import { cutIntoChunks, isShort, wholeText } from "./chunking.ts";
import { cutSpeech } from "./cut-speech.ts";
import type { Block, CutDocument, ExtractedDocument } from "./extraction.ts";
import { digestOf } from "../text/extractive-summary.ts";

/**
 * Cuts a document into chunks. The same document is always cut alike.
 *
 * Cost: linear in the text, but over a second for the largest: never run it in the main thread.
 */
export function cutDocument({ blocks, ...document }: ExtractedDocument): CutDocument {
  const title = document.title ?? titleIn(blocks);
  const titled = { ...document, ...(title !== undefined && { title }) };
  if (blocks[0]?.startMs !== undefined) return { ...titled, ...cutRecording(blocks) };
  const chunks = cutIntoChunks(blocks);
  if (isShort(blocks) || chunks.length === 1) {
    const page = blocks[0]?.page;
    const whole = { content: wholeText(blocks), headings: [], ...(page !== undefined && { page }) };
    return { ...titled, chunks: [whole] };
  }
  return { ...titled, chunks, digest: digestOf(blocks, title ?? "") };
}

/** Even short speech is kept as chunks, so that it is cited to the second. */
function cutRecording(blocks: readonly Block[]): Pick<CutDocument, "chunks" | "digest"> {
  const chunks = cutSpeech(blocks).map((chunk) => ({ ...chunk, headings: [] }));
  if (chunks.length === 1) return { chunks };
  // Sentences of speech may begin in one block and end in another.
  const running = chunks.map(({ content }) => ({ type: "paragraph", text: content }) as const);
  return { chunks, digest: digestOf(running, "") };
}

/** The first heading, where all other headings are below it. */
function titleIn(blocks: readonly Block[]): string | undefined {
  const [first] = blocks;
  if (first?.type !== "heading") return undefined;
  const { level = 1 } = first;
  const isAlone = blocks.every(
    (block, i) => i === 0 || block.type !== "heading" || (block.level ?? 1) > level,
  );
  return isAlone ? first.text : undefined;
}
