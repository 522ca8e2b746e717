import { beforeEach, describe, expect, it } from "vitest";
import { watchDiskSpace, inWords, type DiskSpace } from "../../../src/storage/files/disk-space.ts";

const MB = 1_000_000;

let free: number | Error;
let now: number;
let asked: number;
let changes: object[];
let room: DiskSpace;
beforeEach(() => {
  free = 100 * MB;
  now = 0;
  asked = 0;
  changes = [];
  room = watchDiskSpace({
    disk: {
      freeBytes: async () => {
        asked += 1;
        if (free instanceof Error) throw free;
        return free;
      },
    },
    directory: "/data",
    needed: () => 50 * MB,
    onChange: (change) => changes.push(change),
    now: () => now,
  });
});

async function lookAfter(ms: number): Promise<void> {
  now += ms;
  await room.look();
}

describe("room on the disk", () => {
  it("is lacking from the first look on below what is needed, and there again a second after it is", async () => {
    free = 10 * MB;
    await room.look();
    expect(room.lack).toEqual({ free: 10 * MB, needed: 50 * MB });
    free = 50 * MB;
    await lookAfter(999);
    expect(room.lack).toBeDefined();
    await lookAfter(1);
    expect(room.lack).toBeUndefined();
  });

  it("tells of changes only", async () => {
    for (const megabytes of [60, 40, 30, 70, 80]) {
      free = megabytes * MB;
      await lookAfter(1_000);
    }
    expect(changes).toEqual([
      { isLacking: true, free: 40 * MB, needed: 50 * MB },
      { isLacking: false, free: 70 * MB, needed: 50 * MB },
    ]);
  });

  it("asks once for all who want to know", async () => {
    await Promise.all([room.look(), room.look()]);
    await lookAfter(10);
    expect(asked).toBe(1);
  });

  it("is taken to be there where the disk does not say", async () => {
    free = 1;
    await room.look();
    free = new Error("no such call");
    await lookAfter(1_000);
    expect(room.lack).toBeUndefined();
  });

  it("keeps nobody waiting for a disk that does not answer", async () => {
    const hanging = watchDiskSpace({
      disk: { freeBytes: () => new Promise(() => {}) },
      directory: "/data",
      needed: () => 1,
      onChange: () => {},
    });
    await hanging.look();
    expect(hanging.lack).toBeUndefined();
  });

  it("is told in whole megabytes, never more than is free and never less than is needed", () => {
    expect(inWords({ free: 59.9 * MB, needed: 256 * 1024 ** 2 })).toBe("59 MB free, 269 MB needed");
  });
});
