import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkNamedProgram, findProgram } from "../../../src/extraction/media/ffmpeg-program.ts";

describe("findProgram", () => {
  it("finds a program on the path, and none that is not there", async () => {
    const folder = join(process.execPath, "..");
    const name = process.platform === "win32" ? "node" : process.execPath.slice(folder.length + 1);
    const platform = process.platform;
    expect(await findProgram(name, { path: folder, platform })).toContain(folder);
    expect(await findProgram("no-such-program", { path: folder, platform })).toBeUndefined();
  });

  it("does not look in relative places", async () => {
    expect(await findProgram("package.json", { path: ".", platform: "linux" })).toBeUndefined();
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
