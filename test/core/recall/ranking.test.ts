import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bestBm25, bm25Weight, termWeights, type TermWeights } from "../../../src/core/recall/bm25.ts";
import {
  containsPhrase,
  quotedPhrases,
  readQuestion,
  timedQuestion,
} from "../../../src/core/recall/question.ts";
import { rank, worthReading } from "../../../src/core/recall/ranking.ts";
import { scoreOf } from "../../../src/core/recall/ranking-terms.ts";
import type { RankingCandidate } from "../../../src/core/recall/ranking-candidate.ts";
import { traitsOf } from "../../../src/core/recall/traits.ts";

const NOW = Date.UTC(2026, 10, 21);
const LONG_AGO = Date.UTC(2020, 0, 1);
const PROFILE = {
  similar: 0.55,
  tokenFloor: 0.3,
};
const EVEN: TermWeights = {
  inverseDocumentFrequency: () => 1,
  isKnown: () => false,
  isCommon: () => false,
  meantBy: () => [],
  averageLength: 20,
};
const question = (text: string, words: readonly string[], weights = EVEN) => {
  const timed = timedQuestion(text, NOW, "UTC");
  return readQuestion({
    text,
    topic: timed?.topic ?? text,
    period: timed?.period,
    words,
    weights,
    profile: PROFILE,
  });
};

function candidate(
  ordinal: number,
  given: Partial<RankingCandidate> & { readonly text?: string } = {},
): RankingCandidate {
  return {
    ordinal,
    words: 0,
    cosine: 0,
    matches: new Float32Array(1),
    around: [],
    sessionId: null,
    traits: traitsOf(given.text ?? "twenty ".repeat(20)),
    occurredAt: LONG_AGO,
    salience: 0.5,
    quoted: 0,
    ...given,
  };
}

const candidates = fc
  .array(
    fc.record({
      words: fc.double({ min: 0, max: 9, noNaN: true }),
      cosine: fc.double({ min: -1, max: 1, noNaN: true }),
      match: fc.double({ min: -1, max: 1, noNaN: true }),
      session: fc.constantFrom(null, "s", "t"),
      text: fc.constantFrom("Ann: Why?", "Ann: Since May.", "Bob: It is so in Oslo.", "word ".repeat(90)),
      quoted: fc.constantFrom(0, 0.5, 1),
    }),
    { maxLength: 12 },
  )
  .map((drawn) =>
    drawn.map(({ match, session, ...rest }, i) =>
      candidate(i, {
        ...rest,
        matches: Float32Array.of(match),
        sessionId: session,
        around: [i - 2, i - 1, i + 1, i + 2],
      }),
    ),
  );

describe("bm25", () => {
  it("weighs a term by frequency and length", () => {
    expect(bm25Weight(1, 10, 10)).toBeCloseTo(1);
    expect(bm25Weight(2, 10, 10)).toBeCloseTo((2 * 1.9) / 2.9);
  });

  it("weighs words of few memories as the language does, and of many as their user does", () => {
    const none = { memories: 0, totalLength: 0, memoriesWith: () => 0, termsNear: () => [] };
    const many = { memories: 10_000, totalLength: 100_000, memoriesWith: () => 9_000, termsNear: () => [] };
    const share = (term: string) => (term === "the" ? 0.5 : 0.001);
    const bare = termWeights(none, share);
    expect(bare.inverseDocumentFrequency("the")).toBeLessThan(1);
    expect(bare.inverseDocumentFrequency("umbrella")).toBeGreaterThan(4);
    expect([bare.averageLength, bare.isKnown("umbrella")]).toEqual([20, false]);
    const full = termWeights(many, share);
    expect(full.inverseDocumentFrequency("umbrella")).toBeLessThan(0.2);
    expect(full.averageLength).toBeCloseTo(10, 0);
  });

  it("counts unknown terms half towards the best", () => {
    const known = { weight: 6, isKnown: true };
    expect(bestBm25([known])).toBeCloseTo(11.4);
    expect(bestBm25([known, { ...known, isKnown: false }])).toBeCloseTo(17.1);
  });
});

