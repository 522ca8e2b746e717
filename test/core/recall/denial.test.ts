import { expect, it } from "vitest";
import { denialsFirst } from "../../../src/core/recall/query-memory.ts";

const ordered = (question: string, contents: readonly string[]) =>
  denialsFirst(
    question,
    contents.map((_, ordinal) => ({ ordinal, score: 0.6 - ordinal / 20, shares: {}, path: [ordinal] })),
    (ordinal) => contents[ordinal],
  );

it.each([
  [
    "Which library did we decide against?",
    ["We took Redux to the workshop.", "No Redux: it is too much code."],
  ],
  ["Was isst Jule nicht?", ["Jule isst gern Pilze.", "Jule isst keine Nüsse."]],
  ["¿Qué no bebe Pavel?", ["Pavel bebe té.", "Pavel nunca bebe café."]],
])("%s is answered by what denies", (question, contents) => {
  const [first] = ordered(question, contents);
  expect(first?.ordinal).toBe(1);
  expect(first?.shares.denial).toBeCloseTo((first?.score ?? 0) - 0.55);
});

it("leaves other questions alone, and what answers much worse", () => {
  const contents = ["Jule likes mushrooms.", "Jule eats no nuts."];
  expect(ordered("What does Jule eat?", contents).map(({ ordinal }) => ordinal)).toEqual([0, 1]);
  const far = [...Array.from({ length: 8 }, () => "Jule likes mushrooms."), "No bread today."];
  expect(ordered("What does Jule not eat?", far)[0]?.ordinal).toBe(0);
});
