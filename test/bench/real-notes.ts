import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { DocumentEmbedding } from "../../src/core/embedding.ts";
import type { Embedder } from "../../src/core/ports.ts";
import type { EmbeddingModel } from "../../src/models/bundled-models.ts";
import { openEmbedder } from "../../src/models/onnx-embedder.ts";
import { cachedEmbedder } from "../eval/cached-embedder.ts";
import { seededRandom } from "../support/seeded-random.ts";

/** Short notes that people would keep, in some twenty languages, and questions to them: those that taught the default model. */
const FILE = join(import.meta.dirname, "../eval/encoder/notes-asked.jsonl");
const lines = readFileSync(FILE, "utf8")
  .trim()
  .split("\n")
  .map(
    (line) =>
      JSON.parse(line) as {
        readonly note: string;
        readonly same: readonly string[];
        readonly ask: readonly string[];
      },
  );
// What says the same in other words comes after all that says something else.
const NOTES = [
  ...new Set([0, 1, 2].flatMap((i) => lines.map(({ note, same }) => [note, ...same][i] ?? note))),
];
// Not the questions of an earlier run, whose vectors a daemon keeps.
const random = seededRandom(Date.now());

/** A note by number: some 18 000 of one sentence or two, then pairs of them in two lines, no two the same. */
export function realNote(turn: number): string {
  const count = NOTES.length;
  const round = Math.floor(turn / count);
  const [first, second] = [NOTES[turn % count], NOTES[(turn * 7_919 + round * 104_729) % count]];
  return round === 0 ? (first ?? "") : `${first}\n${second}`;
}

/** A question that one of the first so many notes answers. */
export function realQuestion(count = NOTES.length): string {
  const { ask = [] } = lines[Math.floor(random() * Math.min(count, lines.length))] ?? {};
  return ask[Math.floor(random() * ask.length)] ?? "";
}

/**
 * An embedder for these notes, which embeds each line once and keeps it in the system's temporary directory: the vector of a pair is the
 * mean of both, and its tokens are those of both.
 */
export async function withNoteEmbedder<T>(
  model: EmbeddingModel,
  use: (embedder: Pick<Embedder, "embedDocument">) => Promise<T>,
): Promise<T> {
  const embedder = await openEmbedder(model, { workers: 1 });
  try {
    const cached = cachedEmbedder(embedder, "real-notes");
    const embedDocument = async (text: string) => {
      const lines: DocumentEmbedding[] = [];
      for (const line of text.split("\n")) lines.push(await cached.embedDocument(line));
      return joined(lines);
    };
    const made = await use({ embedDocument });
    cached.save();
    return made;
  } finally {
    await embedder.close();
  }
}

function joined(parts: readonly DocumentEmbedding[]): DocumentEmbedding {
  const [first, second] = parts;
  if (first === undefined) throw new TypeError("nothing to join");
  if (second === undefined) return first;
  const sum = first.windows[0]?.map((component, i) => component + (second.windows[0]?.[i] ?? 0));
  const length = Math.hypot(...(sum ?? []));
  const vectors = new Int8Array(first.tokens.vectors.length + second.tokens.vectors.length);
  vectors.set(first.tokens.vectors);
  vectors.set(second.tokens.vectors, first.tokens.vectors.length);
  return {
    ...first,
    windows: [(sum ?? new Float32Array()).map((each) => each / length)],
    tokens: { vectors },
  };
}