describe("rank", () => {
  it("takes nothing from a note that begins with a label", () => {
    const asked = question("who repairs Anna's sink?", ["sink"]);
    const found = { words: 1, cosine: 0.6, matches: Float32Array.of(0.8) };
    const scoreOfNote = (text: string) =>
      rank(asked, [candidate(1, { ...found, text }), candidate(2, { text: "Anna: hello" })], { now: NOW })[0];
    const note = scoreOfNote("TODO: call the plumber");
    expect(note?.shares.speaker).toBeUndefined();
    expect(note?.score).toBeCloseTo(scoreOfNote("ring up the plumber")?.score ?? 0, 10);
  });

  it("puts what happened when the question says before the same at another time", () => {
    const asked = question("what did I plant in May 2024?", ["plant"]);
    const found = { words: 1, cosine: 0.6, matches: Float32Array.of(0.8) };
    const ranked = rank(
      asked,
      [
        candidate(1, { ...found, occurredAt: Date.UTC(2024, 4, 20) }),
        candidate(2, { ...found, words: 1.5, occurredAt: Date.UTC(2025, 4, 20) }),
      ],
      { now: NOW },
    );
    expect(ranked.map(({ ordinal }) => ordinal)).toEqual([1, 2]);
    expect(ranked[0]?.shares.time ?? 0).toBeCloseTo(0);
    expect(ranked[1]?.shares.time).toBeLessThan(0);
  });

  it("puts the chunk before the root that quotes it, and the root before what answers worse", () => {
    const words = question("late ferry", ["ferry"]);
    const quoting = { words: 2, cosine: 0.8, matches: Float32Array.of(0.95) };
    const ranked = rank(
      words,
      [
        candidate(1, { ...quoting, isRoot: true }),
        candidate(2, { ...quoting, cosine: 0.75, matches: Float32Array.of(0.93) }),
        candidate(3, { words: 1, cosine: 0.5, matches: Float32Array.of(0.6) }),
      ],
      { now: NOW },
    );
    expect(ranked.map(({ ordinal }) => ordinal)).toEqual([2, 1, 3]);
  });

  it("adds up words, vector and tokens", () => {
    const asked = question("umbrella", ["umbrella"]);
    const [hit] = rank(asked, [candidate(7, { words: 1.9, cosine: 0.5, matches: Float32Array.of(0.8) })], {
      now: LONG_AGO,
    });
    // An unknown term counts half, so half of 1.9 is the best: words 2; vectors 3 · .3, as no
    // memory has a word of it, tokens .5 · .5, context 4.5 · .5, recency .05.
    expect(hit?.score).toBeCloseTo(scoreOf(2 + 0.9 + 0.25 + 2.25 + 0.05), 6);
    expect(hit?.path).toEqual([7]);
  });

  it("puts an answer before the question it follows, and says how it was reached", () => {
    const asked = question("umbrella colour", ["umbrella", "colour"]);
    const hits = rank(
      asked,
      [
        candidate(1, {
          text: "Which colour has your umbrella?",
          words: 1.5,
          around: [undefined, undefined, 2, 3],
          sessionId: "s",
        }),
        candidate(2, {
          text: "Red, since it is easy to find.",
          around: [undefined, 1, 3, undefined],
          sessionId: "s",
        }),
        candidate(3, {
          text: "Nice, and now for the soup.",
          around: [1, 2, undefined, undefined],
          sessionId: "s",
        }),
      ],
      { now: NOW },
    );
    expect(hits.map(({ ordinal }) => ordinal)).toEqual([2, 1, 3]);
    expect(hits[0]?.path).toEqual([1, 2]);
  });

  it("gives an answer what the memory before its question says", () => {
    const asked = question("umbrella", ["umbrella"]);
    const told = candidate(1, {
      text: "I bought an umbrella, a good one.",
      matches: Float32Array.of(0.9),
      around: [undefined, undefined, 2, 3],
    });
    const last = candidate(3, { text: "Red, with a handle of wood.", around: [1, 2, undefined, undefined] });
    const context = (between: string) => {
      const middle = candidate(2, { text: between, around: [undefined, 1, 3, undefined] });
      const hits = rank(asked, [told, middle, last], { now: NOW });
      return hits.find(({ ordinal }) => ordinal === 3)?.shares.context ?? 0;
    };
    expect(context("What does it look like?")).toBeGreaterThan(context("So did I, and a good one."));
  });

  it("lets a turn with an assistant lean less on those around it than one among people", () => {
    const context = (speaker: string) => {
      const around = candidate(1, {
        text: `${speaker}: An umbrella.`,
        matches: Float32Array.of(0.9),
        sessionId: "s",
      });
      const turn = candidate(2, {
        text: `${speaker}: And then to bed.`,
        around: [undefined, 1, undefined, undefined],
        sessionId: "s",
      });
      const hits = rank(question("umbrella", ["umbrella"]), [around, turn], { now: NOW });
      return hits.find(({ ordinal }) => ordinal === 2)?.shares.context ?? 0;
    };
    expect(context("User")).toBeGreaterThan(0);
    expect(context("Ann")).toBeGreaterThan(context("User"));
  });

  it("spreads along waypoints", () => {
    const asked = question("umbrella", ["umbrella"]);
    const [, second] = rank(asked, [candidate(1, { words: 0.9 }), candidate(2), candidate(3)], {
      now: NOW,
      edges: [{ source: 3, target: 1, weight: 1 }],
    });
    expect(second).toMatchObject({ ordinal: 3, path: [1, 3] });
  });

  it("prefers who is named, when is named, and a name where one is asked for", () => {
    const said = [
      candidate(1, { text: "Ben: It was so good to be there with all.", occurredAt: Date.UTC(2023, 4, 7) }),
      candidate(2, { text: "Anna: It was so good to be there with all." }),
      candidate(3, { text: "Ben: It was so good to be in Oslo with all." }),
    ].map((each) => ({ ...each, cosine: 0.5, sessionId: "s" }));
    const first = (text: string) => rank(question(text, []), said, { now: NOW })[0]?.ordinal;
    expect(first("good with anna")).toBe(2);
    expect(first("good on 7 May 2023")).toBe(1);
    expect(first("where was it good")).toBe(3);
  });

  it("takes I for the user and you for the assistant of a conversation", () => {
    const said = [
      candidate(1, { text: "Assistant: Three ideas for the trip." }),
      candidate(2, { text: "User: Three ideas for the trip." }),
    ].map((each) => ({ ...each, cosine: 0.5, sessionId: "s" }));
    const first = (text: string) => rank(question(text, []), said, { now: NOW })[0]?.ordinal;
    expect(first("which ideas did I have")).toBe(2);
    expect(first("which ideas did you have")).toBe(1);
  });

  it("counts meaning for more where no memory has the words", () => {
    const vectors = (isKnown: boolean) =>
      rank(question("umbrella", [], { ...EVEN, isKnown: () => isKnown }), [candidate(1, { cosine: 0.5 })], {
        now: LONG_AGO,
      })[0]?.shares.vectors ?? 0;
    expect(vectors(false)).toBeGreaterThan(2 * vectors(true));
  });

  it("gives scores in [0, 1] in order, whose shares add up", () => {
    fc.assert(
      fc.property(candidates, (drawn) => {
        const hits = rank(question("when did Ann go", ["go"]), drawn, { now: NOW });
        expect(hits.map(({ ordinal }) => ordinal).toSorted((a, b) => a - b)).toEqual(
          drawn.map(({ ordinal }) => ordinal),
        );
        for (const [i, { score, shares }] of hits.entries()) {
          expect(score).toBeGreaterThanOrEqual(0);
          expect(score).toBeLessThanOrEqual(hits[i - 1]?.score ?? 1);
          expect(Object.values(shares).reduce((sum, share) => sum + share, 0)).toBeCloseTo(score, 9);
        }
      }),
    );
  });

  it("is not moved by the order of the candidates", () => {
    fc.assert(
      fc.property(candidates, (drawn) => {
        const asked = question("when did Ann go", ["go"]);
        expect(rank(asked, drawn.toReversed(), { now: NOW })).toEqual(rank(asked, drawn, { now: NOW }));
      }),
    );
  });

  it("is near 1 for the same text, also without words or tokens", () => {
    const same = { words: 1.9, cosine: 1, matches: Float32Array.of(1) };
    const score = (text: string, words: readonly string[]) =>
      rank(question(text, words), [candidate(1, same)], { now: NOW })[0]?.score;
    expect(score("umbrella", ["umbrella"])).toBeGreaterThan(0.95);
    expect(score("傘", [])).toBeGreaterThan(0.95);
    expect(score("who are you", [])).toBeGreaterThan(0.9);
  });
});

describe("worthReading", () => {
  it("has the best first, and what stands beside them", () => {
    const all = [
      candidate(1, { words: 1 }),
      candidate(2, { around: [undefined, 1] }),
      candidate(3),
      candidate(4, { cosine: 0.5 }),
    ];
    expect(worthReading(question("umbrella", ["umbrella"]), all)).toEqual([1, 4, 2, 3]);
  });

  it("has each once", () => {
    fc.assert(
      fc.property(candidates, (drawn) => {
        const every = worthReading(question("when did Ann go", ["go"]), drawn);
        expect(every.toSorted((a, b) => a - b)).toEqual(drawn.map(({ ordinal }) => ordinal));
      }),
    );
  });
});

describe("quoted phrases", () => {
  it("are found word by word", () => {
    expect(quotedPhrases('Who wrote "The Overstory" and “Café, noir”? ""')).toEqual([
      "the overstory",
      "cafe noir",
    ]);
    expect(containsPhrase("I read the Overstory!", "the overstory")).toBe(true);
    expect(containsPhrase("I read the Overstory!", "overs")).toBe(false);
    expect(containsPhrase("彼は東京に住む", "東京")).toBe(true);
  });
});
