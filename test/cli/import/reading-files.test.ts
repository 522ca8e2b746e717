import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { csvRows } from "../../../src/cli/import/csv-rows.ts";
import { readMailbox } from "../../../src/cli/import/read-mailbox.ts";
import { jsonElements, textLines } from "../../../src/cli/import/text-lines.ts";

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** A text in chunks of any size. */
async function* bytesOf(text: string | Uint8Array, size = 7): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text as string);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const size = fc.integer({ min: 1, max: 20 });

describe("textLines", () => {
  it("takes LF and CRLF, a byte order mark, and a last line without an end", async () => {
    expect(await all(textLines(bytesOf("\ufeffone\r\ntwo\n\nfour")))).toEqual([
      { number: 1, text: "one", isEnded: true },
      { number: 2, text: "two", isEnded: true },
      { number: 3, text: "", isEnded: true },
      { number: 4, text: "four", isEnded: false },
    ]);
  });

  it("passes over lines that are too long or no UTF-8, and goes on", async () => {
    const bytes = Buffer.concat([
      Buffer.from(`ok\n${"x".repeat(30)}\n`),
      Buffer.from([0xff, 0x0a]),
      Buffer.from("end"),
    ]);
    expect(await all(textLines(bytesOf(bytes), 20))).toEqual([
      { number: 1, text: "ok", isEnded: true },
      { number: 2, fault: "is longer than 20 bytes", isEnded: true },
      { number: 3, fault: expect.stringContaining("is not UTF-8"), isEnded: true },
      { number: 4, text: "end", isEnded: false },
    ]);
  });

  it("replaces what is no UTF-8 where that is asked for", async () => {
    const bytes = Buffer.concat([Buffer.from("a"), Buffer.from([0xe9]), Buffer.from("b\nc")]);
    expect(await all(textLines(bytesOf(bytes), 20, { isLoose: true }))).toEqual([
      { number: 1, text: "a\ufffdb", isEnded: true },
      { number: 2, text: "c", isEnded: false },
    ]);
  });

  it("is the inverse of joining lines, wherever the chunks end", async () => {
    const line = fc.string({ unit: "binary" }).map((text) => text.replaceAll(/[\r\n\ufeff]/g, ""));
    await fc.assert(
      fc.asyncProperty(fc.array(line, { minLength: 1 }), size, async (lines, size) => {
        const read = await all(textLines(bytesOf(lines.map((text) => `${text}\n`).join(""), size)));
        expect(read.map((each) => ("text" in each ? each.text : each.fault))).toEqual(lines);
      }),
    );
  });
});

describe("jsonElements", () => {
  it("finds the elements of any array, wherever the chunks end", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.jsonValue()),
        size,
        fc.constantFrom(0, 2),
        async (values, size, indent) => {
          const read = await all(
            jsonElements(bytesOf(`\ufeff ${JSON.stringify(values, null, indent)}\n`, size)),
          );
          expect(read).toEqual(
            JSON.parse(JSON.stringify(values)).map((value: unknown, i: number) => ({ number: i + 1, value })),
          );
        },
      ),
    );
  });

  it("takes a text that is no array for its only element", async () => {
    expect(await all(jsonElements(bytesOf(' {"a": [1, 2]} ')))).toEqual([
      { number: 1, value: { a: [1, 2] } },
    ]);
    expect(await all(jsonElements(bytesOf("")))).toEqual([]);
  });

  it("passes over a bad or a large element, and goes on", async () => {
    expect(await all(jsonElements(bytesOf(`[{"a":1},{bad},"${"x".repeat(50)}",[2]]`), 20))).toEqual([
      { number: 1, value: { a: 1 } },
      { number: 2, fault: "is not JSON" },
      { number: 3, fault: "is larger than 20 bytes" },
      { number: 4, value: [2] },
    ]);
  });

  it("says when a file ends in the middle, or goes on after its end", async () => {
    expect(await all(jsonElements(bytesOf('[1,{"a":')))).toEqual([
      { number: 1, value: 1 },
      { number: 2, fault: "is cut off: the file ends in the middle" },
    ]);
    expect((await all(jsonElements(bytesOf("[1] 2")))).at(-1)).toEqual({
      number: 2,
      fault: "stands after the end of the list",
    });
  });

  it("takes brackets a million deep", async () => {
    const [first] = await all(jsonElements(bytesOf(`[${"[".repeat(1_000_000)}`, 65_536)));
    expect(first).toHaveProperty("fault");
  });
});

