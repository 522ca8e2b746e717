import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { compareFacts } from "../../src/core/facts/compare-facts.ts";
import { eraseFact } from "../../src/core/facts/erase-fact.ts";
import { ServiceError } from "../../src/core/errors.ts";
import type { Fact } from "../../src/core/facts/fact.ts";
import type { FactPorts } from "../../src/core/facts/fact-store.ts";
import { factTimeline, findFacts } from "../../src/core/facts/find-facts.ts";
import { invalidateFact, updateFact } from "../../src/core/facts/fact-operations.ts";
import { recordFact, type RecordFactInput, recordFacts } from "../../src/core/facts/record-fact.ts";

export interface FactStoreUnderTest {
  readonly ports: FactPorts;
  /** Brings everything to where it rests and opens the store anew from there, where it has such a place. */
  restart(): Promise<FactPorts>;
  close(): Promise<void>;
}

const HOME = { subject: "Ada", predicate: "lives in" };
const day = (text: string) => Date.parse(`${text}T00:00:00Z`);

/** Every FactStore passes these tests, whether its rows rest in memory, in the journal or in tables. */
export function factStoreContract(name: string, createStore: () => Promise<FactStoreUnderTest>): void {
  describe(`${name} keeps the FactStore contract`, () => {
    let under: FactStoreUnderTest;
    let ports: FactPorts;
    beforeEach(async () => {
      under = await createStore();
      ({ ports } = under);
    });
    afterEach(() => under.close());

    const record = async (input: Partial<RecordFactInput> & { readonly object: string }) =>
      (await recordFact(ports, { ...HOME, ...input })).fact;
    /** Everything that reads answer, as of now and as of a moment of transaction time. */
    const picture = (knownAt?: number) => ({
      facts: findFacts(ports, { limit: 1_000, ...(knownAt === undefined ? {} : { knownAt }) }),
      timeline: factTimeline(ports, {
        subject: "ADA",
        limit: 1_000,
        ...(knownAt === undefined ? {} : { knownAt }),
      }),
    });
    const versionsOf = ({ id }: Pick<Fact, "id">) => ports.store.catalogue.facts.find(id)?.versions;

    it("answers the same after a restart, by both clocks", async () => {
      const london = await record({
        object: "London\n\t“the City”",
        validFrom: day("2019-05-01"),
        confidence: 0.1 + 0.2,
        metadata: { nested: { list: [1, null, "ü"] }, "": 0 },
        userId: "ann",
        project: "p",
      });
      await record({ object: "Paris", validFrom: day("2021-03-01"), userId: "ann", project: "p" });
      await updateFact(ports, { id: london.id, confidence: 0.5, metadata: {} });
      const middle = ports.store.catalogue.facts.latestRecordedAt;
      ports = await under.restart();
      await record({
        object: "Oslo",
        validFrom: day("2020-01-01"),
        validTo: day("2020-06-01"),
        userId: "ann",
        project: "p",
      });
      await record({ object: "tea", predicate: "likes", cardinality: "many", validFrom: -5 });
      const gone = await record({ object: "jazz", predicate: "likes", validFrom: 7 });
      await eraseFact(ports, { id: gone.id });
      const before = [picture(), picture(middle), versionsOf(london)];
      ports = await under.restart();
      expect([picture(), picture(middle), versionsOf(london)]).toEqual(before);
      expect(versionsOf(gone)).toBeUndefined();
      expect(picture().facts.total).toBe(5);
      expect(picture(middle).facts.total).toBe(2);
      expect(
        compareFacts(ports, {
          subject: "ada",
          userId: "ann",
          time1: day("2020-03-01"),
          time2: day("2022-01-01"),
          limit: 9,
        }).changed,
      ).toMatchObject([{ before: { object: "Oslo" }, after: { object: "Paris" } }]);
    });

    it("never goes back in transaction time, whatever restarts", async () => {
      const first = await record({ object: "London", validFrom: 1 });
      ports = await under.restart();
      const second = await record({ object: "Paris", validFrom: 2 });
      expect(second.recordedAt).toBeGreaterThan(first.recordedAt);
      ports = await under.restart();
      const closed = await invalidateFact(ports, { id: second.id, validTo: 3 });
      expect(closed.updatedAt).toBeGreaterThan(second.recordedAt);
      expect(versionsOf(second)).toHaveLength(2);
    });

    it("writes a batch as one record, refused items left out", async () => {
      const items = Array.from({ length: 300 }, (_, i) => ({ ...HOME, object: `place ${i}`, validFrom: i }));
      const { results } = await recordFacts(ports, { items: [...items, { ...HOME, object: " " }] });
      expect(results.filter((result) => result instanceof ServiceError)).toHaveLength(1);
      ports = await under.restart();
      expect(picture().facts.total).toBe(300);
      expect(findFacts(ports, { limit: 9, at: 100 }).facts).toMatchObject([{ object: "place 100" }]);
    });

    it("keeps a timeline free of overlaps when many write to it at once", async () => {
      await Promise.all(Array.from({ length: 40 }, (_, i) => record({ object: `place ${i}`, validFrom: i })));
      ports = await under.restart();
      for (let at = 0; at < 40; at += 1) {
        expect(findFacts(ports, { limit: 9, at }).facts).toMatchObject([{ object: `place ${at}` }]);
      }
    });

    it("answers a repeated request with what it made, also after a restart", async () => {
      const idempotency = { key: "k", bodyHash: "h" };
      const made = await record({ object: "London", idempotency });
      ports = await under.restart();
      expect((await record({ object: "London", idempotency })).id).toBe(made.id);
      await eraseFact(ports, { id: made.id });
      await expect(record({ object: "London", idempotency })).rejects.toMatchObject({ code: "GONE" });
    });

    it("writes nothing when the decision throws", async () => {
      await expect(record({ object: "x", validFrom: 5, validTo: 1 })).rejects.toMatchObject({
        code: "INVALID_REQUEST",
      });
      expect(ports.store.catalogue.facts.size).toBe(0);
    });
  });
}
