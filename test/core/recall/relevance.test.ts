import { addMemory } from "../../../src/core/memories/add-memories.ts";
import { beforeEach, expect, it } from "vitest";
import { queryMemory } from "../../../src/core/recall/query-memory.ts";
import type { RankedHit } from "../../../src/core/recall/ranking.ts";
import {
  answeringCount,
  lackOfForm,
  plausibleCount,
  scoreByOdds,
} from "../../../src/core/recall/relevance.ts";
import { createMemoryWorld, type MemoryWorld } from "../../support/memory-world.ts";

let world: MemoryWorld;
beforeEach(async () => {
  world = createMemoryWorld();
  for (let i = 0; i < 20; i += 1)
    await addMemory(world.ports, { content: `note ${i} on bread, bicycles, weather and rivers` });
});
const ask = (query: string) => queryMemory(world.ports, { query, limit: 8, filter: {} });

it("counts the leading matches that answer, and none where nothing does", async () => {
  await addMemory(world.ports, { content: "the winter tyres of the van are in the cellar" });
  expect((await ask("where are the winter tyres of the van?")).relevant).toBe(1);
  expect((await ask("what is the capital of Mongolia?")).relevant).toBe(0);
});

it("finds that many notes on one subject answer a question for it, and none of them what they lack", async () => {
  const details =
    "berth trailer hull anchor radio sail pump motor key name fee trip varnish rope lamp tank seat deck";
  for (const detail of details.split(" "))
    await addMemory(world.ports, { content: `the ${detail} of the catamaran was looked at` });
  expect((await ask("catamaran")).relevant).toBe(8);
  expect((await ask("tell me about the catamaran")).relevant).toBe(8);
  expect((await ask("is the passport of the catamaran in Mongolia?")).relevant).toBe(0);
});

it("is surer of a note that was written when the question says", async () => {
  const occurredAt = world.now - 40 * 86_400_000;
  await addMemory(world.ports, { content: "the oven was repaired", occurredAt });
  const score = async (query: string) => (await ask(query)).hits[0]?.score ?? 0;
  expect(await score("oven in the last 50 days")).toBeGreaterThan(await score("oven"));
});

it.each([
  [
    "What is Arminda's phone number?",
    "Arminda downstairs keeps our keys, second floor",
    "Arminda: 22 610 44 87",
  ],
  ["Ms. Janssen's phone?", "Ms. Janssen may wear black shoes", "Ms. Janssen, 0175 619 3004"],
  ["phone of Mrs. Adams", "Mrs. Adams has her baby", "Mrs. Adams, 0171 224 1810"],
  ["Telefonnummer von Dr. Amini", "Praxis Dr. Amini, 8 bis 12 Uhr", "Dr. Amini: 04841/61023"],
  ["número de teléfono de Vicent", "casero Vicent, 850 €", "Vicent 655401298"],
  ["email of the administrator", "administrator: Pautasso, 011 8127790", "pautasso@example.org"],
  ["téléphone de Fatou", "Fatou, 11 € de l'heure", "Fatou 06 12 88 40 19"],
  ["e-mail address of the administrator", "administrator: Pautasso, 011 8127790", "pautasso@example.org"],
  ["What does the choir cost?", "Choir is on Thursdays", "Choir is 36 a year"],
  ["Wie viel kostet das Freibad?", "Freibad hat wieder auf", "Freibad für Kinder umsonst"],
  ["¿Cuánto cuesta el hostal?", "hostal con desayuno", "hostal: cien euros"],
  ["prezzo dell'abete", "abete da Rivolta", "abete 42 la tavola"],
  ["When is Camille's birthday?", "Camille is a vegetarian", "Camille was born on 3 May"],
  ["How old is grandma?", "Grandma moved to Rosenhof", "grandma turned ninety-two, not eleven"],
  ["combien pèse Jules ?", "Jules grimpe bien", "Jules pèse trente kilos, dit-il en mars"],
  ["Wann ist Skat?", "Skat bei Kuno", "Skat bei Kuno, dienstags"],
  ["何時に出ますか", "家を出ます", "六時に出ます"],
  ["How many of the 12 chairs are broken?", "12 chairs, some are broken", "of 12 chairs 3 are broken"],
])("asks for something of a form: %s", (question, without, having) => {
  expect(lackOfForm(question)(without)).toBeGreaterThan(0);
  expect(lackOfForm(question)(having)).toBe(0);
});

it("asks nothing of the form of what a question does not ask for", () => {
  for (const question of [
    "Who is on call?",
    "Which parent only wants e-mail?",
    "Who bears the cost?",
    "phone charger",
    "Where is Ben's phone?",
    "When did I see the dentist?",
    "what do I take when I travel?",
    "how often did the boiler fail?",
    "Wie oft war die Heizung kaputt?",
  ])
    expect(lackOfForm(question)("a note")).toBe(0);
});

