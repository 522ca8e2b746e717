import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import wabt from "wabt";
import { kernelBytes } from "../../src/core/recall/int8-kernel.ts";
import { Matrix, MATRIX_KERNEL } from "../../src/models/projection.ts";
import { seededRandom } from "../support/seeded-random.ts";

describe("the product with a matrix", () => {
  it("is compiled from the source beside it", async () => {
    const toolkit = await wabt();
    const source = readFileSync(new URL("../../src/models/matrix-kernel.wat", import.meta.url), "utf8");
    const { buffer } = toolkit.parseWat("matrix-kernel.wat", source, { simd: true }).toBinary({});
    expect(kernelBytes(MATRIX_KERNEL)).toEqual(new Uint8Array(buffer));
  });

  it.each([
    [1, 16],
    [5, 48],
    [384, 128],
  ])("is that of a plain loop, bit for bit: %i rows, %i columns", (rows, columns) => {
    const random = seededRandom(rows);
    const draw = (length: number) => Float32Array.from({ length }, () => random() - 0.5);
    const numbers = draw(rows * columns);
    const matrix = new Matrix(numbers, rows);
    for (const vector of [draw(rows), draw(rows)]) {
      const sums = Array.from({ length: columns }, (_, column) =>
        vector.reduce((sum, x, row) => sum + x * (numbers[row * columns + column] ?? 0), 0),
      );
      expect([...matrix.multiply(vector)]).toEqual(sums);
    }
  });

  it("refuses columns that the kernel cannot add up", () => {
    expect(() => new Matrix(new Float32Array(24), 3)).toThrow("multiple of 16");
  });
});
