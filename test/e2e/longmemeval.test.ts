import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readInstances, timeOf } from "../eval/longmemeval-file.ts";
import { measure, type Outcome, report } from "../eval/longmemeval.ts";
import { startDaemonProcess } from "../support/daemon-process.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "memoryd-longmemeval-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const instance = (id: string, question: string) => ({
  question_id: id,
  question_type: "single-session-user",
  question,
  answer: 'Brno {"',
  question_date: "2023/05/30 (Tue) 23:40",
  haystack_session_ids: ["a", "b"],
  haystack_dates: ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00"],
  haystack_sessions: [
    [
      { role: "user", content: 'My bicycle has a flat tyre, \\ "again" }.' },
      { role: "assistant", content: "A new tube costs little." },
    ],
    [
      { role: "user", content: "My sister Petra moved to Brno in April.", has_answer: true },
      { role: "assistant", content: "I hope that she likes it there." },
    ],
  ],
  answer_session_ids: id.endsWith("_abs") ? [] : ["b"],
});

describe("a file of LongMemEval", () => {
  it("is measured question by question, and a second run goes on where the first ended", async () => {
    const [path, results] = [join(folder, "set.json"), join(folder, "results.jsonl")];
    const daemon = await startDaemonProcess(join(folder, "data"));
    try {
      const first = [instance("one", "Where did my sister move?")];
      writeFileSync(path, JSON.stringify(first));
      await measure(path, results, daemon.baseUrl, () => {});
      appendFileSync(results, '{"id":"two_a');
      writeFileSync(path, JSON.stringify([...first, instance("two_abs", "What is my cat called?")], null, 2));
      const measured: string[] = [];
      const outcomes = await measure(path, results, daemon.baseUrl, (line) => measured.push(line));
      expect(measured).toEqual([expect.stringContaining("two_abs, 4 turns")]);
      expect(outcomes).toMatchObject([
        { id: "one", answerable: true, session: { places: [0], of: 1 }, turn: { places: [0], of: 1 } },
        { id: "two_abs", answerable: false },
      ]);
      const again = await measure(path, results, daemon.baseUrl, () => expect.unreachable());
      expect(again).toEqual(outcomes);
      expect(readFileSync(results, "utf8")).toContain("two_abs");
      expect(await (await fetch(`${daemon.baseUrl}/memory/counts`)).text()).not.toContain("longmemeval-");
    } finally {
      await daemon.stop();
    }
  });

  it("is refused where it is cut off or something else", async () => {
    const path = join(folder, "set.json");
    const read = async (text: string) => {
      writeFileSync(path, text);
      const ids: string[] = [];
      for await (const { question_id } of readInstances(path)) ids.push(question_id);
      return ids;
    };
    const whole = JSON.stringify([instance("one", "Where?"), instance("two", "Who?")]);
    expect(await read(whole)).toEqual(["one", "two"]);
    await expect(read(whole.slice(0, -20))).rejects.toThrow("its question 2 cannot be read");
    await expect(read("[]")).rejects.toThrow("its question 1 cannot be read");
    await expect(read('[{"a":1}]')).rejects.toThrow("its question 1 cannot be read");
  });

  it("has dates of minutes", () => {
    expect(timeOf("2023/05/20 (Sat) 02:21")).toBe("2023-05-20T02:21:00Z");
    expect(() => timeOf("20 May")).toThrow('the date "20 May"');
  });
});

it("figures are those of the places of the evidence, without what nothing answers", () => {
  const outcome = (part: Partial<Outcome>): Outcome => ({
    id: "q",
    type: "multi-session",
    answerable: true,
    turns: 10,
    storedMs: 500,
    askedMs: 100,
    session: { places: [1, 6], of: 2 },
    turn: { places: [], of: 0 },
    ...part,
  });
  const text = report([outcome({}), outcome({ answerable: false, session: { places: [], of: 0 } })]);
  // Gains of places 2 and 7: (1 / log2 3 + 1 / log2 8) / (1 + 1 / log2 3).
  expect(text).toContain(
    "| all | 1 | 0.000, 0.000, 0.000 | 1.000, 0.000, 0.500 | 1.000, 1.000, 1.000 | 1.000, 1.000, 1.000 | 0.591 | 0.500 |",
  );
  expect(text).toContain("| all | 0 | –, –, – |");
  expect(text).toContain("1 questions that nothing answers are in no row. 20 turns stored in 1.0 s");
});
