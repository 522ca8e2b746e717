/** Against the built worker: run `npm run build` first. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type {
  ExtractionLimits,
  ExtractionProgress,
  TextExtractor,
} from "../../src/core/documents/extraction.ts";
import { openExtractor } from "../../src/extraction/sandboxed-text-extractor.ts";
import { nestedPage } from "../fixtures/documents/html-documents.ts";
import { longPdf, reportPdf } from "../fixtures/documents/pdf-documents.ts";
import { inflatingPdf } from "../fixtures/documents/raw-pdf.ts";
import { EXTRACTION_LIMITS } from "../support/extraction-limits.ts";
import { bareDocx } from "../fixtures/documents/bare-docx.ts";

const UNRULY = resolve(import.meta.dirname, "../fixtures/unruly-extraction-worker.js");
const text = (words: string) => new TextEncoder().encode(words);

interface OpenOptions {
  readonly limits?: Partial<ExtractionLimits>;
  readonly workerFile?: string;
}

const opened: TextExtractor[] = [];
function open({ limits = {}, ...options }: OpenOptions = {}): TextExtractor {
  const extractor = openExtractor({ ...options, limits: { ...EXTRACTION_LIMITS, ...limits } });
  opened.push(extractor);
  return extractor;
}
afterEach(async () => {
  await Promise.all(opened.splice(0).map((extractor) => extractor.close()));
});

describe("openExtractor", () => {
  it("reads bytes and files, one after the other, and tells how far it is", async () => {
    const folder = await mkdtemp(join(tmpdir(), "memoryd-extraction-"));
    try {
      const path = join(folder, "spooled");
      const bytes = await longPdf(5);
      await writeFile(path, bytes);
      const extractor = open();
      const progress: ExtractionProgress[] = [];
      const [fromFile, fromBytes] = await Promise.all([
        extractor.extract({ bytes: { path } }, { onProgress: (step) => progress.push(step) }),
        extractor.extract({ bytes, filename: "log.pdf" }),
      ]);
      expect(fromFile).toEqual(fromBytes);
      expect(fromFile).toMatchObject({ kind: "pdf", pages: 5 });
      expect(progress).toContainEqual({ stage: "reading", done: bytes.length, total: bytes.length });
      expect(progress.at(-1)).toEqual({ stage: "extracting", done: 5, total: 5 });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("hands over texts larger than a message, whole and in order", async () => {
    const lines = Array.from({ length: 20_000 }, (_, n) => `Paragraph ${n} of many.`);
    const { chunks } = await open().extract({ bytes: text(lines.join("\n\n")) });
    expect(chunks.flatMap(({ content }) => content.split("\n\n"))).toEqual(lines);
  });

  it("refuses what is larger than allowed before it reads it", async () => {
    const extraction = open({ limits: { maxBytes: 10 } }).extract({ bytes: text("more than ten") });
    await expect(extraction).rejects.toMatchObject({
      code: "TOO_LARGE",
      message: expect.stringContaining("the limit is 10"),
    });
  });

  it("stops at the signal, waiting or working, and goes on with the next", async () => {
    const extractor = open({ workerFile: UNRULY });
    const [first, second] = [new AbortController(), new AbortController()];
    const working = extractor.extract({ bytes: text("x"), filename: "sleep" }, { signal: first.signal });
    const waiting = extractor.extract({ bytes: text("x"), filename: "answer" }, { signal: second.signal });
    const next = extractor.extract({ bytes: text("x"), filename: "answer" });
    second.abort(new Error("second"));
    await expect(waiting).rejects.toThrow("second");
    first.abort(new Error("first"));
    await expect(working).rejects.toThrow("first");
    expect((await next).chunks).toHaveLength(1);
  });

  it("reads a small document while a large one takes its time", async () => {
    const extractor = open({ workerFile: UNRULY });
    const controller = new AbortController();
    const large = extractor.extract(
      { bytes: new Uint8Array(100_000), filename: "sleep" },
      { signal: controller.signal },
    );
    expect((await extractor.extract({ bytes: text("x"), filename: "answer" })).chunks).toHaveLength(1);
    controller.abort(new Error("enough"));
    await expect(large).rejects.toThrow("enough");
  });

  it("keeps its process while all goes well, and gives it up after fifty", async () => {
    const extractor = open({ workerFile: UNRULY });
    const pids: string[] = [];
    for (let n = 0; n < 51; n += 1) {
      const { chunks } = await extractor.extract({ bytes: text("x"), filename: "answer" });
      pids.push(chunks[0]?.content ?? "");
    }
    expect(new Set(pids.slice(0, 50)).size).toBe(1);
    expect(pids[50]).not.toBe(pids[0]);
  });

  it("leaves nothing behind and refuses everything once closed", async () => {
    const extractor = open({ workerFile: UNRULY });
    const running = extractor.extract({ bytes: text("x"), filename: "sleep" });
    const refused = running.catch((reason: unknown) => reason);
    await extractor.close();
    expect(await refused).toMatchObject({ code: "NOT_READY" });
    await expect(extractor.extract({ bytes: text("x") })).rejects.toMatchObject({ code: "NOT_READY" });
  });

  it("says that the program was not built", async () => {
    await expect(open({ workerFile: "/nowhere.js" }).extract({ bytes: text("x") })).rejects.toThrow(
      /npm run build/,
    );
  });
});

describe("a worker that breaks down", () => {
  const limits = { maxWorkingMs: 500, maxResidentBytes: 300_000_000 };

  it.each([
    ["crash", "UNPROCESSABLE", /failed on this one/],
    ["exit", "UNPROCESSABLE", /failed on this one/],
    ["hang", "TOO_LARGE", /more than 500 ms of work/],
    ["objects", "TOO_LARGE", /more than 300000000 bytes of memory/],
    ["buffers", "TOO_LARGE", /more than 300000000 bytes of memory/],
  ])("%s: is an error of this document, and the next is read", async (deed, code, message) => {
    // Objects and buffers take time too: the memory is to run out first.
    const extractor = open({
      workerFile: UNRULY,
      limits: deed === "hang" ? limits : { ...limits, maxWorkingMs: 60_000 },
    });
    const broken = extractor.extract({ bytes: text("x"), filename: deed });
    await expect(broken).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    expect((await extractor.extract({ bytes: text("x"), filename: "answer" })).chunks).toHaveLength(1);
  });
});

describe("a hostile document", () => {
  it.each([
    ["a PDF that inflates to 2 GB", () => inflatingPdf(2_000), {}, /TOO_LARGE|UNPROCESSABLE/],
    [
      "a DOCX that inflates past the limit",
      () => bareDocx(" ".repeat(50_000_000)),
      { maxInflatedBytes: 10_000_000 },
      /TOO_LARGE/,
    ],
    [
      "a DOCX of 100 000 nested tables",
      () => bareDocx("<w:tbl><w:tr><w:tc>".repeat(100_000)),
      {},
      /UNPROCESSABLE/,
    ],
    ["a page of 100 000 nested elements", () => text(nestedPage(100_000, "x")), {}, /UNPROCESSABLE/],
    [
      "a page that takes too long",
      () => text(`<html>${"<p><b><table><td>x".repeat(200_000)}`),
      { maxWorkingMs: 300 },
      /TOO_LARGE|UNPROCESSABLE/,
    ],
    [
      "noise in a PDF's clothes",
      () => text(`%PDF-1.4\n${"<< /A [ ".repeat(50_000)}\nstartxref\n9\n%%EOF`),
      {},
      /UNPROCESSABLE/,
    ],
  ])("%s: ends in a clear error, and the next is read", async (_, make, limits, code) => {
    const extractor = open({ limits: { maxResidentBytes: 500_000_000, ...limits } });
    const error: unknown = await extractor.extract({ bytes: make() }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: "ServiceError", code: expect.stringMatching(code) });
    expect(await extractor.extract({ bytes: text("Still here.") })).toMatchObject({ charCount: 11 });
  });

  it("has no message that holds its words", async () => {
    const marker = "XYZZYMARKER";
    const documents = [`%PDF-1.4 ${marker} startxref`, `<html>${marker}`, `PK\x03\x04${marker}`];
    for (const document of documents) {
      const error: unknown = await open({ limits: { maxChars: 5 } })
        .extract({ bytes: text(document) })
        .catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(Error);
      expect(`${String(error)} ${String((error as Error).cause)}`).not.toContain(marker);
    }
  });

  it("is read beside a report without a trace in it", async () => {
    const extractor = open();
    await expect(extractor.extract({ bytes: text("%PDF-") })).rejects.toThrow(/cut off/);
    expect(await extractor.extract({ bytes: await reportPdf() })).toMatchObject({ pages: 6 });
  });
});
