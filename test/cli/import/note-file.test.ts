import fc from "fast-check";
import { expect, it } from "vitest";
import { NOTE_PATH, notePath, noteText, parseNote } from "../../../src/cli/import/read-export.ts";

const line = fc.record({
  type: fc.constant("memory" as const),
  id: fc.uuid({ version: 7 }),
  content: fc.string({ unit: "binary", minLength: 1 }),
  tags: fc.array(fc.string({ unit: "binary" })),
  metadata: fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue(), { noNullPrototype: true }),
  user_id: fc.option(fc.string({ unit: "binary" })),
  occurred_at: fc.option(fc.constant("2025-01-02T00:00:00.000Z")),
  created_at: fc.constant("2026-01-02T00:00:00.000Z"),
});

it("brings a memory back from its Markdown exactly", () => {
  fc.assert(
    fc.property(line, (memory) => {
      const written = Buffer.from(noteText(memory as never)).toString();
      expect(parseNote(written)).toEqual(JSON.parse(JSON.stringify(memory)));
    }),
  );
});

it("gives names that every system takes, no two alike", () => {
  fc.assert(
    fc.property(line, line, (one, other) => {
      expect(notePath(one)).toMatch(NOTE_PATH);
      expect(notePath(one) === notePath(other)).toBe(one.id === other.id);
    }),
  );
  const memory = {
    id: "019aa5a0-6c1e-7c3a-9d0f-5b8e3a1c2d4e",
    occurred_at: null,
    created_at: "2026-11-21T10:00:00.000Z",
  };
  expect(notePath({ ...memory, content: "Épinards: CON & aux?" })).toBe(
    "memories/2026-11/2026-11-21-epinards-con-aux-019aa5a0-6c1e-7c3a-9d0f-5b8e3a1c2d4e.md",
  );
});
