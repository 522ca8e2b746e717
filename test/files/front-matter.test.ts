import { describe, expect, it } from "vitest";
import { readFrontMatter, timeOf } from "../../src/files/front-matter.ts";

const read = (text: string, name = "note") => {
  const note = readFrontMatter(text, name);
  if ("fault" in note) throw new Error(note.fault);
  return { ...note, date: note.date === undefined ? undefined : new Date(note.date).toISOString() };
};
const dateIn = (written: string, name?: string) => read(`---\ndate: ${written}\n---\nText`, name).date;

describe("the date of a note", () => {
  it.each([
    ["2017-08-09 12:13:14 +0200", "2017-08-09T10:13:14.000Z"],
    ["2023-05-06T07:08", "2023-05-06T07:08:00.000Z"],
    ["2024-01-05 10:11:12Z", "2024-01-05T10:11:12.000Z"],
    ['"[[2024-01-05]]"', "2024-01-05T00:00:00.000Z"],
    ["5.3.2024", "2024-03-05T00:00:00.000Z"],
    ["March 5th, 2024 3:04 PM", "2024-03-05T15:04:00.000Z"],
    ["Tue, 5 Mar 2024 15:04:00 +0100", "2024-03-05T14:04:00.000Z"],
    ["20240305", "2024-03-05T00:00:00.000Z"],
    ["1640000000000", "2021-12-20T11:33:20.000Z"],
  ])("is read where it is written as %s", (written, date) => {
    expect(dateIn(written)).toBe(date);
  });

  it.each(["2024_04_05", "2024-04-05 Walk", "20240405", "202404051530 Zettel"])(
    "is that of the file's name %s, where there is no other",
    (name) => {
      expect(read("Text", name).date).toBe("2024-04-05T00:00:00.000Z");
    },
  );

  it.each(["2024-02-30", "soon", "Smarch 5, 2024", "{{date}}"])(
    "is no reason to refuse the note: %s stays a field",
    (written) => {
      const note = read(`---\ndate: ${written}\n---\nText`, "2024-04-05");
      expect(note).toMatchObject({ body: "Text", date: "2024-04-05T00:00:00.000Z" });
      expect(note.others).toHaveProperty("date");
    },
  );

  it("is no number in a name", () => {
    expect(["12345678", "2024-13-01", "20240405123"].map((name) => read("Text", name).date)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("leaves a time that is no time as it is", () => {
    expect(["12:30", "3/4/2024", "03.04.2024"].map(timeOf)).toEqual(["12:30", "3/4/2024", "03.04.2024"]);
  });
});

describe("front matter", () => {
  it("is read where people type signs that YAML gives a meaning", () => {
    const text =
      "---\ntitle: Re: the boat: again\nauthor: @ann\ntags: [a, #b]\ndate: 2022-02-02\ntitle: Later\n---\nText";
    expect(read(text)).toMatchObject({
      title: "Later",
      tags: ["a", "b"],
      others: { author: "@ann" },
      date: "2022-02-02T00:00:00.000Z",
      body: "Text",
    });
  });

  it("is read in TOML and in JSON", () => {
    const toml = '+++\ntitle = "Pump"\ndate = 2019-05-06T07:08:09+02:00\ntags = ["a"]\n+++\nText';
    const json = '{\n  "title": "Pump",\n  "date": "2019-05-06",\n  "tags": ["a"]\n}\n\nText';
    expect(read(toml)).toMatchObject({ title: "Pump", tags: ["a"], date: "2019-05-06T05:08:09.000Z" });
    expect(read(json)).toMatchObject({ title: "Pump", tags: ["a"], date: "2019-05-06T00:00:00.000Z" });
    expect(read(toml).body).toBe("Text");
    expect(read('{\n  "port": 1\n}\nText')).toMatchObject({ body: '{\n  "port": 1\n}\nText', others: {} });
  });

  it("is no JSON that is the whole note: it stays text", () => {
    const text = '{\n  "title": "Pump",\n  "colour": "red"\n}\n';
    expect(read(text)).toMatchObject({ body: text, others: {} });
  });

  it("is read in the properties of Logseq, which stay text", () => {
    const text = "title:: Rope\ntags:: garden, kids\n\n- hangs in the shed\n";
    expect(read(text)).toMatchObject({ title: "Rope", tags: ["garden", "kids"], body: text });
  });
});
