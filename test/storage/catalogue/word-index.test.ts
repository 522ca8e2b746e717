import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bm25Weight } from "../../../src/core/recall/bm25.ts";
import { WordIndex } from "../../../src/storage/catalogue/word-index.ts";

const terms = (text: string) => (text === "" ? [] : text.split(" "));
const question = (text: string) => terms(text).map((term) => ({ term, weight: 1 }));

describe("WordIndex", () => {
  it("scores by BM25", () => {
    const index = new WordIndex();
    index.put(0, terms("tea in the garden tea"));
    index.put(1, terms("coffee at work"));
    const scores = index.score(question("tea"), 4, 2, undefined);
    expect(scores.of(0)).toBeCloseTo(bm25Weight(2, 5, 4), 5);
    expect(scores.top(9)).toEqual([0]);
  });

  it("counts the living memories among those named", () => {
    const index = new WordIndex();
    index.put(0, terms("tea tea leaves"));
    index.put(1, terms("tea"));
    index.put(2, terms("tea and milk"));
    index.remove(1);
    const all = index.statistics(undefined);
    expect([all.memories, all.totalLength, all.memoriesWith("tea")]).toEqual([2, 6, 2]);
    const first = index.statistics({ size: 1, has: (ordinal) => ordinal === 0, list: () => [0] });
    expect([first.memories, first.totalLength]).toEqual([1, 3]);
    expect([first.memoriesWith("tea"), first.memoriesWith("milk")]).toEqual([1, 0]);
    expect(first.termsNear("leavse")).toEqual([{ term: "leaves", weight: expect.closeTo(5 / 6) as number }]);
    expect(first.termsNear("mlik")).toEqual([]);
  });

  it("counts the same before and after it is packed, and whatever is put or removed then", () => {
    const index = new WordIndex();
    const count = () => index.statistics(undefined).memoriesWith("tea");
    index.put(0, terms("tea leaves"));
    index.put(1, terms("tea"));
    expect(count()).toBe(2);
    index.pack();
    expect([count(), count()]).toEqual([2, 2]);
    index.put(2, terms("green tea"));
    expect(count()).toBe(3);
    index.remove(0);
    expect(count()).toBe(2);
    index.put(1, terms("coffee"));
    expect(count()).toBe(1);
    index.pack();
    expect(count()).toBe(1);
  });

  it("finds the words that a misspelt one is meant for, packed or added since", () => {
    const index = new WordIndex();
    const near = (word: string) =>
      index
        .statistics(undefined)
        .termsNear(word)
        .map(({ term }) => term);
    index.put(0, terms("green leaves"));
    expect(near("leavse")).toEqual(["leaves"]);
    index.pack();
    index.put(1, terms("milk and green"));
    expect([near("leavse"), near("greem"), near("mlik")]).toEqual([["leaves"], ["green"], ["milk"]]);
  });

  it("knows which memories have a term, packed or not", () => {
    const index = new WordIndex();
    const having = (term: string) => [0, 1, 2, 3, 4, 5].filter(index.having(term));
    for (const [ordinal, text] of ["tea", "tea leaves", "milk", "green tea", "tea"].entries())
      index.put(ordinal, terms(text));
    index.remove(4);
    for (const pack of [() => {}, () => index.pack()]) {
      pack();
      expect([having("tea"), having("milk"), having("coffee")]).toEqual([[0, 1, 3], [2], []]);
    }
    index.put(1, terms("coffee"));
    index.put(5, terms("tea"));
    expect([having("tea"), having("coffee")]).toEqual([[0, 3, 5], [1]]);
  });

  it("finds no memory by words it lost", () => {
    const index = new WordIndex();
    index.put(0, terms("tea"));
    index.put(0, terms("coffee"));
    expect(index.score(question("tea"), 4, 1, undefined).top(9)).toEqual([]);
    expect(index.score(question("coffee"), 4, 1, undefined).top(9)).toEqual([0]);
  });

  it("scores the same after any puts and removals as an index filled with what is left", () => {
    const text = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 6 });
    const step = fc.record({ ordinal: fc.nat(6), words: fc.option(text, { nil: undefined }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const index = new WordIndex();
        const left = new Map<number, readonly string[]>();
        for (const { ordinal, words } of steps) {
          if (words === undefined) index.remove(ordinal);
          else index.put(ordinal, words);
          if (words === undefined) left.delete(ordinal);
          else left.set(ordinal, words);
        }
        const fresh = new WordIndex();
        for (const [ordinal, words] of left) fresh.put(ordinal, words);
        const scores = index.score(question("a b d"), 4, 7, undefined);
        const expected = fresh.score(question("a b d"), 4, 7, undefined);
        for (let ordinal = 0; ordinal < 7; ordinal += 1)
          expect(scores.of(ordinal)).toBe(expected.of(ordinal));
      }),
    );
  });

  it("scores the same when it was filled from a part, and goes on from there", () => {
    const texts = ["tea in the garden tea", "", "grün tee", "tea"];
    const [packed, filled, put] = [new WordIndex(), new WordIndex(), new WordIndex()];
    for (const index of [packed, put]) texts.forEach((text, ordinal) => index.put(ordinal, terms(text)));
    packed.pack();
    filled.fromPart(packed.toPart());
    for (const index of [packed, filled, put]) {
      index.put(4, terms("tea tee"));
      index.remove(0);
    }
    packed.pack();
    const places = [0, 1, 2, 3, 4];
    const [scores, others, expected] = [packed, filled, put].map((index) => {
      const found = index.score(question("tea grün tee"), 4, 5, undefined);
      return places.map((ordinal) => found.of(ordinal));
    });
    expect(scores).toEqual(expected);
    expect(others).toEqual(expected);
    expect(scores?.[2]).toBeGreaterThan(0);
  });

  it("scores the same while the dead are swept, and after", () => {
    const index = new WordIndex();
    const rare = (ordinal: number) => [`r${ordinal}`, `s${ordinal}`];
    for (let ordinal = 0; ordinal < 6_000; ordinal += 1)
      index.put(ordinal, [`w${ordinal % 10}`, "all", ...rare(ordinal)]);
    for (let ordinal = 0; ordinal < 3_000; ordinal += 1) index.remove(ordinal);
    const best = () => index.score(question("w3 all r5993"), 4, 6_000, undefined).top(400);
    const before = best();
    let steps = 0;
    for (const _ of index.tidyInSteps()) {
      steps += 1;
      expect(best()).toEqual(before);
    }
    expect(steps).toBeGreaterThan(1);
    expect(best()).toEqual(before);
    const fresh = new WordIndex();
    for (let ordinal = 3_000; ordinal < 6_000; ordinal += 1)
      fresh.put(ordinal, [`w${ordinal % 10}`, "all", ...rare(ordinal)]);
    const [scores, expected] = [index, fresh].map((one) =>
      one.score(question("w3 all"), 4, 6_000, undefined),
    );
    expect(scores?.top(400)).toEqual(expected?.top(400));
    expect(scores?.of(5_993)).toBe(expected?.of(5_993));
    index.put(3, ["w3"]);
    expect(index.score(question("w3"), 4, 6_000, undefined).of(3)).toBeGreaterThan(0);
  });
});
