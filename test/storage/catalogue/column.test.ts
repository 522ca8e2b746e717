import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Column, NumberLists, OrdinalScores, Scratch } from "../../../src/storage/catalogue/column.ts";

describe("OrdinalScores", () => {
  it("answers the best, newest first among equals, without zeros", () => {
    const scores = new OrdinalScores(Float32Array.of(0.5, 0, 0.9, 0.5), undefined);
    expect(scores.top(10)).toEqual([2, 3, 0]);
    expect(scores.top(2)).toEqual([2, 3]);
  });

  it("leaves out of the best what is not selected", () => {
    const scores = new OrdinalScores(Float32Array.of(0.5, 0.8), {
      size: 1,
      has: (ordinal) => ordinal === 0,
      list: () => [0],
    });
    expect(scores.top(10)).toEqual([0]);
    expect([scores.of(0), scores.of(1), scores.of(9)]).toEqual([expect.closeTo(0.5), expect.closeTo(0.8), 0]);
  });

  it("agrees with sorting everything", () => {
    const values = fc.array(fc.integer({ min: 0, max: 8 }), { maxLength: 60 });
    fc.assert(
      fc.property(values, fc.integer({ min: 1, max: 70 }), (list, limit) => {
        const sorted = [...list.keys()]
          .filter((i) => (list[i] ?? 0) > 0)
          .sort((a, b) => (list[b] ?? 0) - (list[a] ?? 0) || b - a);
        expect(new OrdinalScores(Float32Array.from(list), undefined).top(limit)).toEqual(
          sorted.slice(0, limit),
        );
      }),
    );
  });
});

describe("Scratch", () => {
  it("is all zeros, one place for those who take it in turns, and its own for each of one turn", async () => {
    const scratch = new Scratch((length) => new Float32Array(length));
    const [first, second] = [scratch.take(3), scratch.take(3)];
    first.fill(1);
    expect([...second]).toEqual([0, 0, 0]);
    second.fill(2);
    await Promise.resolve();
    const third = scratch.take(2);
    expect([[...third], third.buffer === second.buffer]).toEqual([[0, 0], true]);
    await Promise.resolve();
    expect([...scratch.take(5)]).toEqual([0, 0, 0, 0, 0]);
  });
});

describe("NumberLists", () => {
  it("has what arrays would, also after an image", () => {
    const list = fc.array(fc.nat(3), { maxLength: 4 });
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(9), list), { maxLength: 60 }), (steps) => {
        const empty = () => new NumberLists(new Column((length) => new Int32Array(length)));
        const [lists, again] = [empty(), empty()];
        const arrays: (readonly number[])[] = Array.from({ length: 10 }, () => []);
        for (const [ordinal, numbers] of steps) {
          lists.set(ordinal, numbers);
          arrays[ordinal] = numbers;
        }
        again.fromPart("tags", lists.toPart("tags", 10));
        again.set(0, [3, 2, 1, 0, 9]);
        for (const [ordinal, numbers] of arrays.entries()) {
          expect(lists.get(ordinal)).toEqual(numbers);
          expect(again.get(ordinal)).toEqual(ordinal === 0 ? [3, 2, 1, 0, 9] : numbers);
          for (let number = 0; number < 4; number += 1)
            expect(lists.has(ordinal, number)).toBe(numbers.includes(number));
        }
      }),
    );
  });
});
