import { describe, expect, it } from "vitest";
import { Value } from "typebox/value";
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
  MAX_METADATA_DEPTH,
  metadataBytes,
  metadataFault,
} from "../../src/schemas/text-rules.ts";
import { textField } from "../../src/schemas/fields.ts";
import fc from "fast-check";

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

describe("metadata", () => {
  function nested(levels: number): object {
    let value: object = {};
    for (let level = 1; level < levels; level += 1) value = { inner: value };
    return value;
  }

  describe("metadataFault", () => {
    it("finds none in what JSON carries exactly", () => {
      fc.assert(
        fc.property(fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue()), (value) => {
          fc.pre(!JSON.stringify(value).includes("__proto__"));
          expect(metadataFault(value)).toBeUndefined();
        }),
      );
    });

    it("takes 64 levels and not one more", () => {
      expect(metadataFault(nested(MAX_METADATA_DEPTH))).toBeUndefined();
      expect(metadataFault(nested(MAX_METADATA_DEPTH + 1))).toMatch(/64 levels/);
    });

    it("does not overflow the stack on any depth", () => {
      expect(metadataFault(nested(200_000))).toMatch(/64 levels/);
    });

    it.each([
      ['{"a": {"__proto__": 1}}', /__proto__/],
      ['{"a": ["\\ud800"]}', /surrogate/],
      ['{"\\udc00": 1}', /surrogate/],
      ['{"a": 1e400}', /1.8e308/],
    ])("names what is wrong with %s", (json, fault) => {
      expect(metadataFault(JSON.parse(json))).toMatch(fault);
    });
  });

  describe("metadataBytes", () => {
    it("counts UTF-8 of compact JSON", () => {
      expect(metadataBytes({ ä: "😀" })).toBe(Buffer.byteLength('{"ä":"😀"}'));
    });
  });
});
