import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { type ServiceError, tooLarge, unprocessable } from "../../core/errors.ts";
import type { Block, ExtractionLimits } from "../../core/documents/extraction.ts";
import { cleanField, cleanLanguage, type ReadDocument, tooMuchText } from "./clean-text.ts";
import { blocksOfPdf, headingKey } from "./pdf-blocks.ts";
import { regionsOf, type Row, rowsOfPage, type TextRun } from "./pdf-lines.ts";
import { withoutFurniture } from "./pdf-furniture.ts";
import { MAX_PIXELS, asNetpbm, type PageImage, readScan } from "./ocr.ts";

type Pdfjs = Awaited<ReturnType<typeof loadPdfjs>>;
type PdfDocument = Awaited<ReturnType<Pdfjs["getDocument"]>["promise"]>;
type PdfPage = Awaited<ReturnType<PdfDocument["getPage"]>>;

/** pdf.js's worker, which has no types. */
const WORKER: string = "pdfjs-dist/legacy/build/pdf.worker.mjs";
/** The pointer to the cross-reference table stands in these last bytes. */
const TAIL_BYTES = 65_536;
/** The assumed size of text in a field, in points. */
const FIELD_SIZE = 10;
const MAX_OUTLINE_ITEMS = 10_000;
/** Reading one takes two or three seconds, and a document has 120 seconds. */
const MAX_SCANS = 25;

/**
 * The text of a PDF, page by page, in reading order.
 *
 * `onPage` is called after each page. `bytes` are used up.
 * @throws {ServiceError} UNPROCESSABLE: encrypted, cut off, damaged, or without text (a scan). TOO_LARGE.
 */
export async function readPdf(
  bytes: Uint8Array,
  limits: ExtractionLimits,
  onPage: (done: number, total: number) => void,
): Promise<ReadDocument> {
  const tail = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).subarray(-TAIL_BYTES);
  if (!tail.includes("startxref")) throw damaged("The PDF is cut off. Get it again.");

  const pdfjs = await loadPdfjs();
  const document = await open(pdfjs, bytes);
  const pages = document.numPages;
  if (pages > limits.maxPages)
    throw tooLarge(`The PDF has ${pages} pages; the limit is ${limits.maxPages}. Send it in parts.`);
  const rows: Row[][] = [];
  let chars = 0;
  for (let number = 1; number <= pages; number += 1) {
    const runs = await runsOfPage(pdfjs, document, number);
    for (const run of runs) chars += run.str.length;
    if (chars > limits.maxChars) throw tooMuchText(limits);
    rows.push(rowsOfPage(runs));
    onPage(number, pages);
  }
  const isTyped = rows.map((page) => page.flat().some((segment) => /[\p{L}\p{N}]/u.test(segment.text)));
  const hasText = isTyped.includes(true);
  const untyped = isTyped.flatMap((has, i) => (has ? [] : [i + 1]));
  const { scanned, confidence } = await readScans(pdfjs, document, untyped, hasText);
  if (!hasText && scanned.length === 0) throw withoutText(pages);

  const outline = await outlineOf(document);
  const kept = withoutFurniture(rows, outline).map((page, n) => ({ page: n + 1, regions: regionsOf(page) }));
  const typed = blocksOfPdf(kept, outline);
  const blocks = [...typed, ...scanned].sort((a, b) => (a.page ?? 0) - (b.page ?? 0));
  return { blocks, pages, confidence, ...(await metadataOf(document, blocks)) };
}

/**
 * pdf.js without a canvas and without a worker of its own.
 *
 * It asks for these classes when it is imported, though reading text never uses them; without them it looks for a native
 * canvas. Its worker's code, put where it looks first, runs in this thread.
 */
async function loadPdfjs() {
  const scope = globalThis as Record<string, unknown>;
  for (const name of ["DOMMatrix", "Path2D", "ImageData"]) scope[name] ??= function unused() {};
  scope["pdfjsWorker"] ??= await import(WORKER);
  return import("pdfjs-dist/legacy/build/pdf.mjs");
}

