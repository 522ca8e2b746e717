import { tooLarge, unprocessable } from "../core/errors.ts";
import type {
  DocumentClaims,
  ExtractedDocument,
  ExtractionLimits,
  TextKind,
} from "../core/documents/extraction.ts";
import { illegible, withoutData } from "../core/text/legible.ts";
import { claimedCharset, kindOf, mediaTypeOf } from "./document-kind.ts";
import { isCards, readCards } from "./formats/cards.ts";
import { plainTextBlocks, type ReadDocument, tooMuchText } from "./formats/clean-text.ts";
import { readSubtitles } from "./formats/subtitles.ts";
import { extensionOf, TEXT_EXTENSIONS } from "../files/file-kinds.ts";
import { declaredInMarkup, decode, type Decoded } from "../files/text-decoding.ts";

type Found = ReadDocument & { readonly method: string };

/** The tree of elements of a larger page passes the process's memory. */
const MAX_HTML_BYTES = 20_000_000;

/**
 * Reads a document in this process, which for untrusted bytes must be the sandboxed one. `bytes` are used up. `onProgress`
 * gets pages of a PDF; for other kinds only the end.
 * @throws {ServiceError} as `TextExtractor.extract`; anything else is a parser's failure.
 */
export async function extractDocument(
  bytes: Uint8Array,
  claims: DocumentClaims,
  limits: ExtractionLimits,
  onProgress: (done: number, total: number) => void = () => undefined,
): Promise<ExtractedDocument> {
  const kind = await kindOf(bytes, claims);
  const found = await read(kind, bytes, claims, limits, onProgress);
  const charCount = found.blocks.reduce((total, block) => total + block.text.length, 0);
  if (charCount > limits.maxChars) throw tooMuchText(limits);
  if (!found.blocks.some((block) => /[\p{L}\p{N}\p{S}]/u.test(block.text)))
    throw unprocessable("The document holds no text.");
  if (kind !== "pdf") onProgress(1, 1);
  const { blocks, method, ...metadata } = found;
  const present = Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== undefined));
  return { kind, mediaType: mediaTypeOf(kind), method, ...present, charCount, blocks };
}

