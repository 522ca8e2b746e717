import { expect, it } from "vitest";
import { containerOf } from "../../../src/extraction/media/container.ts";
import { wavFile } from "../../support/wav-file.ts";

const SILENCE = new Float32Array(100);

it("knows where the sound of a WAV ends, behind other chunks", () => {
  const bytes = wavFile([SILENCE], { title: "odd" });
  expect(containerOf(bytes)).toMatchObject({ container: "wav", soundEnd: bytes.length });
});

it.each([0, 0x7fff_f000, 0x7fff_ff00, 0xffff_ffff])(
  "takes %d for the length of a WAV that was written to a pipe, which has none",
  (dataBytes) => {
    expect(containerOf(wavFile([SILENCE], { dataBytes }))?.soundEnd).toBeUndefined();
  },
);
