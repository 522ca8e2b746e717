import { Value } from "typebox/value";
import { describe, expect, it } from "vitest";
import {
  CLIENT_NAME,
  FACT_OBJECT,
  FACT_PATTERN,
  FACT_SUBJECT,
  fieldFaults,
  KEY_NAME,
  PROJECT,
  QUERY_PROJECT,
  TAG,
  textFault,
  USER_ID,
} from "../../src/schemas/text-rules.ts";
import { textField } from "../../src/schemas/fields.ts";

const TEXTS = [
  "",
  "ada",
  ".",
  "..",
  "...",
  "two words",
  "a\nb",
  "a\u0000b",
  "half \ud800 a pair",
  "🌱".repeat(64),
  "🌱".repeat(65),
  "x".repeat(256),
  "🌱".repeat(257),
  "x".repeat(1_025),
  "x".repeat(8_193),
];

describe("textFault", () => {
  it.each(
    Object.entries({
      CLIENT_NAME,
      FACT_OBJECT,
      FACT_PATTERN,
      FACT_SUBJECT,
      KEY_NAME,
      PROJECT,
      QUERY_PROJECT,
      TAG,
      USER_ID,
    }),
  )("says of %s what its schema says", (_name, rule) => {
    for (const text of TEXTS) {
      const [fault] = fieldFaults(Value.Errors(textField(rule), text));
      expect([text, textFault(text, rule)]).toEqual([text, fault?.message]);
    }
  });
});