describe("csvRows", () => {
  it("is the inverse of writing CSV", async () => {
    const cell = fc.string().map((text) => text.replaceAll("\r", ""));
    const table = fc
      .integer({ min: 2, max: 4 })
      .chain((width) => fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1 }));
    await fc.assert(
      fc.asyncProperty(table, size, async (rows, size) => {
        const header = rows[0]?.map((_, i) => `c${i}`) ?? [];
        const text = [header, ...rows]
          .map((row) => row.map((each) => `"${each.replaceAll('"', '""')}"`).join(","))
          .join("\r\n");
        const read = await all(csvRows(textLines(bytesOf(text, size))));
        expect(read.map((row) => ("cells" in row ? row.cells : row.fault))).toEqual([header, ...rows]);
      }),
    );
  });

  it("takes semicolons and tabs, and numbers rows by the line they begin on", async () => {
    expect(await all(csvRows(textLines(bytesOf('a;b\n"1\n2";3\n\n4;5'))))).toEqual([
      { line: 1, cells: ["a", "b"] },
      { line: 2, cells: ["1\n2", "3"] },
      { line: 5, cells: ["4", "5"] },
    ]);
    expect(await all(csvRows(textLines(bytesOf("a\tb,c\td"))))).toEqual([
      { line: 1, cells: ["a", "b,c", "d"] },
    ]);
  });

  it("says where a quote is not closed", async () => {
    expect(await all(csvRows(textLines(bytesOf('a,b\n1,"2\n3'))))).toEqual([
      { line: 1, cells: ["a", "b"] },
      { line: 2, fault: "has a quote that is not closed; nothing after it was read" },
    ]);
  });

  it("takes a quote in the middle of a cell for a character", async () => {
    const rows = await all(csvRows(textLines(bytesOf('a,b\n1,5" pipe\n2,"6"" pipe"\n3,"7" pipe\n4,8'))));
    expect(rows).toEqual([
      { line: 1, cells: ["a", "b"] },
      { line: 2, cells: ["1", '5" pipe'] },
      { line: 3, cells: ["2", '6" pipe'] },
      { line: 4, cells: ["3", '"7" pipe'] },
      { line: 5, cells: ["4", "8"] },
    ]);
  });

  it("goes on after a line that is not UTF-8", async () => {
    const bytes = Buffer.concat([Buffer.from("a,b\n1,"), Buffer.from([0xff]), Buffer.from("\n2,3\n")]);
    const rows = await all(csvRows(textLines(bytesOf(bytes))));
    expect(rows.toSorted((a, b) => a.line - b.line)).toEqual([
      { line: 1, cells: ["a", "b"] },
      { line: 2, fault: "is not UTF-8" },
      { line: 3, cells: ["2", "3"] },
    ]);
  });
});

describe("readMailbox", () => {
  const mails = async (text: string, size?: number) =>
    (await all(readMailbox(bytesOf(text, size), "box"))).map((item) =>
      item.kind === "mail" ? [item.filename, item.bytes.toString()] : [item.kind],
    );

  it("gives each mail as it was sent, whatever the chunks", async () => {
    const box =
      "From a@b Sat Nov 21 10:00:00 2026\nDate: Sat, 21 Nov 2026 09:00:00 +0100\nSubject: 1\n\nText\n\n>From here on\n>>From there\nFrom inside\n\nFrom c@d Sun Nov 22 10:00:00 2026\r\ndate: 22 Nov 2026\r\nSubject: 2\r\n\r\nlast";
    await fc.assert(
      fc.asyncProperty(size, async (chunk) => {
        expect(await mails(box, chunk)).toEqual([
          [
            "box-1.eml",
            "Date: Sat, 21 Nov 2026 09:00:00 +0100\nSubject: 1\n\nText\n\nFrom here on\n>From there\nFrom inside\n\n",
          ],
          ["box-2.eml", "date: 22 Nov 2026\r\nSubject: 2\r\n\r\nlast"],
        ]);
      }),
    );
  });

  it("gives a mail without a date the time of the line before it", async () => {
    const box = [
      "From a@b Sat Nov  7 10:20:30 2026\nSubject: 1\n\nDate: in the text",
      "From 1@xxx Sun Nov 08 10:20:30 +0200 2026\nSubject: 2\n\nx",
      "From - Mon Nov 09 10:20:30 GMT 2026\nSubject: 3\n\nx",
      "From - some day in 2026\nSubject: 4\n\nx",
      "From - Tue Nov 10 10:20:30 2026\nDate: long ago\nSubject: 5\n\nx",
      "From - Tue Nov 10 10:20:30 2026\nDate:\n Tue, 3 Nov 2026 10:20:30 +0100\nSubject: 6\n\nx",
    ].join("\n\n");
    expect((await mails(box)).map(([, text]) => text?.split("\n", 1)[0])).toEqual([
      "Date: 7 Nov 2026 10:20:30 +0000",
      "Date: 08 Nov 2026 10:20:30 +0200",
      "Date: 09 Nov 2026 10:20:30 +0000",
      "Subject: 4",
      "Date: 10 Nov 2026 10:20:30 +0000",
      "Date:",
    ]);
  });

  it("finds no mail in what is no mailbox", async () => {
    expect(await mails("Dear all,\nFrom now on we meet at nine.\n")).toEqual([]);
  });
});