async function read(
  kind: TextKind,
  bytes: Uint8Array,
  claims: DocumentClaims,
  limits: ExtractionLimits,
  onProgress: (done: number, total: number) => void,
): Promise<Found> {
  const charset = claimedCharset(claims.claimedType);
  // Each parser is loaded with the first document of its kind: all together take half a second.
  switch (kind) {
    case "pdf":
      return by("pdf.js", (await import("./formats/pdf.ts")).readPdf(bytes, limits, onProgress));
    case "docx":
      return by("mammoth", (await import("./formats/docx.ts")).readDocx(bytes, limits));
    case "xlsx":
      return by("workbook", (await import("./formats/workbook.ts")).readWorkbook(bytes, limits));
    case "pptx":
      return by("slides", (await import("./formats/slides.ts")).readSlides(bytes, limits));
    case "epub":
      return by("epub", (await import("./formats/epub.ts")).readEpub(bytes, limits));
    case "odt":
    case "ods":
    case "odp":
      return by("opendocument", (await import("./formats/open-document.ts")).readOpenDocument(bytes, limits));
    case "rtf": {
      const { readRichText } = await import("./formats/rich-text.ts");
      if (bytes.length > limits.maxInflatedBytes) throw tooMuchText(limits);
      return { method: "rtf", ...readRichText(Buffer.from(bytes).toString("latin1")) };
    }
    case "png":
    case "jpeg":
    case "webp":
      return by("tesseract", (await import("./formats/ocr.ts")).readPicture(bytes));
    case "eml":
      return by("postal-mime", (await import("./formats/mail.ts")).readMail(bytes));
    case "mhtml":
      return (await import("./formats/mail.ts")).readSavedPage(bytes);
    case "ipynb": {
      const { readNotebook } = await import("./formats/markdown.ts");
      return { method: "notebook", ...readNotebook(textWithin(bytes, charset, limits).text) };
    }
    case "html": {
      if (bytes.length > MAX_HTML_BYTES)
        throw tooLarge(`The page has more than ${MAX_HTML_BYTES} bytes. Send it in parts.`);
      const { readHtml } = await import("./formats/html.ts");
      const page = decode(bytes, charset ?? declaredInMarkup(bytes));
      return withGuess(page, readHtml(page.text, claims.url));
    }
    case "md": {
      const { readMarkdown } = await import("./formats/markdown.ts");
      const note = textWithin(bytes, charset, limits);
      return withGuess(note, { method: "marked", ...readMarkdown(legible(note.text), nameOf(claims)) });
    }
    case "srt":
    case "vtt": {
      const lines = textWithin(bytes, charset, limits);
      const subtitles = readSubtitles(lines.text);
      if (subtitles.blocks.length === 0)
        throw unprocessable("The file holds no subtitles: texts below a line with their times.");
      return withGuess(lines, { method: "subtitles", ...subtitles });
    }
    case "txt": {
      const plain = textWithin(bytes, charset ?? declaredInXml(bytes), limits);
      if (isCards(plain.text)) return withGuess(plain, { method: "plain-text", ...readCards(plain.text) });
      const text = legible(withLetters(plain.text));
      const extension = extensionOf(claims.filename ?? "");
      const [type = ""] = (claims.claimedType ?? "").split(";");
      if (/^(?:csv|tsv)$/.test(extension) || /(?:csv|tsv|tab-separated-values)\s*$/i.test(type)) {
        const { readTable } = await import("./formats/workbook.ts");
        const blocks = readTable(text);
        if (blocks !== undefined) return withGuess(plain, { method: "table", blocks });
      }
      const areLinesMeant = TEXT_EXTENSIONS.has(extension) && !/^(?:rst|adoc|org|tex)$/.test(extension);
      return withGuess(plain, { method: "plain-text", blocks: plainTextBlocks(text, areLinesMeant) });
    }
  }
}

const by = async (method: string, reading: Promise<ReadDocument>): Promise<Found> => ({
  method,
  ...(await reading),
});

/** The text of a part of JSON whose letters are written as numbers. */
const withLetters = (text: string): string =>
  /^\s*[[{]/.test(text)
    ? text.replace(
        /(?<!\\)((?:\\\\)*)\\u((?!00[0-9])[\da-f]{4})/gi,
        (_, before: string, code: string) => before + String.fromCharCode(Number.parseInt(code, 16)),
      )
    : text;

/** The encoding that XML of any kind declares. */
const declaredInXml = (bytes: Uint8Array): string | undefined =>
  Buffer.from(bytes.subarray(0, 5)).toString("latin1") === "<?xml" ? declaredInMarkup(bytes) : undefined;

/** The text, without data in it. @throws {ServiceError} UNPROCESSABLE for one that is hardly one for people. */
function legible(whole: string): string {
  const text = withoutData(whole);
  const what = illegible(text);
  if (what === undefined) return text;
  throw unprocessable(
    `The document is mostly ${what} and holds hardly any text. Send the text that it was made from.`,
  );
}

const nameOf = ({ filename = "" }: DocumentClaims): string =>
  filename.replace(/^.*[/\\]/, "").replace(/\.[^.]*$/, "");

function textWithin(bytes: Uint8Array, charset: string | undefined, limits: ExtractionLimits): Decoded {
  // No encoding takes more than four bytes per character.
  if (bytes.length > limits.maxChars * 4) throw tooMuchText(limits);
  return decode(bytes, charset);
}

/** Says in which encoding a text was read, where that was guessed. */
function withGuess({ guess }: Decoded, found: Found): Found {
  if (guess === undefined) return found;
  const { encoding, confidence } = guess;
  return { ...found, method: `${found.method}, ${encoding}`, encoding, confidence };
}
