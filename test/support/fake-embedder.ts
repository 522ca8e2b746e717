import {
  EMBEDDING_DIMENSIONS,
  MAX_TOKENS,
  TOKEN_DIMENSIONS,
  TOKEN_SCALE,
  type DocumentEmbedding,
  type EmbeddingStamp,
  type QuestionEmbedding,
} from "../../src/core/embedding.ts";
import type { Embedder } from "../../src/core/ports.ts";
import { STOP_WORDS } from "../../src/core/text/stop-words.ts";

const WORDS_PER_WINDOW = 150;
/** Places a word marks in its vector: enough that two words seldom look alike, few enough to be fast. */
const MARKS = 8;

export interface FakeEmbedder extends Embedder {
  /** Every later call fails with this; undefined mends it. */
  failWith: Error | undefined;
  /** How many texts were embedded, questions too. */
  readonly calls: number;
}

/**
 * An embedder for tests: a hashed bag of words. Deterministic; texts are as alike as the words they share, in any
 * order; equal texts have cosine 1; no model, no thread, no disk. Vectors of two models have nothing in common.
 */
export function createFakeEmbedder(model = "fake"): FakeEmbedder {
  const salt = model === "fake" ? "" : model;
  const salted = (words: readonly string[]) => words.map((word) => `${salt}${word}`);
  const stamp: EmbeddingStamp = { model, windows: "words-150", pooling: "sum", projection: "fake" };
  let calls = 0;
  const fake = {
    stamp,
    profile: {
      similar: 0.55,
      tokenFloor: 0.3,
    },
    failWith: undefined as Error | undefined,
    get calls() {
      return calls;
    },
    async embedDocument(text: string): Promise<DocumentEmbedding> {
      if (fake.failWith) throw fake.failWith;
      calls += 1;
      const words = wordsOf(text);
      const windows = [embedWords(words.slice(0, WORDS_PER_WINDOW), salt)];
      for (let at = WORDS_PER_WINDOW; at < words.length; at += WORDS_PER_WINDOW) {
        windows.push(embedWords(words.slice(at, at + WORDS_PER_WINDOW), salt));
      }
      const vectors = tokenVectors(salted(withoutStopWords(words).slice(0, MAX_TOKENS)));
      return { windows, tokens: { vectors }, stamp: fake.stamp };
    },
    async embedQuestion(text: string): Promise<QuestionEmbedding> {
      if (fake.failWith) throw fake.failWith;
      calls += 1;
      const all = wordsOf(text).slice(0, 510);
      const kept = withoutStopWords(all);
      const words = kept.length > 0 ? kept : all;
      return { vector: embedWords(all, salt), tokens: { vectors: tokenVectors(salted(words)) }, words };
    },
  };
  return fake;
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

function withoutStopWords(words: readonly string[]): string[] {
  return words.filter((word) => !STOP_WORDS.has(word));
}

function embedWords(words: readonly string[], salt: string): Float32Array {
  const vector = new Float32Array(EMBEDDING_DIMENSIONS);
  if (words.length === 0) vector[0] = 1;
  for (const word of words) {
    // Stop words count little, as in a real model, so that what a text is about decides.
    const weight = STOP_WORDS.has(word) ? 0.1 : 1;
    for (const { place, sign } of marksOf(`${salt}${word}`, EMBEDDING_DIMENSIONS))
      vector[place] = (vector[place] ?? 0) + sign * weight;
  }
  const length = Math.hypot(...vector);
  // Words whose marks cancel out entirely are left with a vector like any other.
  if (length === 0) vector[0] = 1;
  return vector.map((x) => x / (length || 1));
}

function tokenVectors(words: readonly string[]): Int8Array {
  const vectors = new Int8Array(words.length * TOKEN_DIMENSIONS);
  const height = Math.round(TOKEN_SCALE / Math.sqrt(MARKS));
  words.forEach((word, row) => {
    for (const { place, sign } of marksOf(word, TOKEN_DIMENSIONS))
      vectors[row * TOKEN_DIMENSIONS + place] = sign * height;
  });
  return vectors;
}

/** `MARKS` different places below `dimensions`, each with a sign, that follow from the word. */
function marksOf(word: string, dimensions: number): { place: number; sign: 1 | -1 }[] {
  let state = 0x811c9dc5;
  for (let i = 0; i < word.length; i++) state = Math.imul(state ^ word.charCodeAt(i), 0x01000193) >>> 0;
  const signs = new Map<number, 1 | -1>();
  while (signs.size < MARKS) {
    // Weyl steps through the avalanche of murmur3, so that near words do not get near places.
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    mixed = (mixed ^ (mixed >>> 16)) >>> 0;
    const place = (mixed >>> 1) % dimensions;
    if (!signs.has(place)) signs.set(place, mixed & 1 ? 1 : -1);
  }
  return Array.from(signs, ([place, sign]) => ({ place, sign }));
}
