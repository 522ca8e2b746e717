import { existsSync, readFileSync } from "node:fs";
import type { Connection } from "@lancedb/lancedb";
import { Index } from "@lancedb/lancedb";
import { EMBEDDING_DIMENSIONS as DIMENSIONS } from "../../src/core/embedding.ts";
import { Int8Rows, quantise } from "../../src/core/recall/int8-kernel.ts";
import { sentencesOf } from "../../src/core/text/sentences.ts";
import { MINILM } from "../../src/models/bundled-models.ts";
import { openEmbedder } from "../../src/models/onnx-embedder.ts";
import { arrow } from "../../src/storage/tables/lancedb.ts";
import { embedAll } from "../eval/embedding-cache.ts";
import { type Conversation, readLocomo } from "../eval/locomo.ts";
import { seededRandom } from "../support/seeded-random.ts";

const LOCOMO = process.env["MEMORYD_LOCOMO"] ?? "../shared/data/locomo-dev.json";
const CONVERSATIONS = process.env["MEMORYD_CONVERSATIONS"] ?? "../shared/data/long-turns-dev.json";
const SENTENCES = 20_000;
const NEIGHBOURS = 8;
const NOISE = 0.5;
const ROWS_AT_ONCE = 10_000;
const OWNERS = 100;

/**
 * Fills a table `rows` and indexes what filters need. The first vectors are those of turns and sentences of conversations; each
 * other lies between one of these and one of its neighbours, moved a bit along the difference of two others.
 *
 * @returns vectors of questions to the conversations.
 */
export async function fillRows(
  connection: Connection,
  count: number,
  questions: number,
): Promise<Float32Array[]> {
  const { sentences, asked } = await realVectors(questions);
  const neighbours = neighboursOf(sentences);
  const random = seededRandom(count);
  const draw = (below: number) => Math.floor(random() * below);
  const item = new arrow.Field("item", new arrow.Utf8(), false);
  for (let first = 0; first < count; first += ROWS_AT_ONCE) {
    const length = Math.min(ROWS_AT_ONCE, count - first);
    const values = new Float32Array(length * DIMENSIONS);
    const owners: string[] = [];
    for (let i = 0; i < length; i += 1) {
      const at = first + i < sentences.length ? first + i : draw(sentences.length);
      values.set(first + i < sentences.length ? (sentences[at] ?? []) : drawn(at), i * DIMENSIONS);
      owners.push(`user${Math.floor((at * OWNERS) / sentences.length)}`);
    }
    const places = Array.from({ length }, (_, i) => first + i);
    const vectors = arrow.makeData({
      type: new arrow.FixedSizeList(DIMENSIONS, new arrow.Field("item", new arrow.Float32(), true)),
      length,
      nullCount: 0,
      child: arrow.makeData({ type: new arrow.Float32(), length: values.length, nullCount: 0, data: values }),
    });
    const tags = places.map((place) => [place % 1_000 === 7 ? "rare" : "common"]);
    const rows = new arrow.Table({
      n: arrow.makeVector(Int32Array.from(places)),
      user: arrow.vectorFromArray(
        places.map((place) => `user${place % OWNERS}`),
        new arrow.Utf8(),
      ),
      owner: arrow.vectorFromArray(owners, new arrow.Utf8()),
      tags: arrow.vectorFromArray(tags, new arrow.List(item)),
      time: arrow.makeVector(Float64Array.from(places)),
      vector: arrow.makeVector(vectors),
    });
    if (first === 0) await connection.createTable("rows", rows);
    else await (await connection.openTable("rows")).add(rows);
  }
  const table = await connection.openTable("rows");
  await table.optimize();
  await table.createIndex("user", { config: Index.bitmap() });
  await table.createIndex("owner", { config: Index.bitmap() });
  await table.createIndex("tags", { config: Index.labelList() });
  await table.createIndex("time", { config: Index.btree() });
  return asked;

  function drawn(at: number): Float32Array {
    const near = neighbours[at]?.[draw(NEIGHBOURS)] ?? at;
    const [one, other, from, to] = [at, near, draw(sentences.length), draw(sentences.length)].map(
      (place) => sentences[place] ?? new Float32Array(DIMENSIONS),
    );
    const [share, noise] = [random() / 2, random() * NOISE];
    const vector = new Float32Array(DIMENSIONS);
    let squares = 0;
    for (let i = 0; i < DIMENSIONS; i += 1) {
      const between = (1 - share) * (one?.[i] ?? 0) + share * (other?.[i] ?? 0);
      const component = between + noise * ((to?.[i] ?? 0) - (from?.[i] ?? 0));
      vector[i] = component;
      squares += component ** 2;
    }
    for (let i = 0; i < DIMENSIONS; i += 1) vector[i] = (vector[i] ?? 0) / Math.sqrt(squares);
    return vector;
  }
}

async function realVectors(questions: number) {
  if (!existsSync(LOCOMO) || !existsSync(CONVERSATIONS))
    throw new Error(`${LOCOMO} or ${CONVERSATIONS} is missing`);
  const chat = readLocomo(LOCOMO);
  const long = (JSON.parse(readFileSync(CONVERSATIONS, "utf8")) as Conversation[]).flatMap(({ turns }) =>
    turns.flatMap(({ text }) => sentencesOf(text).filter(({ length }) => length >= 20 && length <= 300)),
  );
  const evenly = (texts: readonly string[], count: number) =>
    Array.from({ length: count }, (_, i) => texts[Math.floor((i * texts.length) / count)] ?? "");
  const turns = chat.flatMap((conversation) => conversation.turns.map(({ text }) => text));
  const texts = [...new Set([...turns, ...evenly(long, SENTENCES - turns.length)])];
  const asked = evenly(
    chat.flatMap((conversation) => conversation.questions.map(({ q }) => q)),
    questions,
  );
  const embedder = await openEmbedder(MINILM);
  const embedded = await embedAll(embedder, texts, asked);
  await embedder.close();
  return {
    sentences: texts.flatMap((text) => embedded.document(text).windows.slice(0, 1)),
    asked: asked.map((text) => embedded.question(text).vector),
  };
}

/** Places of the nearest of each, without itself. */
function neighboursOf(vectors: readonly Float32Array[]): number[][] {
  const rows = new Int8Rows(DIMENSIONS);
  const quantised = vectors.map(quantise);
  for (const { values } of quantised) rows.set(rows.count, values);
  const scales = Float64Array.from(quantised, ({ scale }) => scale);
  const products = new Int32Array(vectors.length);
  return quantised.map(({ values }, own) => {
    rows.dot(values, products);
    const nearest: { readonly place: number; readonly cosine: number }[] = [];
    let worst = -Infinity;
    for (let place = 0; place < vectors.length; place += 1) {
      const cosine = (products[place] ?? 0) * (scales[place] ?? 0);
      if (cosine <= worst || place === own) continue;
      nearest.push({ place, cosine });
      nearest.sort((a, b) => b.cosine - a.cosine);
      nearest.length = Math.min(nearest.length, NEIGHBOURS);
      if (nearest.length === NEIGHBOURS) worst = nearest.at(-1)?.cosine ?? worst;
    }
    return nearest.map(({ place }) => place);
  });
}
