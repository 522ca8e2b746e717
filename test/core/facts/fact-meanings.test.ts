import { beforeEach, describe, expect, it } from "vitest";
import { answeringFacts, similarFacts } from "../../../src/core/facts/answering-facts.ts";
import { FactMeanings } from "../../../src/core/facts/fact-meanings.ts";
import { recordFact, type RecordFactInput } from "../../../src/core/facts/record-fact.ts";
import { createFakeEmbedder, type FakeEmbedder } from "../../support/fake-embedder.ts";
import { createFakeFactPorts, type FakeFactPorts } from "../../support/in-memory-fact-store.ts";

const YEAR = (year: number) => Date.UTC(year, 0, 1);
const NOW = YEAR(2026);

let embedder: FakeEmbedder;
let ports: FakeFactPorts;
const add = (
  subject: string,
  predicate: string,
  object: string,
  year = 2020,
  rest: Partial<RecordFactInput> = {},
) => recordFact(ports, { subject, predicate, object, validFrom: YEAR(year), ...rest });
const ask = async (question: string, rest: object = {}) =>
  (await answeringFacts(ports, { question, at: NOW, ...rest })).map(
    ({ subject, object }) => `${subject} ${object}`,
  );

beforeEach(async () => {
  embedder = createFakeEmbedder();
  ports = { ...createFakeFactPorts(NOW), meanings: new FactMeanings(embedder, () => 0) };
  await add("Ann", "lives in", "Paris", 2020);
  await add("Ann", "lives in", "Rome", 2022);
  await add("Bob", "speaks", "French", 2015, { userId: "u", project: "p" });
  await add("Bob", "favourite_colour", "green", 2015, { userId: "u" });
});

describe("answeringFacts", () => {
  it("finds what is true now by words and meaning, best first, each with a score", async () => {
    expect(await ask("Where does ANN live?")).toEqual(["Ann Rome"]);
    expect(await ask("what colour is Bob's favourite")).toEqual(["Bob green"]);
    expect(await ask("Was Annette in Romeo and Juliet?")).toEqual([]);
    const found = await answeringFacts(ports, { question: "bob speaks french", at: NOW });
    expect(found[0]?.object).toBe("French");
    expect(found[0]?.score).toBeCloseTo(1, 5);
  });

  it("asks of a moment or of all times, of a user, project and subject, above a score", async () => {
    const home = "Ann lives in";
    expect(await ask(home, { at: YEAR(2021) })).toEqual(["Ann Paris"]);
    expect((await ask(home, { at: undefined })).toSorted()).toEqual(["Ann Paris", "Ann Rome"]);
    expect(await ask(home, { userId: "u" })).toEqual([]);
    expect(await ask("Bob", { projects: ["p"] })).toEqual(["Bob French"]);
    expect(await ask("Bob speaks", { predicate: "favourite_colour" })).toEqual(["Bob green"]);
    expect(await ask(home, { minScore: 0.99 })).toEqual([]);
  });

  it("embeds a statement once, and all again with another model", async () => {
    await ask("Ann?");
    const before = embedder.calls;
    await ask("Ann?");
    expect(embedder.calls - before).toBe(1);
    Object.assign(embedder, { stamp: { ...embedder.stamp, model: "other" } });
    await ask("Ann?");
    expect(embedder.calls - before).toBe(5);
  });

  it("finds by words where the model cannot run, and in scripts without spaces", async () => {
    await add("田中", "住む", "京都");
    embedder.failWith = new Error("no model");
    expect(await ask("colour green favourite Bob")).toEqual(["Bob green"]);
    expect(await ask("田中住む")).toEqual(["田中 京都"]);
  });

  it("waits for 64 statements, and embeds the others in the background", async () => {
    const others = Array.from({ length: 100 }, (_, i) => add(`thing${i}`, "weighs", `${i} kg`));
    await Promise.all(others);
    expect((await ask("thing99 weighs"))[0]).toBe("thing99 99 kg");
    await expect.poll(() => embedder.calls).toBe(1 + 103);
    expect((await ask("thing99 weighs"))[0]).toBe("thing99 99 kg");
  });

  it("looks at those that a question names, of more than it can look at closely", async () => {
    for (let i = 0; i < 2_100; i += 1) await add(`thing ${i}`, "weighs", `${i} kg`, 2020);
    expect(await ask("thing 3 weighs")).toContain("thing 3 3 kg");
    expect(await ask("where does Ann live")).toEqual(["Ann Rome"]);
  });
});

describe("similarFacts", () => {
  it("are told with a fact that may say the same, and stay as they are", async () => {
    const { fact, similar, superseded } = await add("Ann", "lives_in", "Oslo", 2024);
    expect([similar.map(({ object }) => object), superseded]).toEqual([["Rome"], []]);
    expect(ports.store.catalogue.facts.find(similar[0]?.id ?? "")?.latest.validTo).toBeNull();
    expect(await similarFacts(ports, { ...fact, validFrom: YEAR(2021) })).toMatchObject([
      { object: "Paris" },
    ]);
  });

  it("are the same subject's, user's and project's, of other predicates alone", async () => {
    expect((await add("Ann", "lives in", "Oslo", 2024)).similar).toEqual([]);
    expect((await add("Ann", "plays", "chess", 2024)).similar).toEqual([]);
    expect((await add("Eve", "lives_in", "Oslo", 2024)).similar).toEqual([]);
    expect((await add("Ann", "lives_in", "Oslo", 2024, { userId: "u" })).similar).toEqual([]);
    expect((await add("Ann", "lives_in", "Oslo", 2024, { project: "p" })).similar).toEqual([]);
  });

  it("are none where the model cannot run: the fact is recorded", async () => {
    embedder.failWith = new Error("no model");
    expect(await add("Ann", "lives_in", "Oslo", 2024)).toMatchObject({ similar: [] });
  });
});
