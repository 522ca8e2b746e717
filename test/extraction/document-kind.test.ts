import { describe, expect, it } from "vitest";
import { checkClaim, claimedCharset, kindOf } from "../../src/extraction/document-kind.ts";
import { bareDocx } from "../fixtures/documents/bare-docx.ts";
import { workbook } from "../fixtures/documents/everyday-documents.ts";
import { zipOf } from "../support/zip-writer.ts";

const latin1 = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));
const PDF = latin1("%PDF-1.7 …");
const DOCX = bareDocx("");
const TEXT = latin1("Dear all,\nthe boat leaves at nine.");
const HTML = latin1("\n<!-- made by hand -->\n<!DOCTYPE html><p>Hello");

describe("kindOf", () => {
  it.each([
    ["pdf", PDF, {}],
    ["pdf", latin1(`HTTP/1.1 200 OK\r\n\r\n%PDF-1.4`), { claimedType: "application/pdf" }],
    ["pdf", PDF, { claimedType: "application/octet-stream", filename: "report" }],
    ["docx", DOCX, { claimedType: "docx" }],
    ["docx", DOCX, { claimedType: "application/octet-stream", filename: "a.docx" }],
    ["xlsx", workbook([]), { filename: "a.xlsm" }],
    ["png", latin1("\x89PNG\r\n"), { claimedType: "image/png" }],
    ["jpeg", latin1("\xff\xd8\xff\xe0"), { filename: "a.JPG" }],
    ["eml", TEXT, { claimedType: "message/rfc822" }],
    ["ipynb", TEXT, { claimedType: "application/json", filename: "a.ipynb" }],
    ["html", HTML, {}],
    ["html", TEXT, { claimedType: "text/html; charset=utf-8" }],
    ["html", latin1("<p>piece"), { filename: "piece.HTM" }],
    ["rtf", latin1("{\\rtf1 a}"), { filename: "letter.rtf" }],
    ["txt", TEXT, {}],
    ["txt", TEXT, { claimedType: "text/csv" }],
    ["txt", TEXT, { filename: "notes.tex" }],
    ["txt", HTML, { claimedType: "txt" }],
    ["txt", TEXT, { claimedType: "application/json" }],
    ["txt", TEXT, { claimedType: "application/geo+json; charset=utf-8" }],
    ["txt", TEXT, { claimedType: "yaml" }],
    ["txt", TEXT, { claimedType: ".rs" }],
    ["txt", TEXT, { filename: "data.csv" }],
    ["txt", TEXT, { filename: "minutes.final" }],
    ["txt", TEXT, { filename: "minutes.doc" }],
    ["pdf", PDF, { filename: "minutes.final" }],
    ["md", TEXT, { claimedType: "text/plain", filename: "README.md" }],
    ["md", TEXT, { claimedType: ".markdown" }],
    ["txt", new Uint8Array(Buffer.from("\ufeffnote", "utf16le")), {}],
    ["txt", latin1(`10:00 pump on\n${"\0".repeat(512)}10:05 pump off\n`), { filename: "pump.log" }],
    ["txt", latin1("A note of DOS.\r\n\x1a"), { filename: "note.txt" }],
    ["txt", new Uint8Array(Buffer.from("a longer note", "utf16le")), {}],
  ])("is %s (%#)", async (kind, bytes, claim) => {
    expect(await kindOf(bytes, claim)).toBe(kind);
  });

  it.each([
    [
      "a PDF that is text",
      TEXT,
      { claimedType: "application/pdf" },
      /sent as application\/pdf but its bytes are text/,
    ],
    ["a DOCX that is text", TEXT, { filename: "a.docx" }, /sent as \.docx but its bytes are text/],
    ["a DOCX that is a PDF", PDF, { claimedType: "docx" }, /its bytes are a PDF/],
    ["a PDF that is a DOCX", DOCX, { filename: "a.pdf" }, /its bytes are a Word document/],
    ["text that is a PDF", PDF, { claimedType: "text/plain" }, /its bytes are a PDF/],
    ["an image that is text", TEXT, { claimedType: "image/png" }, /its bytes are text/],
    [
      "text of a kind nobody knows",
      TEXT,
      { claimedType: "foo/bar" },
      /sent as foo\/bar.*WebP.*correct its type/,
    ],
    ["text that is no kind at all", TEXT, { claimedType: "garbage" }, /sent as garbage/],
    ["text called a workbook", TEXT, { claimedType: "xlsx" }, /sent as xlsx/],
    ["text called an archive", TEXT, { claimedType: "application/zip" }, /sent as application\/zip/],
    ["text in a recording's name", TEXT, { filename: "a.MP3" }, /sent as \.mp3/],
    ["a PDF of a kind nobody knows", PDF, { claimedType: "foo/bar" }, /its bytes are a PDF/],
    ["an image", latin1("GIF89a\0\x01"), {}, /of a kind that is not read/],
    ["the beginning of an image", latin1("GIF89a"), { filename: "a.gif" }, /of a kind that is not read/],
    [
      "dark pixels, which look like UTF-16",
      latin1(`II*\0${"d\0".repeat(600)}`),
      {},
      /of a kind that is not read/,
    ],
    ["the same in the other order", latin1(`MM\0*${"\0d".repeat(600)}`), {}, /of a kind that is not read/],
    ["quiet sound", latin1(`FORM\0\0\n\x01AIFF${"\0\x07".repeat(600)}`), {}, /of a kind that is not read/],
    ["a mailbox", latin1("From a@b Sat Nov 21 10:00:00 2026\nSubject: 1\n\nText"), {}, /memoryd import FILE/],
    ["a picture of another kind", latin1("\x89PNG\r\n"), { filename: "a.jpg" }, /bytes are a PNG picture/],
    ["a workbook called a book", workbook([]), { filename: "a.epub" }, /bytes are an Excel workbook/],
    [
      "an OpenDocument of another kind",
      zipOf([{ name: "mimetype", content: "" }]),
      {},
      /an archive, or a document in one/,
    ],
    ["an archive", zipOf([{ name: "a.txt", content: "" }]), {}, /an archive, or a document in one/],
    [
      "an archive with a large file of that name",
      zipOf([{ name: "mimetype", content: "x".repeat(65_537) }]),
      {},
      /an archive, or a document in one/,
    ],
    ["old Word", latin1("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), { filename: "a.doc" }, /before 2007/],
    ["holes of binary data", latin1(`ab\0c${"\0".repeat(64)}def`), {}, /of a kind that is not read/],
    ["binary data", latin1("abc\0\x01\x02def\0"), { claimedType: "txt" }, /of a kind that is not read/],
  ])("refuses %s", async (_, bytes, claim, message) => {
    await expect(kindOf(bytes, claim)).rejects.toThrow(
      expect.objectContaining({ code: "UNSUPPORTED_MEDIA_TYPE", message: expect.stringMatching(message) }),
    );
  });

  it.each([
    ["nothing", new Uint8Array(), /empty/],
    [
      "a DOCX with a password",
      latin1("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e\0"),
      /encrypted/,
    ],
    ["a cut archive", DOCX.slice(0, 400), /damaged or cut off/],
  ])("cannot use %s", async (_, bytes, message) => {
    await expect(kindOf(bytes, {})).rejects.toThrow(
      expect.objectContaining({ code: "UNPROCESSABLE", message: expect.stringMatching(message) }),
    );
  });

  it("judges the name of what is known as it judged the bytes", async () => {
    const kinds = { pdf: PDF, docx: DOCX, txt: TEXT, html: HTML, md: TEXT } as const;
    const names = [
      undefined,
      "pdf",
      "docx",
      "md",
      "txt",
      "text/csv",
      "image/png",
      "foo/bar",
      "application/octet-stream",
    ];
    const refusal = async (judge: () => unknown) => {
      try {
        await judge();
        return undefined;
      } catch (error) {
        return (error as { readonly code?: string }).code;
      }
    };
    for (const [kind, bytes] of Object.entries(kinds)) {
      for (const claimedType of names) {
        const claim = claimedType === undefined ? {} : { claimedType };
        expect([
          kind,
          claimedType,
          await refusal(() => checkClaim(claim, kind as keyof typeof kinds)),
        ]).toEqual([kind, claimedType, await refusal(() => kindOf(bytes, claim))]);
      }
    }
  });

  it("reads the charset of a content type", () => {
    expect(claimedCharset('text/html; charset="Shift_JIS"')).toBe("shift_jis");
    expect(claimedCharset("text/html")).toBeUndefined();
  });
});
