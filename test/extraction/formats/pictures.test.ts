/** Against the built worker: run `npm run build` first. */
import { afterAll, describe, expect, it } from "vitest";
import { pictureSize } from "../../../src/extraction/formats/ocr.ts";
import { openExtractor } from "../../../src/extraction/sandboxed-text-extractor.ts";
import {
  NOTE_HEIGHT,
  NOTE_JPEG,
  NOTE_WEBP,
  NOTE_WIDTH,
  noteAt,
  png,
  pngOf,
} from "../../fixtures/documents/pictures.ts";
import { writePdf } from "../../fixtures/documents/pdf-documents.ts";
import { EXTRACTION_LIMITS } from "../../support/extraction-limits.ts";

const TIMEOUT_MS = 60_000;
const extractor = openExtractor({ limits: { ...EXTRACTION_LIMITS, maxWorkingMs: 50_000 } });
afterAll(() => extractor.close());
const read = (bytes: Uint8Array) => extractor.extract({ bytes: new Uint8Array(bytes) });

const upright = png(NOTE_WIDTH, NOTE_HEIGHT, noteAt);
/** A quarter to the right. */
const turned = png(NOTE_HEIGHT, NOTE_WIDTH, (x, y) => noteAt(y, NOTE_HEIGHT - 1 - x));

describe("a picture of text", () => {
  it.each([
    ["png", upright],
    ["jpeg", NOTE_JPEG],
    ["webp", NOTE_WEBP],
    ["png", turned],
  ])(
    "is read in the sandbox, with how sure that is: %s (%#)",
    async (kind, bytes) => {
      const { chunks, ...document } = await read(bytes);
      expect(document).toMatchObject({ kind, method: "tesseract" });
      expect(document.confidence).toBeGreaterThan(0.75);
      expect(document.confidence).toBeLessThanOrEqual(1);
      const words = chunks
        .map(({ content }) => content)
        .join(" ")
        .replace(/\s+/g, " ");
      for (const part of ["spare key for plot seven", "behind the blue door", "4711", "March 2026"])
        expect(words).toContain(part);
    },
    TIMEOUT_MS,
  );

  // Noise that is the same at every run.
  const noise = (x: number, y: number) => ((x * 7_919 + y * 104_729 + ((x * y) % 251) * 31) >> 3) % 256;
  it.each([
    ["a blank page", png(600, 300, () => 255), "UNPROCESSABLE", /holds no text that can be read/],
    ["a picture without text", png(300, 200, noise), "UNPROCESSABLE", /holds no text that can be read/],
    [
      "100 megapixels",
      pngOf(10_000, 10_000, new Uint8Array(10)),
      "TOO_LARGE",
      /100 megapixels; the limit is 40/,
    ],
    ["a picture that is cut off", upright.subarray(0, 400), "UNPROCESSABLE", /damaged|no text/],
    ["only a head", upright.subarray(0, 12), "UNPROCESSABLE", /damaged or cut off/],
    ["no width", pngOf(0, 10, new Uint8Array(10)), "UNPROCESSABLE", /damaged/],
  ])(
    "is refused where it is %s, and the next is read",
    async (_, bytes, code, message) => {
      await expect(read(bytes)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    },
    TIMEOUT_MS,
  );
});

describe("a scanned PDF", () => {
  const side = png(400, 800, (x, y) => noteAt(y - 40, 400 - 1 - x - 90));
  const scan = png(800, 400, (x, y) => noteAt(x - 40, y - 90));
  it(
    "is read page by page, beside pages with text",
    async () => {
      const bytes = await writePdf((pdf) => {
        pdf.text("A typed page about herons.");
        pdf.addPage().image(scan, 0, 0, { width: 612 });
        pdf.addPage();
        pdf.addPage().image(side, 0, 0, { height: 700 });
        pdf.addPage().text("The last page is typed too.");
      });
      const { chunks, ...document } = await read(bytes);
      expect(document).toMatchObject({ kind: "pdf", pages: 5, confidence: expect.any(Number) });
      const words = chunks.map(({ content }) => content).join(" ");
      expect(words).toMatch(/typed page about herons[^]*blue door[^]*blue door[^]*last page is typed/);
    },
    TIMEOUT_MS,
  );

  it(
    "is refused where its pages are blank or too many",
    async () => {
      const blank = png(800, 400, () => 255);
      const empty = await writePdf((pdf) => pdf.image(blank, 0, 0, { width: 612 }));
      await expect(read(empty)).rejects.toMatchObject({ code: "UNPROCESSABLE" });
      const many = await writePdf((pdf) => {
        for (let n = 0; n < 26; n += 1) pdf.image(blank, 0, 0, { width: 612 }).addPage();
      });
      await expect(read(many)).rejects.toMatchObject({
        code: "TOO_LARGE",
        message: expect.stringContaining("25 scanned pages"),
      });
    },
    TIMEOUT_MS,
  );
});

it("has a size before it is decoded", () => {
  expect(pictureSize(NOTE_JPEG)).toEqual({ width: 600, height: 173 });
  expect(pictureSize(NOTE_WEBP)).toEqual({ width: 600, height: 173 });
  expect(pictureSize(upright)).toEqual({ width: NOTE_WIDTH, height: NOTE_HEIGHT });
  expect(pictureSize(Buffer.from("\xff\xd8\xff\xe0\xff\xff", "latin1"))).toBeUndefined();
  expect(pictureSize(Buffer.from("\xff\xd8\x00", "latin1"))).toBeUndefined();
});
