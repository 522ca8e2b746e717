import { cutDocument } from "../../src/core/documents/cut-speech.ts";
import type { Block, ExtractedDocument, TextExtractor } from "../../src/core/documents/extraction.ts";
import { ServiceError } from "../../src/core/errors.ts";
import { extractDocument } from "../../src/extraction/extract-document.ts";
import { EXTRACTION_LIMITS } from "./extraction-limits.ts";

/** Reads plain text: "# heading" lines and paragraphs; "[page n]" lines begin a page. */
export function createFakeExtractor(
  files: { readonly contents: ReadonlyMap<string, Uint8Array> },
  {
    begun = () => {},
    held = () => undefined,
  }: {
    /** Told of each document. */
    readonly begun?: () => void;
    /** What an extraction waits for. */
    readonly held?: () => Promise<void> | undefined;
  } = {},
): Pick<TextExtractor, "extract" | "checkClaim"> {
  return {
    checkClaim: checkFakeClaim,
    async extract({ bytes, ...claims }, { signal, onProgress } = {}) {
      signal?.throwIfAborted();
      begun();
      // Subtitles in a recording.
      if (bytes instanceof Uint8Array)
        return cutDocument(await extractDocument(bytes, claims, EXTRACTION_LIMITS));
      const text = Buffer.from(files.contents.get(bytes.path) ?? []).toString();
      onProgress?.({ stage: "extracting", done: 0, total: 1 });
      const aborted = new Promise((_, reject) =>
        signal?.addEventListener("abort", () => reject(signal.reason as Error), { once: true }),
      );
      await Promise.race([held(), aborted.catch(() => {})]);
      signal?.throwIfAborted();
      checkFakeClaim(claims);
      if (text.includes("\u0000")) throw new ServiceError("UNSUPPORTED_MEDIA_TYPE", "not a document");
      if (text.includes("BUG")) throw new TypeError("a bug");
      if (text.trim() === "") throw new ServiceError("UNPROCESSABLE", "no text");
      return cutDocument(extracted(text));
    },
  };
}

/** All that is read is plain text. */
function checkFakeClaim({ claimedType = "txt" }: { readonly claimedType?: string }): void {
  if (!/^(?:txt|md|text\/.*)$/.test(claimedType))
    throw new ServiceError("UNSUPPORTED_MEDIA_TYPE", "It is text.");
}

function extracted(text: string): ExtractedDocument {
  let page: number | undefined;
  const blocks: Block[] = text.split("\n").flatMap((line): Block[] => {
    const start = /^\[page (\d+)\]$/.exec(line);
    if (start !== null) page = Number(start[1]);
    if (start !== null || line.trim() === "") return [];
    const heading = /^(#+) (.*)/.exec(line);
    const at = page === undefined ? {} : { page };
    if (heading === null) return [{ type: "paragraph", text: line, ...at }];
    return [{ type: "heading", text: heading[2] ?? "", level: heading[1]?.length ?? 1, ...at }];
  });
  return { kind: "txt", mediaType: "text/plain", method: "plain-text", charCount: text.length, blocks };
}
