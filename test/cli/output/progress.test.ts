import { afterEach, expect, it, vi } from "vitest";

afterEach(() => void vi.useRealTimers());

it("is written to what is no terminal as a line each ten seconds, where it is asked for", async () => {
  // Other tests may have asked for it in the module that they share.
  vi.resetModules();
  const { showProgress, writeProgressLines } = await import("../../../src/cli/output/output.ts");
  vi.useFakeTimers();
  const written: string[] = [];
  const write = vi
    .spyOn(process.stderr, "write")
    .mockImplementation((text) => written.push(String(text)) > 0);
  const isTTY = Object.getOwnPropertyDescriptor(process.stderr, "isTTY");
  Object.defineProperty(process.stderr, "isTTY", { value: false, configurable: true });
  try {
    const show = (seconds: number) => {
      for (let i = 0; i < seconds; i += 1) {
        vi.advanceTimersByTime(1_000);
        showProgress(`${i} added`);
      }
      showProgress("");
    };
    show(60);
    expect(written).toEqual([]);
    writeProgressLines();
    show(25);
    expect(written).toEqual(["9 added\n", "19 added\n"]);
  } finally {
    write.mockRestore();
    Object.defineProperty(process.stderr, "isTTY", isTTY ?? { value: undefined, configurable: true });
  }
});
