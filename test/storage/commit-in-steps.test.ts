import { beforeEach, describe, expect, it } from "vitest";
import type { ServiceError } from "../../src/core/errors.ts";
import type { Change } from "../../src/core/rows.ts";
import { createInMemoryStore, type InMemoryStore } from "../support/in-memory-store.ts";
import { memoryRow } from "../support/memory-row.ts";

let memory: InMemoryStore;
beforeEach(() => (memory = createInMemoryStore({ now: () => 1_000_000 })));

const put = (id: string, order: number): Change => ({
  table: "memories",
  id,
  row: memoryRow({ id, order }),
});
const add = (id: string) =>
  memory.store.commit(({ nextOrder }) => ({ changes: [put(id, nextOrder)], result: id }));
const has = (id: string) => memory.store.catalogue.find(id) !== undefined;
const codeOf = (error: unknown) => (error as ServiceError).code;
const nextTurn = () => new Promise((done) => setImmediate(done));

/** Longer than a slice, so that others get their turn. */
function longStep(): void {
  const end = performance.now() + 30;
  while (performance.now() < end);
}

describe("a decision in steps", () => {
  it("lets reads in between its steps, and no other write", async () => {
    await add("a");
    let steps = 0;
    const deletion = memory.store.commit(function* () {
      for (; steps < 3; steps += 1) {
        expect(has("b")).toBe(false);
        longStep();
        yield;
      }
      return { changes: [{ table: "memories" as const, id: "a", row: null }], result: steps };
    });
    await nextTurn();
    const seen = { steps, a: has("a") };
    const added = add("b");
    await expect(deletion).resolves.toBe(3);
    await added;
    expect(seen.steps).toBeLessThan(3);
    expect(seen.a).toBe(true);
    expect([has("a"), has("b")]).toEqual([false, true]);
    expect(memory.records.map((changes) => changes.map(({ id }) => id))).toEqual([["a"], ["a"], ["b"]]);
  });

  it("does not rest on a record before it that is taken back", async () => {
    memory.hold();
    const refused = add("a").catch(codeOf);
    await nextTurn();
    const decided = memory.store.commit(function* () {
      yield;
      return { changes: [], result: has("a") };
    });
    await memory.release("refused");
    await expect(refused).resolves.toBe("STORE_FULL");
    await expect(decided).resolves.toBe(false);
  });

  it("is taken back whole where it is refused", async () => {
    memory.hold();
    const added = memory.store.commit(function* ({ nextOrder }) {
      yield;
      return { changes: [put("a", nextOrder), put("b", nextOrder + 1)], result: undefined };
    });
    const refused = added.catch(codeOf);
    while (!has("b")) await nextTurn();
    // The journal has it a turn later.
    await nextTurn();
    await memory.release("refused");
    await expect(refused).resolves.toBe("STORE_FULL");
    expect([has("a"), has("b")]).toEqual([false, false]);
  });

  it("leaves no gap in the order of memories where it is refused at once", async () => {
    memory.refuseNext();
    const refused = memory.store.commit(function* ({ nextOrder }) {
      yield;
      return { changes: [put("a", nextOrder)], result: undefined };
    });
    await expect(refused.catch(codeOf)).resolves.toBe("STORE_FULL");
    await expect(memory.store.commit(({ nextOrder }) => ({ changes: [], result: nextOrder }))).resolves.toBe(
      1,
    );
    expect(has("a")).toBe(false);
  });

  it("comes of a large one at once too, which is asked again", async () => {
    const answers: number[] = [];
    const added = memory.store.commit(({ nextOrder }) => {
      answers.push(nextOrder);
      const changes = Array.from({ length: 10_001 }, (_, i) => put(`m${i}`, nextOrder + i));
      return { changes, result: answers.length };
    });
    const later = add("later");
    await expect(added).resolves.toBe(2);
    await later;
    expect(answers).toEqual([1, 1]);
    expect(memory.records.map(({ length }) => length)).toEqual([10_001, 1]);
    expect(memory.records[1]?.[0]?.row).toMatchObject({ order: 10_002 });
    expect(has("m10000")).toBe(true);
  });

  it("makes way for others where it throws", async () => {
    const thrown = memory.store.commit<string>(function* () {
      yield;
      throw new Error("no");
    });
    const added = add("a");
    await expect(thrown).rejects.toThrow("no");
    await expect(added).resolves.toBe("a");
  });
});