async function open(pdfjs: Pdfjs, data: Uint8Array): Promise<PdfDocument> {
  const root = dirname(createRequire(import.meta.url).resolve("pdfjs-dist/package.json"));
  try {
    return await pdfjs.getDocument({
      data,
      cMapUrl: `${join(root, "cmaps")}/`,
      standardFontDataUrl: `${join(root, "standard_fonts")}/`,
      isEvalSupported: false,
      useSystemFonts: false,
      disableFontFace: true,
      useWorkerFetch: false,
      useWasm: false,
      maxImageSize: MAX_PIXELS,
      isOffscreenCanvasSupported: false,
      isImageDecoderSupported: false,
      verbosity: 0,
    }).promise;
  } catch (error) {
    if (error instanceof Error && error.name === "PasswordException")
      throw unprocessable("The PDF is encrypted. Save it without a password and send that.", {
        cause: error,
      });
    throw damaged("The PDF is damaged. Open it in a viewer and print or save it again.", error);
  }
}

/**
 * Reads pages without text. Where Tesseract is not installed, or with more than 25 such pages, a document that has text
 * elsewhere is answered without them, or without those beyond.
 * @throws {ServiceError} UNSUPPORTED_MEDIA_TYPE, TOO_LARGE for a document without any text.
 */
async function readScans(pdfjs: Pdfjs, document: PdfDocument, numbers: readonly number[], hasText: boolean) {
  const scanned: Block[] = [];
  const confidences: number[] = [];
  let scans = 0;
  try {
    for (const number of numbers) {
      const page = await document.getPage(number);
      const picture = await scanOf(pdfjs, page).catch(() => undefined);
      page.cleanup();
      if (picture === undefined) continue;
      scans += 1;
      if (scans > MAX_SCANS)
        throw tooLarge(`The PDF has more than ${MAX_SCANS} scanned pages. Send it in parts.`);
      const found = await readScan(picture);
      if (found === undefined) continue;
      confidences.push(found.confidence / 100);
      scanned.push(...found.blocks.map((block) => ({ ...block, page: number })));
    }
  } catch (error) {
    if (!hasText) throw error;
  }
  const sum = confidences.reduce((total, each) => total + each, 0);
  return { scanned, confidence: sum === 0 ? undefined : Math.round((sum / confidences.length) * 100) / 100 };
}

/** The largest picture of a page without text; undefined where it has none of the size of a scan. */
async function scanOf({ OPS }: Pdfjs, page: PdfPage): Promise<Uint8Array | undefined> {
  const { fnArray, argsArray } = await page.getOperatorList();
  const images = fnArray.flatMap((operator, i): PageImage[] => {
    const [first] = (argsArray[i] ?? []) as unknown[];
    if (operator === OPS.paintInlineImageXObject) return [first as PageImage];
    if (operator !== OPS.paintImageXObject || typeof first !== "string") return [];
    const image = (first.startsWith("g_") ? page.commonObjs : page.objs).get(first) as PageImage | null;
    return image === null ? [] : [image];
  });
  const [largest] = images.sort((a, b) => b.width * b.height - a.width * a.height);
  return largest === undefined ? undefined : asNetpbm(largest);
}

async function runsOfPage({ OPS }: Pdfjs, document: PdfDocument, number: number): Promise<TextRun[]> {
  try {
    const page = await document.getPage(number);
    const { items, styles } = await page.getTextContent();
    const fields: unknown[] = await page.getAnnotations();
    const filled = fields.flatMap((field) => runOfField(field as FormField) ?? []);
    const runs = items.flatMap((item) => {
      if (!("str" in item)) return [];
      const { str, dir, width, transform, fontName } = item;
      const style = styles[fontName];
      const isMono = style?.fontFamily === "monospace";
      return [
        { str, dir, width, transform: transform as number[], isVertical: style?.vertical === true, isMono },
      ];
    });
    const edge = page.view[2] ?? Number.POSITIVE_INFINITY;
    const whole = runs.some((run) => isAtEdge(run, edge))
      ? withTextBehindEdge(runs, edge, await page.getOperatorList(), OPS)
      : runs;
    page.cleanup();
    return [...whole, ...filled];
  } catch (cause) {
    throw damaged(
      `Page ${number} of the PDF is damaged. Open it in a viewer and print or save it again.`,
      cause,
    );
  }
}

