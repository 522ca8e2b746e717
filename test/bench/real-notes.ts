import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { DocumentEmbedding } from "../../src/core/embedding.ts";
import type { EmbeddingModel } from "../../src/models/bundled-models.ts";
import { openEmbedder } from "../../src/models/onnx-embedder.ts";
import { cachedEmbedder } from "../eval/cached-embedder.ts";
import type { FillOptions } from "../support/fill-store.ts";
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

/** Two notes, of which the second is left out while there are enough of the first; no two pairs are the same. */
function partsOf(turn: number): readonly string[] {
  const count = NOTES.length;
  const round = Math.floor(turn / count);
  const [first, second] = [NOTES[turn % count], NOTES[(turn * 7_919 + round * 104_729) % count]];
  return [first ?? "", ...(round === 0 ? [] : [second ?? ""])];
}

/** A note by number: some 18 000 of one sentence or two, then pairs of them. */
export const realNote = (turn: number): string => partsOf(turn).join(" ");

/** A question that one of the first so many notes answers. */
export function realQuestion(count = NOTES.length): string {
  const { ask = [] } = lines[Math.floor(random() * Math.min(count, lines.length))] ?? {};
  return ask[Math.floor(random() * ask.length)] ?? "";
}

/**
 * The notes by number with their embeddings, of which each part is made once and kept in the system's temporary directory: the vector of
 * a pair is the mean of both, and its tokens are those of both.
 */
export async function withRealNotes<T>(
  model: EmbeddingModel,
  use: (notes: NonNullable<FillOptions["notes"]>) => Promise<T>,
): Promise<T> {
  const embedder = await openEmbedder(model, { workers: 1 });
  try {
    const cached = cachedEmbedder(embedder, "real-notes");
    const embed = async (turn: number) => {
      const parts: DocumentEmbedding[] = [];
      for (const part of partsOf(turn)) parts.push(await cached.embedDocument(part));
      return joined(parts);
    };
    const made = await use({ textOf: realNote, embed });
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
