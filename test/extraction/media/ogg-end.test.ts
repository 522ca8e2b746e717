import { describe, expect, it } from "vitest";
import { isPagePartial } from "../../../src/extraction/media/media-decoder.ts";

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
