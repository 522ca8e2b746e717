import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deserialize, serialize } from "node:v8";
import { type DocumentEmbedding, type QuestionEmbedding, stampKey } from "../../src/core/embedding.ts";
import type { Embedder } from "../../src/core/ports.ts";

interface Stored {
  readonly documents: Map<string, DocumentEmbedding>;
  readonly questions: Map<string, QuestionEmbedding>;
}

export interface CachedEmbedder extends Embedder {
  /** Writes what was embedded since the last save; to be called at the end. */
  save(): void;
}

/** An embedder that keeps what it embedded in the system's temporary directory, a file a model and name: a second run takes seconds. */
export function cachedEmbedder(embedder: Embedder, name: string): CachedEmbedder {
  const key = createHash("sha256").update(stampKey(embedder.stamp)).digest("hex").slice(0, 12);
  const file = join(tmpdir(), "memoryd-eval", `${name}-${key}-stamped.bin`);
  const stored: Stored = existsSync(file)
    ? (deserialize(readFileSync(file)) as Stored)
    : { documents: new Map(), questions: new Map() };
  let isChanged = false;
  const once = async <T>(
    known: Map<string, T>,
    text: string,
    embed: (text: string) => Promise<T>,
  ): Promise<T> => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const made = await embed(text);
    known.set(text, made);
    isChanged = true;
    return made;
  };
  return {
    stamp: embedder.stamp,
    profile: embedder.profile,
    embedDocument: (text) => once(stored.documents, text, (t) => embedder.embedDocument(t)),
    embedQuestion: (text) => once(stored.questions, text, (t) => embedder.embedQuestion(t)),
    save() {
      if (!isChanged) return;
      mkdirSync(join(tmpdir(), "memoryd-eval"), { recursive: true });
      writeFileSync(`${file}.new`, serialize(stored));
      renameSync(`${file}.new`, file);
      isChanged = false;
    },
  };
}
