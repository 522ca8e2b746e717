import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_METADATA_DEPTH, metadataBytes, metadataFault } from "../../src/schemas/text-rules.ts";

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