it("takes a text that names other years for less likely, where the question names one", () => {
  const lackOf = lackOfForm("When is the summer fair 2027?", { isYearNamed: true });
  expect(lackOf("Summer fair on 12 July 2025")).toBeGreaterThan(lackOf("Summer fair on 12 July 2027"));
  expect(lackOf("Summer fair on 12 July")).toBe(0);
});

it("takes a text with another number or letter behind a word of the question for less likely, but for a check of a value", () => {
  const lackOf = lackOfForm("what was the quote for the roof of building A?");
  expect(lackOf("Quote for the roof of building D: 310,000 kr")).toBeGreaterThan(0);
  expect(lackOf("Quote for the roof of building A: 310,000 kr, not building D")).toBe(0);
  expect(lackOf("Quote for the roof: 310,000 kr")).toBe(0);
  expect(lackOfForm("what does reviewer 3 ask for?")("Reviewer 2 asks for a map")).toBeGreaterThan(0);
  expect(lackOfForm("does building A or B have a new roof?")("Building B has a new roof")).toBe(0);
  expect(lackOfForm("lasagne recipe for 2 people")("Lasagne for 4 people")).toBe(0);
  expect(lackOfForm("is code 4417 still right?", { isCheck: true })("New code 5528")).toBe(0);
});

it("does not take a note for an answer that has no number where one is asked for, and scores less", async () => {
  await addMemory(world.ports, { content: "Arminda next door keeps our keys" });
  const { hits, relevant } = await ask("what is the phone number of Arminda next door?");
  expect(relevant).toBe(0);
  const sure = await ask("who next door keeps our keys?");
  expect(sure.relevant).toBe(1);
  expect(hits[0]?.score).toBeLessThan(sure.hits[0]?.score ?? 0);
});

const hit = (ordinal: number, score: number, currency?: number): RankedHit => ({
  ordinal,
  score,
  shares: currency === undefined ? {} : { currency },
  path: [ordinal],
});

it("scores by how sure the best answer is, and keeps the order and both ends", () => {
  const scores = [0.99, 0.7, 0.65, 0.3, 0.02];
  for (const odds of [-8, -2, 0, 2, 8]) {
    const rescored = scores.map(scoreByOdds(hit(0, 0.7), () => odds));
    expect(rescored).toEqual(rescored.toSorted((a, b) => b - a));
    expect(scoreByOdds(hit(0, 0.7), () => odds)(0)).toBe(0);
  }
  expect(scoreByOdds(hit(0, 0.7), () => 4)(0.7)).toBeGreaterThan(0.9);
  expect(scoreByOdds(hit(0, 0.7), () => 4)(0.02)).toBeLessThan(0.05);
  expect(scoreByOdds(hit(0, 0.7), () => -4)(0.7)).toBeLessThan(0.1);
});

it("takes what replaced an answer for one, though it has other words", () => {
  const odds = (one: RankedHit) => (one.ordinal === 1 ? 2 : -1);
  expect(answeringCount([hit(2, 0.9, 0.1), hit(1, 0.88), hit(3, 0.5)], odds)).toBe(2);
  expect(answeringCount([hit(2, 0.9), hit(1, 0.88), hit(3, 0.5)], odds)).toBe(0);
});

it.each([
  ["nothing resembles the question", [0.34, 0.33], 0, 0],
  ["the best is worth a look, and what is nearly as good", [0.4, 0.2, 0.1, 0.1], 0, 2],
  ["at most three more than what answers", [0.9, 0.8, 0.7, 0.6, 0.5, 0.4], 2, 5],
  ["no more than there are", [0.9], 1, 1],
  ["nothing was found", [], 0, 0],
])("counts what is worth reading: %s", (_, scores, relevant, plausible) => {
  expect(plausibleCount(scores, relevant)).toBe(plausible);
});

it("gives each match its level", async () => {
  await addMemory(world.ports, { content: "the winter tyres of the van are in the cellar" });
  await addMemory(world.ports, { content: "the van needs winter wipers" });
  const { hits, relevant, plausible } = await ask("where are the winter tyres of the van?");
  expect(plausible).toBeGreaterThan(relevant);
  expect(hits.map(({ level }) => level)).toEqual(
    hits.map((_hit, place) => (place < relevant ? "answer" : place < plausible ? "perhaps" : "near")),
  );
});

it("lets a second note that says the same hide neither", async () => {
  await addMemory(world.ports, { content: "the winter tyres of the van are in the cellar" });
  const before = await ask("where are the winter tyres of the van?");
  await addMemory(world.ports, { content: "winter tyres of the van: they are in the cellar" });
  const after = await ask("where are the winter tyres of the van?");
  expect(after.relevant).toBe(2);
  expect(after.hits[1]?.score).toBeGreaterThanOrEqual((before.hits[0]?.score ?? 1) - 0.05);
});
