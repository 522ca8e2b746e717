import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { looksLikeSubtitles, readSubtitles } from "../../../src/extraction/formats/subtitles.ts";

const shown = (text: string) =>
  readSubtitles(text).blocks.map((block) => [block.startMs, block.endMs, block.text]);

const SRT = `1
00:00:01,000 --> 00:00:02,500
<i>Hello</i> <font color="red">there</font>,
{\\an8}my &amp; friend.

2
01:02:03,4 --> 01:02:05,000
- Who?
- Me: a < b.
`;

const VTT = `WEBVTT - a talk
Language: en-gb

STYLE
::cue { color: red }

NOTE nobody sees this

intro
00:01.000 --> 00:03.000 align:start position:0%
<v Anna Bell>Good <c.loud>morning</c>.</v>

00:03.000 --> 00:04.000
<v Anna Bell>All <00:03.500>of you.

00:05.000 --> 00:06.000
<v.first Bo>Thanks&#33;
`;

describe("readSubtitles", () => {
  it("reads SubRip: times, text without marks, lines in one", () => {
    expect(shown(SRT)).toEqual([
      [1_000, 2_500, "Hello there, my & friend."],
      [3_723_400, 3_725_000, "Who? Me: a < b."],
    ]);
    expect(readSubtitles(SRT).durationMs).toBe(3_725_000);
  });

  it("reads WebVTT: its language, who speaks when that changes, nothing of notes and styles", () => {
    const { language } = readSubtitles(VTT);
    expect(language).toBe("en-GB");
    expect(shown(VTT.replaceAll("\n", "\r\n"))).toEqual([
      [1_000, 3_000, "Anna Bell: Good morning."],
      [3_000, 4_000, "All of you."],
      [5_000, 6_000, "Bo: Thanks!"],
    ]);
  });

  it("keeps a line of rolling captions once, and repeated lines of others all", () => {
    const rolling = [
      "00:00.000 --> 00:02.000\none two",
      "00:02.000 --> 00:04.000\none two\nthree four",
      "00:04.000 --> 00:06.000\nthree four\nfive six",
      "00:06.010 --> 00:08.000\nfive six\nseven",
    ];
    expect(shown(`WEBVTT\n\n${rolling.join("\n\n")}`).map(([start, , text]) => [start, text])).toEqual([
      [0, "one two"],
      [2_000, "three four"],
      [4_000, "five six"],
      [6_010, "seven"],
    ]);
    const said = ["00:00.000 --> 00:01.000\nNo.", "00:01.000 --> 00:02.000\nNo."];
    expect(shown(`WEBVTT\n\n${said.join("\n\n")}`)).toHaveLength(2);
  });

  it("takes what is sloppy: no empty lines, no numbers, another order, ends before their starts", () => {
    expect(
      shown(
        "1\n00:00:05,000 --> 00:00:04,000\nlate\n2\n00:00:01,000 --> 00:00:02,000\n\nearly\n3\nthree is a number",
      ),
    ).toEqual([
      [1_000, 2_000, "early 3 three is a number"],
      [5_000, 5_001, "late"],
    ]);
    expect(shown("no times at all --> none")).toEqual([]);
  });

  it("keeps lines whose time cannot be read where those before end, and no rest of that time", () => {
    const text = [
      "1\n00:00:01,000 --> 00:00:02,000\nFirst.",
      "2\n00:00:0x,000 --> 00:00:04,000\nSecond.",
      "3\n00:00:05,000 -->\nThird.",
      "4\n00:00:06,000 --> 00:00:07,000\nThe arrow --> of 4 --> 5.\n",
    ].join("\n\n");
    expect(shown(text)).toEqual([
      [1_000, 2_000, "First."],
      [2_000, 2_001, "Second."],
      [2_001, 2_002, "Third."],
      [6_000, 7_000, "The arrow --> of 4 --> 5."],
    ]);
  });

  it.each([
    ["arrows", "-->".repeat(500_000)],
    ["digits", `${"0".repeat(500_000)} --> 1`],
    ["open marks", `00:00:01,000 --> 00:00:02,000\n${"<a".repeat(300_000)}${"{\\a".repeat(300_000)}`],
    ["entities", `00:00:01,000 --> 00:00:02,000\n${"&#9999999;&#x110000;".repeat(50_000)}`],
    ["cues", "00:00:01,000 --> 00:00:02,000\n".repeat(50_000)],
  ])("takes time in proportion to many %s", (_, text) => {
    expect(() => readSubtitles(text)).not.toThrow();
  });

  it("gives times in order whatever it reads", () => {
    const line = fc.oneof(
      fc.constantFrom(
        "",
        "1",
        "00:01.000 --> 00:02.000",
        "99:59:59,999 --> 00:00:00,000",
        "WEBVTT",
        "NOTE x",
      ),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const { blocks, durationMs } = readSubtitles(lines.join("\n"));
        let last = 0;
        for (const { text, startMs = -1, endMs = -1 } of blocks) {
          expect(text.trim()).not.toBe("");
          expect(startMs).toBeGreaterThanOrEqual(last);
          expect(endMs).toBeGreaterThan(startMs);
          expect(endMs).toBeLessThanOrEqual(durationMs);
          last = startMs;
        }
      }),
    );
  });
});

it.each([
  ["srt", SRT],
  ["srt", `\ufeff${SRT.replaceAll("\n", "\r\n")}`],
  ["vtt", VTT],
  [undefined, "1\nDear all"],
  [undefined, "WEBVTTX"],
])("takes it for %s (%#)", (kind, text) => {
  expect(looksLikeSubtitles(text)).toBe(kind);
});
