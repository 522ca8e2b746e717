/**
 * How many of the memories nearest to a question, or to a note, are among those whose signs differ least, which large stores look at first:
 * turns and passages of conversations, and questions to the former. Embeddings are kept in the temporary folder.
 *
 *   npx vitest run --project eval signs
 *
 * A part of some thousand stands for the same part of a million: the nearest one or two of 16 000 are as rare as the first hundred there.
 */
import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { EMBEDDING_DIMENSIONS } from "../../src/core/embedding.ts";
import { Int8Rows, quantise } from "../../src/core/recall/int8-kernel.ts";
import { SignRows } from "../../src/core/recall/sign-rows.ts";
import { openEmbedder } from "../../src/models/onnx-embedder.ts";
import { modelUnderTest } from "./bare-model.ts";
import { embedAll } from "./embedding-cache.ts";
import { readConversations } from "./everyday-set.ts";

const LOCOMO = process.env["MEMORYD_LOCOMO"] ?? "../shared/data/locomo-dev.json";
const LONG_TURNS = process.env["MEMORYD_CONVERSATIONS"] ?? "../shared/data/long-turns-dev.json";
const TEXTS = Number(process.env["MEMORYD_SIZES"] ?? 16_000);
const ASKED = 400;
/** Of a hundred best: so many of the nearest, in so large a part of all. */
const LOOKED_AT = [1, 2, 10].flatMap((nearest) => [256, 128, 64].map((part) => ({ nearest, part })));

it.skipIf(![LOCOMO, LONG_TURNS].every((path) => existsSync(path)))(
  "signs keep the nearest",
  async () => {
    const embedder = await openEmbedder(modelUnderTest());
    const [chat, turns] = [LOCOMO, LONG_TURNS].map((path) => readConversations(path, "signs"));
    const passages = (turns?.memories ?? []).flatMap(({ content }) => content.split(/(?<=[.!?])\s+/u));
    const texts = [...new Set([...(chat?.memories.map(({ content }) => content) ?? []), ...passages])]
      .filter((text) => text.length > 30 && text.length < 400)
      .slice(0, TEXTS);
    const every = <T>(list: readonly T[]) => list.filter((_, i) => i % Math.ceil(list.length / ASKED) === 0);
    const questions = every((chat?.questions ?? []).map(({ text }) => text));
    const notes = every(texts);
    const embedded = await embedAll(embedder, texts, questions);
    await embedder.close();
    const rows = new Int8Rows(EMBEDDING_DIMENSIONS);
    const first = (text: string) => quantise(embedded.document(text).windows[0] ?? new Float32Array(384));
    const vectors = texts.map(first);
    for (const { values } of vectors) rows.set(rows.count, values);
    const signs = new SignRows(rows);
    for (const [name, queries] of [
      ["questions", questions.map((text) => quantise(embedded.question(text).vector))],
      ["notes", notes.map(first)],
    ] as const) {
      for (const { nearest, part } of LOOKED_AT) {
        let kept = 0;
        for (const { values } of queries) {
          const products = rows.dot(values);
          const cosine = (row: number) => (products[row] ?? 0) * (vectors[row]?.scale ?? 0);
          const best = [...texts.keys()].sort((a, b) => cosine(b) - cosine(a)).slice(0, nearest);
          const owners = Int32Array.from(texts.keys());
          const among = new Set(signs.nearest(values, Math.ceil(texts.length / part), owners));
          kept += best.filter((row) => among.has(row)).length;
        }
        const share = kept / queries.length / nearest;
        console.log(`${texts.length} ${name}: nearest ${nearest} in 1/${part}: ${share.toFixed(4)}`);
        expect(share).toBeGreaterThan(0);
      }
    }
  },
  3_600_000,
);
