import { describe, expect, it } from "vitest";
import { guessableKey } from "../../src/config/exposure.ts";

const RANDOM = "q7Xw2LmZ9dTr4KbYv8NcJ3hs";
const OPEN = { host: "0.0.0.0", allowedHosts: [] };

describe("guessableKey", () => {
  it.each([
    ["a short key", { ...OPEN, apiKey: RANDOM.slice(1) }],
    ["a word said twice", { ...OPEN, apiKey: "password".repeat(4) }],
    [
      "a short key behind a proxy",
      { host: "127.0.0.1", allowedHosts: ["box.lan:8080"], apiKey: "memory-of-my-team" },
    ],
  ])("warns of %s", (_, config) => {
    expect(guessableKey(config)).toMatch(/may be guessed.*24 random characters/);
  });

  it.each([
    ["a long random key", { ...OPEN, apiKey: RANDOM }],
    ["no key", { ...OPEN, apiKey: undefined }],
    [
      "a short key where nobody else can try",
      { host: "127.0.0.1", allowedHosts: [], apiKey: "memory-of-my-team" },
    ],
  ])("says nothing of %s", (_, config) => {
    expect(guessableKey(config)).toBeUndefined();
  });
});