/** The part of pdf.js's annotation that is used. */
interface FormField {
  readonly subtype?: string;
  readonly fieldType?: string;
  readonly fieldValue?: unknown;
  readonly hidden?: boolean;
  readonly rect?: readonly number[];
}

/** The text of a filled form field, which is no part of the page's own text. */
function runOfField({ subtype, fieldType, fieldValue, hidden, rect }: FormField): TextRun | undefined {
  const value: unknown = Array.isArray(fieldValue) ? fieldValue.join(", ") : fieldValue;
  const isText = fieldType === "Tx" || fieldType === "Ch";
  if (subtype !== "Widget" || !isText || hidden === true || typeof value !== "string") return undefined;
  const [left = 0, bottom = 0, right = 0] = rect ?? [];
  const transform = [FIELD_SIZE, 0, 0, FIELD_SIZE, left, bottom + FIELD_SIZE / 4];
  return { str: value, dir: "ltr", transform, width: right - left, isVertical: false, isMono: false };
}

/** The level of each heading of the document's outline, by its key. */
async function outlineOf(document: PdfDocument): Promise<Map<string, number>> {
  const levels = new Map<string, number>();
  // A damaged outline costs no text.
  const outline = await document.getOutline().catch(() => []);
  type Items = NonNullable<typeof outline>;
  const add = (items: Items, level: number) => {
    for (const item of items) {
      const key = headingKey(item.title);
      if (levels.size < MAX_OUTLINE_ITEMS && /\p{L}{2}/u.test(key) && !levels.has(key))
        levels.set(key, level);
      if (level < 6) add(item.items as Items, level + 1);
    }
  };
  add(outline ?? [], 1);
  return levels;
}

async function metadataOf(document: PdfDocument, blocks: readonly Block[]) {
  const { info, metadata } = await document.getMetadata().catch(() => ({ info: {}, metadata: null }));
  const fields = info as Readonly<Record<string, unknown>>;
  const xmp = (name: string): unknown => {
    const value: unknown = metadata?.get(name);
    return Array.isArray(value) ? value.join(", ") : value;
  };
  const title = realTitle(cleanField(fields["Title"])) ?? realTitle(cleanField(xmp("dc:title")));
  const [date, saved] = [pdfDate(fields["CreationDate"]), pdfDate(fields["ModDate"])];
  const topHeading = blocks.slice(0, 10).find((block) => block.type === "heading" && block.page === 1);
  return {
    title: title ?? topHeading?.text,
    author: cleanField(fields["Author"]) ?? cleanField(xmp("dc:creator")),
    date: date ?? saved,
    occurredAt: saved ?? date,
    language: cleanLanguage(fields["Language"]) ?? cleanLanguage(xmp("dc:language")),
  };
}

/** Programs put file names and placeholders in the title. */
function realTitle(title: string | undefined): string | undefined {
  if (
    title === undefined ||
    /^(?:untitled|document\d*|title|no title|\(anonymous\)|unspecified)$/i.test(title)
  )
    return undefined;
  const name = title.replace(/^Microsoft (?:Word|PowerPoint|Excel)\s*-\s*/i, "");
  return /\.(?:docx?|pptx?|xlsx?|dvi|indd|tex|odt|rtf|qxd|pdf|pmd|fm)$/i.test(name) ? undefined : name;
}

