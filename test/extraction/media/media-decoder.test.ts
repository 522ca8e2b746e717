import { describe, expect, it } from "vitest";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  checkNamedProgram,
  findProgram,
  openMediaDecoder,
  isPagePartial,
} from "../../../src/extraction/media/media-decoder.ts";
import { lyingMp4 } from "../../support/lying-mp4.ts";

describe("findProgram", () => {
  it("finds a program on the path, and none that is not there", async () => {
    const folder = join(process.execPath, "..");
    const name = process.platform === "win32" ? "node" : process.execPath.slice(folder.length + 1);
    expect(await findProgram(name, folder)).toContain(folder);
    expect(await findProgram("no-such-program", folder)).toBeUndefined();
  });

  it("does not look in relative places", async () => {
    expect(await findProgram("package.json", ".")).toBeUndefined();
  });
});

describe("checkNamedProgram", () => {
  it("takes what is there, auto and off", async () => {
    for (const setting of ["auto", "off", process.execPath]) await checkNamedProgram(setting);
  });

  it("refuses what is not there, and names the setting", async () => {
    await expect(checkNamedProgram("/nowhere/ffmpeg")).rejects.toMatchObject({
      code: "INVALID_REQUEST",
      message: expect.stringContaining("--ffmpeg") as unknown,
    });
  });
});

describe.skipIf(spawnSync("ffmpeg", ["-version"]).status !== 0)("memory", () => {
  // Below the limit for a single piece, and below that for streams: together they would take gigabytes.
  it.each([
    ["a few large tables", 14, 10_000_000, /damaged|memory/],
    ["many small tables", 60, 5_000_000, /memory/],
    ["too many streams", 400, 1_000, /damaged/],
  ])("is bounded: %s", async (_, tracks, samples, refusal) => {
    const folder = mkdtempSync(join(tmpdir(), "memoryd-memory-"));
    const path = join(folder, "lies.m4a");
    writeFileSync(path, lyingMp4(tracks, samples));
    const limits = { maxSeconds: 21_600, maxWorkingMs: 120_000 };
    const decoder = openMediaDecoder({ ffmpeg: "auto", searchPath: process.env["PATH"] ?? "", limits });
    try {
      const decoding = async () => {
        await using recording = await decoder.open({ bytes: { path } });
        for await (const piece of recording.sound({ index: 0, isDefault: true }))
          expect(piece).toHaveLength(0);
      };
      await expect(decoding()).rejects.toThrow(refusal);
    } finally {
      await decoder.close();
      rmSync(folder, { recursive: true });
    }
  });
});

describe("ogg end", () => {
  /** Pages of 300 bytes of sound each. */
  const page = Buffer.concat([
    Buffer.from("OggS\0"),
    Buffer.alloc(21),
    Buffer.from([2, 255, 45]),
    Buffer.alloc(300, 7),
  ]);

  describe("isPagePartial", () => {
    it("tells every place within the last page from its end", () => {
      const whole = Buffer.concat([page, page]);
      expect(isPagePartial(whole)).toBe(false);
      // A mark that is not whole yet is not told from what else may follow a page.
      const lengths = Array.from({ length: page.length - 5 }, (_, i) => page.length + 5 + i);
      expect(lengths.filter((length) => !isPagePartial(whole.subarray(0, length)))).toEqual([]);
    });

    it("leaves what follows the last page, and what has none, to the decoder", () => {
      expect(isPagePartial(Buffer.concat([page, Buffer.from("TAG and more")]))).toBe(false);
      expect(isPagePartial(Buffer.alloc(500, 7))).toBe(false);
      expect(isPagePartial(Buffer.alloc(0))).toBe(false);
    });
  });
});
