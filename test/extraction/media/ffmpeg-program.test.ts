import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  checkNamedProgram,
  findProgram,
  openMediaDecoder,
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
    const decoder = openMediaDecoder({ ffmpeg: "auto", searchPath: process.env["PATH"] ?? "" });
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