/** `D:20250208122313+02'00'` (ISO 32000-1, 7.9.4). */
function pdfDate(value: unknown): number | undefined {
  const match = /^(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:([+-])(\d\d)'?(\d\d)?)?/.exec(
    String(value),
  );
  if (match === null) return undefined;
  const part = (n: number, otherwise: number) => Number(match[n] ?? otherwise);
  const local = Date.UTC(part(1, 0), part(2, 1) - 1, part(3, 1), part(4, 0), part(5, 0), part(6, 0));
  const offset = (match[7] === "-" ? -1 : 1) * (part(8, 0) * 60 + part(9, 0)) * 60_000;
  return part(1, 0) >= 1900 ? local - offset : undefined;
}

function withoutText(pages: number): ServiceError {
  const what = pages === 1 ? "The page of the PDF holds" : `The ${pages} pages of the PDF hold`;
  return unprocessable(
    `${what} no text, and no scan that can be read. Add the text by other character recognition (OCRmyPDF, for one).`,
  );
}

const damaged = (message: string, cause?: unknown) => unprocessable(message, { cause });

/** Operators of a page with their arguments, by pdf.js's numbers. */
interface PageOperators {
  readonly fnArray: readonly number[];
  readonly argsArray: readonly unknown[];
}

/** A space between glyphs in thousandths of the font's size, from which on it parts words. */
const WORD_SPACE = 200;
/** A shorter run may stand anywhere in the operators. */
const MIN_RUN_CHARS = 4;

/** Whether a run ends at the edge, as one that goes on behind it does. */
const isAtEdge = ({ transform: [a = 1, b = 0, , , x = 0], width }: TextRun, edge: number): boolean =>
  b === 0 && a > 0 && x < edge && x + width > edge - a;

/**
 * The runs, those at the right edge with the rest of their lines. Lines that begin behind the edge stay left out. Runs come in the
 * order of the operators, so each is looked for behind the one before.
 */
function withTextBehindEdge<Run extends TextRun>(
  runs: readonly Run[],
  edge: number,
  operators: PageOperators,
  names: Readonly<Record<string, number>>,
): Run[] {
  const written = linesIn(operators, names).join("\n");
  // The characters that are no spaces, and their places.
  const solid = written.replace(/\s+/g, "");
  const places = Array.from(written.matchAll(/\S/g), ({ index }) => index);
  let end = 0;
  const found = runs.map(({ str }) => {
    const text = str.replace(/\s+/g, "");
    const start = text === "" ? -1 : solid.indexOf(text, end);
    const isSure = start === end || text.length >= MIN_RUN_CHARS;
    if (start >= 0) end = start + text.length;
    return { start, end: start >= 0 && isSure ? end : -1 };
  });
  return runs.map((run, i) => {
    const after = found[i]?.end ?? -1;
    if (after < 0 || !isAtEdge(run, edge)) return run;
    const next = found.slice(i + 1).find(({ start }) => start >= 0)?.start ?? places.length;
    const rest = written.slice((places[after - 1] ?? 0) + 1, places[next] ?? written.length);
    return { ...run, str: run.str + (rest.split("\n", 1)[0] ?? "").trimEnd() };
  });
}

/** The lines of text that a page's operators write. */
function linesIn({ fnArray, argsArray }: PageOperators, names: Readonly<Record<string, number>>): string[] {
  const lines = [""];
  const breaks = new Set([names["setTextMatrix"], names["nextLine"], names["beginText"]]);
  const moves = new Set([names["moveText"], names["setLeadingMoveText"]]);
  for (const [i, operator] of fnArray.entries()) {
    const args = argsArray[i] as readonly unknown[] | null;
    if (breaks.has(operator) || (moves.has(operator) && args?.[1] !== 0)) lines.push("");
    else if (operator === names["showText"]) lines.push((lines.pop() ?? "") + textOf(args?.[0]));
  }
  return lines;
}

function textOf(glyphs: unknown): string {
  if (!Array.isArray(glyphs)) return "";
  return glyphs
    .map((glyph: unknown) => {
      if (typeof glyph === "number") return glyph < -WORD_SPACE ? " " : "";
      const { unicode } = (glyph ?? {}) as { unicode?: unknown };
      return typeof unicode === "string" ? unicode : "";
    })
    .join("");
}
