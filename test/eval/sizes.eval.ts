/**
 * What `relevant` says to a user of twenty notes and to one of thousands: everyday notes, of which a part is left
 * or to which turns of conversations are added that have nothing to do with them. Embeddings are kept in the temporary
 * folder.
 *
 *   npx vitest run --project eval sizes
 *
 * `MEMORYD_EVERYDAY` and `MEMORYD_CONVERSATIONS` as for `everyday`; `MEMORYD_SIZES` names the sizes, such as 20000.
 */
import { existsSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import type { Embedder } from "../../src/core/ports.ts";
import { openEmbedder } from "../../src/models/onnx-embedder.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { modelUnderTest } from "./bare-model.ts";
import { cachedEmbedder } from "./cached-embedder.ts";
import { type EverydaySet, readConversations, readEverydaySet, type SetMemory } from "./everyday-set.ts";
import { type Asked, openSet, relevanceOf, toldApart } from "./recall-run.ts";

const EVERYDAY = process.env["MEMORYD_EVERYDAY"] ?? "../shared/data/daily-dev";
const CONVERSATIONS = [
  process.env["MEMORYD_LOCOMO"] ?? "../shared/data/locomo-dev.json",
  process.env["MEMORYD_CONVERSATIONS"] ?? "../shared/data/long-turns-dev.json",
];
const SIZES = (process.env["MEMORYD_SIZES"] ?? "20,75,1000").split(",").map(Number);
/** As long as an everyday note. */
const FILLER_CHARACTERS = { least: 40, most: 240 };
/** Of what resembles a question most, so that it is as hard with few notes. */
const NEAREST = 5;

const isThere = [EVERYDAY, ...CONVERSATIONS].every((path) => existsSync(path));
const users = (set: EverydaySet) => [...new Set(set.memories.map(({ userId }) => userId))];

/** In days before the questions: no question's window has any of them. */
const FILLER_AGE = { least: 1_100, most: 1_800 };

/** Notes of others, in an order drawn by chance: turns, of long ones passages. */
function fillers(now: number): { readonly content: string; readonly occurredAt: number }[] {
  const { least, most } = FILLER_CHARACTERS;
  const texts = CONVERSATIONS.flatMap((file) => readConversations(file, "fillers").memories).flatMap(
    ({ content }) => content.match(new RegExp(`.{${least},${most}}(?:[.!?]|$)`, "gsu")) ?? [],
  );
  const random = seededRandom(20);
  const daysAgo = () => FILLER_AGE.least + Math.floor(random() * (FILLER_AGE.most - FILLER_AGE.least));
  return [...new Set(texts.map((text) => text.trim()))]
    .map((content) => ({ content, occurredAt: now - daysAgo() * 86_400_000, at: random() }))
    .sort((a, b) => a.at - b.at);
}

async function askAll(set: EverydaySet, embedder: Embedder): Promise<Asked[]> {
  const world = await openSet(set, embedder);
  const asked: Asked[] = [];
  for (const question of set.questions) asked.push(await world.ask(question));
  return asked;
}

/** Each user with so many notes, the others' drawn; users one after the other. */
async function withMany(set: EverydaySet, size: number, embedder: Embedder): Promise<Asked[]> {
  const others = fillers(set.now);
  const asked: Asked[] = [];
  for (const userId of users(set)) {
    const own = set.memories.filter((memory) => memory.userId === userId);
    const more = others.slice(0, size - own.length).map((filler, i): SetMemory => ({
      ...filler,
      name: `filler ${i}`,
      userId,
    }));
    expect(more).toHaveLength(size - own.length);
    const memories = [...own, ...more].sort((a, b) => Number(a.occurredAt) - Number(b.occurredAt));
    const questions = set.questions.filter((question) => question.userId === userId);
    asked.push(...(await askAll({ ...set, memories, questions }, embedder)));
  }
  return asked;
}

/** For each question so many of the user's notes: what it is about, what resembles it most, and others drawn by chance. */
async function withFew(set: EverydaySet, size: number, embedder: Embedder): Promise<Asked[]> {
  const random = seededRandom(20);
  const asked: Asked[] = [];
  for (const { question, found } of await askAll(set, embedder)) {
    const wanted = new Set([...question.expect, ...question.stale, ...found.slice(0, NEAREST)]);
    const own = set.memories.filter(({ userId }) => userId === question.userId);
    const drawn = own
      .map(({ name }) => ({ name, at: wanted.has(name) ? -1 : random() }))
      .sort((a, b) => a.at - b.at)
      .slice(0, Math.max(size, wanted.size));
    const kept = new Set(drawn.map(({ name }) => name));
    const memories = own.filter(({ name }) => kept.has(name));
    asked.push(...(await askAll({ ...set, memories, questions: [question] }, embedder)));
  }
  return asked;
}

it.runIf(isThere)(
  "says what answers to users of all sizes",
  async () => {
    const set = readEverydaySet(EVERYDAY, "sizes");
    const embedder = await openEmbedder(modelUnderTest(), { workers: 1 });
    onTestFinished(() => embedder.close());
    const cached = cachedEmbedder(embedder, set.name);
    const own = set.memories.length / users(set).length;
    for (const size of SIZES) {
      const asked = await (size < own
        ? withFew(set, size, cached)
        : size === own
          ? askAll(set, cached)
          : withMany(set, size, cached));
      cached.save();
      const answerable = asked.filter(({ question }) => question.expect.length > 0);
      const first = answerable.filter(({ question, found: [name = ""] }) => question.expect.includes(name));
      const figures = { ...relevanceOf(asked), "told apart": toldApart(asked) };
      const shown = Object.entries(figures).map(([name, value]) => `${name} ${value.toFixed(3)}`);
      console.log(
        `${size} notes a user: first answer right ${(first.length / answerable.length).toFixed(3)}, ${shown.join(", ")}`,
      );
    }
  },
  3_600_000,
);
