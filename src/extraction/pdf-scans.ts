/** Pages of a PDF that are pictures of text. */
import { tooLarge } from "../core/errors.ts";
import type { Block } from "../core/documents/extraction.ts";
import { readScan } from "./ocr.ts";

/** Reading one takes two or three seconds, and a document has 120 seconds. */
const MAX_SCANS = 25;
/** Smaller pictures are logos. */
const MIN_SIDE = 300;

/** A picture as pdf.js gives it. */
export interface PageImage {
  readonly width: number;
  readonly height: number;
  /** 1: one bit per pixel, white is 1; 2: red, green and blue; 3: those and opacity. */
  readonly kind: number;
  readonly data?: Uint8Array | Uint8ClampedArray;
}

/**
 * Reads pages without text. Where Tesseract is not installed, or with more than 25 such pages, a document that has text
 * elsewhere is answered without them, or without those beyond.
 *
 * @throws {ServiceError} UNSUPPORTED_MEDIA_TYPE, TOO_LARGE for a document without any text.
 */
export async function readScans<Page>(
  document: { getPage(number: number): Promise<Page & { cleanup(): unknown }> },
  numbers: readonly number[],
  {
    hasText,
    imageOf,
  }: { readonly hasText: boolean; readonly imageOf: (page: Page) => Promise<Uint8Array | undefined> },
): Promise<{ readonly scanned: Block[]; readonly confidence: number | undefined }> {
  const scanned: Block[] = [];
  const confidences: number[] = [];
  let scans = 0;
  for (const number of numbers) {
    const page = await document.getPage(number);
    const picture = await imageOf(page).catch(() => undefined);
    page.cleanup();
    if (picture === undefined) continue;
    scans += 1;
    if (scans > MAX_SCANS) {
      if (hasText) break;
      const message = `The PDF has more than ${MAX_SCANS} scanned pages. Send it in parts.`;
      throw tooLarge(message);
    }
    try {
      const found = await readScan(picture);
      if (found === undefined) continue;
      confidences.push(found.confidence / 100);
      scanned.push(...found.blocks.map((block) => ({ ...block, page: number })));
    } catch (error) {
      if (!hasText) throw error;
      break;
    }
  }
  const sum = confidences.reduce((total, each) => total + each, 0);
  return { scanned, confidence: sum === 0 ? undefined : Math.round((sum / confidences.length) * 100) / 100 };
}

/** A picture in a format of Netpbm; undefined for one that is too small for a page, or has no pixels. */
export function asNetpbm({ width, height, kind, data }: PageImage): Uint8Array | undefined {
  if (data === undefined || Math.min(width, height) < MIN_SIDE) return undefined;
  const head = (format: string) =>
    Buffer.from(`${format}\n${width} ${height}\n${format === "P4" ? "" : "255\n"}`);
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.length);
  if (kind === 1) return Buffer.concat([head("P4"), bytes.map((byte) => byte ^ 0xff)]);
  if (kind === 2) return Buffer.concat([head("P6"), bytes]);
  const colours = Buffer.alloc(width * height * 3);
  for (let from = 0, to = 0; to < colours.length; from += 4, to += 3)
    colours.set(bytes.subarray(from, from + 3), to);
  return Buffer.concat([head("P6"), colours]);
}
