import { describe, expect, it } from "vitest";
import { claimedCharset } from "../../../src/extraction/document-kind.ts";
import { filenameOf, lengthOf, mediaTypeOf } from "../../../src/extraction/fetch/connection.ts";

describe("mediaTypeOf, claimedCharset", () => {
  it.each([
    ["text/html", "text/html", null],
    ["Text/HTML;Charset=UTF-8", "text/html", "utf-8"],
    ['text/html; x=y; charset = "shift_jis"', "text/html", "shift_jis"],
    ["application/vnd.ms-excel+xml ; a=b", "application/vnd.ms-excel+xml", null],
    ["html", null, null],
    ["text/html, text/plain", null, null],
    ["", null, null],
    [undefined, null, null],
  ])("read %s", (header, type, charset) => {
    expect([mediaTypeOf(header), claimedCharset(header) ?? null]).toEqual([type, charset]);
  });
});

describe("lengthOf", () => {
  it.each([
    ["12", 12],
    ["0", 0],
    ["-1", null],
    ["1e3", null],
    ["9".repeat(30), null],
    [undefined, null],
  ])("reads %s", (length, expected) => {
    expect(lengthOf(length)).toBe(expected);
  });
});

describe("filenameOf", () => {
  const name = (header: string | undefined, path = "/") =>
    filenameOf(header, new URL(path, "https://tea.example"));

  it.each([
    ['attachment; filename="green tea.pdf"', "green tea.pdf"],
    ["attachment; filename=tea.pdf; size=3", "tea.pdf"],
    ['inline; filename="a \\"b\\".txt"', 'a "b".txt'],
    ["attachment; filename=\"x.pdf\"; filename*=UTF-8''gr%C3%BCner%20Tee.pdf", "grüner Tee.pdf"],
    ["attachment; filename*=iso-8859-1'de'gr%FCn.pdf", "grün.pdf"],
    [`attachment; filename="${Buffer.from("grün.pdf").toString("latin1")}"`, "grün.pdf"],
    ['attachment; filename="gr\u00fcn.pdf"', "grün.pdf"],
    ['attachment; filename="../../etc/passwd"', "passwd"],
    ['attachment; filename="C:\\\\docs\\\\tea.pdf"', "tea.pdf"],
    ["attachment; filename*=UTF-8''%2e%2e%2fevil%00.pdf", "evil.pdf"],
    ["attachment; filename*=UTF-8''tea%E2%80%AEfdp.exe", "teafdp.exe"],
  ])("reads %s", (header, expected) => expect(name(header)).toBe(expected));

  it.each([
    ["/files/gr%C3%BCn.pdf?x=/y.txt", "grün.pdf"],
    ["/a/b", "b"],
    ["/a%2Fb.txt", "b.txt"],
    ["/%FF.txt", "%FF.txt"],
    ["/a/", null],
    ["/", null],
  ])("takes the last part of %s where the header has none", (path, expected) => {
    expect(name(undefined, path)).toBe(expected);
    expect(name('attachment; filename=".."', path)).toBe(expected);
  });

  it("cuts what is too long, but not the extension", () => {
    const long = name(`attachment; filename="${"a".repeat(400)}.docx"`) ?? "";
    expect(long).toHaveLength(256);
    expect(long).toMatch(/a\.docx$/);
  });

  it("reads hostile headers in linear time", () => {
    expect(name(`attachment; filename="${"\\".repeat(60_000)}`)).toBeDefined();
    expect(name(`attachment${"; filename=".repeat(6_000)}`, "/tea")).toBe("tea");
  });
});
