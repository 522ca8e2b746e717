import { describe, expect, it } from "vitest";
import {
  isCorrectedBy,
  isEndedBy,
  readCorrection,
  withBefore,
} from "../../../src/cli/transcripts/corrections.ts";
import { isPraise } from "../../../src/cli/transcripts/capture-session.ts";

describe("a correction", () => {
  it.each([
    ["no, the port is 4311 now, not 4310", "The port is 4311 now, not 4310", "4310", false],
    ["nein, der Port ist jetzt 4311, nicht 4310", "Der Port ist jetzt 4311, nicht 4310", "4310", false],
    ["no, la porta è la 4311, non la 4310", "La porta è la 4311, non la 4310", "4310", false],
    ["no, actually it's called harbour", "It's called harbour", undefined, false],
    ["Actually, we use pnpm, not npm.", "We use pnpm, not npm.", "npm", true],
    [
      "nein, das Archiv heißt nicht orders, sondern orders_v2",
      "Das Archiv heißt nicht orders, sondern orders_v2",
      "orders",
      false,
    ],
    [
      "wrong, the config lives in config/app.toml, not config/app.yaml",
      "The config lives in config/app.toml, not config/app.yaml",
      "config/app.yaml",
      true,
    ],
    [
      "nope, Maria owns the billing service, not Peter",
      "Maria owns the billing service, not Peter",
      "Peter",
      true,
    ],
  ])("is read from %j", (sentence, text, old, isAlone) => {
    expect(readCorrection(sentence)).toEqual({ text, old, isAlone });
  });

  it.each(["I meant 4311", "I said blue, not green", "wait, not yet"])(
    "is not %j, in which nothing holds",
    (sentence) => expect(readCorrection(sentence)).toBeUndefined(),
  );

  it("of a part of what is on the screen needs what was said before", () => {
    for (const sentence of [
      "wrong, the function returns null, not undefined",
      "no, the button should be left, not right",
    ])
      expect(readCorrection(sentence)).toMatchObject({ isAlone: false });
  });

  it.each([
    ["The dev server listens on port 4310.", "no, the port is 4311 now, not 4310", true],
    ["Deploys go to Fly.io on Fridays.", "actually we deploy to Hetzner now, not Fly.io", true],
    ["I live in Porto.", "No, I live in Lisbon, not Porto", true],
    ["Maria lives in Porto.", "No, I live in Lisbon, not Porto", false],
    ["Peter lives in Porto.", "No, Maria lives in Lisbon, not Porto", false],
    ["The production database listens on 5432.", "no, the staging database listens on 5433, not 5432", false],
  ])("with %j before it, %j: takes its place is %j", (earlier, sentence, isEnded) => {
    const correction = readCorrection(sentence);
    expect(correction && isEndedBy(earlier, correction)).toBe(isEnded);
  });

  it("is about an earlier text that has the value as a word and speaks of the same", () => {
    const correction = { text: "The port is 4311 now, not 4310", old: "4310", isAlone: false };
    expect(isCorrectedBy("The dev server listens on port 4310.", correction)).toBe(true);
    expect(isCorrectedBy("The port is 43100.", correction)).toBe(false);
    expect(isCorrectedBy("We have 4310 users.", correction)).toBe(false);
    expect(withBefore(correction, "Port 4310,\nsince May")).toBe(
      "The port is 4311 now, not 4310. (Before: Port 4310, since May)",
    );
  });
});

it.each([
  "thanks, great job",
  "great, thanks a lot! you're amazing",
  "Perfect, that works now!",
  "merci beaucoup, c'est parfait",
  "you fixed it, great 👍",
])("takes %j for praise", (text) => expect(isPraise(text)).toBe(true));

it.each(["thanks, now use port 4311", "great, the release is on Friday"])(
  "takes %j for more than praise",
  (text) => expect(isPraise(text)).toBe(false),
);
