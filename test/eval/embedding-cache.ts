import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deserialize, serialize } from "node:v8";
import {
  type DocumentEmbedding,
  type EmbeddingProfile,
  type QuestionEmbedding,
  stampKey,
} from "../../src/core/embedding.ts";
import type { Embedder } from "../../src/core/ports.ts";

interface Stored {
  readonly documents: Map<string, DocumentEmbedding>;
  readonly questions: Map<string, QuestionEmbedding>;
}

export interface Embedded {
  readonly profile: EmbeddingProfile;
  readonly document: (text: string) => DocumentEmbedding;
  readonly question: (text: string) => QuestionEmbedding;
}

/** Embeds texts, or reads what an earlier run embedded with the same model from the system's temporary directory. */
export async function embedAll(
  embedder: Embedder,
  documents: readonly string[],
  questions: readonly string[],
): Promise<Embedded> {
  const key = createHash("sha256")
    .update(JSON.stringify([stampKey(embedder.stamp), documents, questions]))
    .digest("hex");
  const directory = join(tmpdir(), "memoryd-eval");
  const file = join(directory, `${key.slice(0, 16)}.bin`);
  let stored: Stored;
  if (existsSync(file)) {
    stored = deserialize(readFileSync(file)) as Stored;
  } else {
    stored = {
      documents: await byText(documents, (text) => embedder.embedDocument(text)),
      questions: await byText(questions, (text) => embedder.embedQuestion(text)),
    };
    mkdirSync(directory, { recursive: true });
    writeFileSync(`${file}.new`, serialize(stored));
    renameSync(`${file}.new`, file);
  }
  return {
    profile: embedder.profile,
    document: (text) => present(stored.documents.get(text)),
    question: (text) => present(stored.questions.get(text)),
  };
}

async function byText<T>(
  texts: readonly string[],
  embed: (text: string) => Promise<T>,
): Promise<Map<string, T>> {
  const unique = [...new Set(texts)];
  const embeddings = new Map<string, T>();
  // A few at a time: enough to keep the threads busy, too few to be refused.
  for (let start = 0; start < unique.length; start += 32) {
    const part = unique.slice(start, start + 32);
    const made = await Promise.all(part.map(embed));
    for (const [i, embedding] of made.entries()) embeddings.set(part[i] ?? "", embedding);
  }
  return embeddings;
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new TypeError("a text was not embedded");
  return value;
}
