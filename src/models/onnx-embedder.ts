import { availableParallelism } from "node:os";
import { MAX_TOKENS, type QuestionEmbedding, TOKEN_DIMENSIONS } from "../core/embedding.ts";
import { keepLast } from "../core/at-once.ts";
import { notReady, ServiceError } from "../core/errors.ts";
import type { Embedder } from "../core/ports.ts";
import type { EmbeddingModel } from "./bundled-models.ts";
import { EmbeddingThreads } from "./embedding-threads.ts";
import type { EmbedAnswer, EmbedderLog } from "./embedding-threads.ts";
import { MAX_WINDOW_TEXT } from "./windows.ts";

/**
 * The tokens to keep of a text that has more than `max`, as ascending indexes.
 *
 * Matching takes the best of a text's tokens, so the first use of a piece counts most: first uses are kept first, then second
 * ones. From the round that no longer fits, evenly spread ones are kept, so that the end of a text counts like its beginning.
 */
export function thinTokens(pieceIds: readonly number[], max: number): number[] {
  if (pieceIds.length <= max) return Array.from(pieceIds.keys());

  const uses = new Map<number, number>();
  /** The indexes of all first uses, then of all second ones and so on. */
  const rounds: number[][] = [];
  for (const [index, id] of pieceIds.entries()) {
    const round = uses.get(id) ?? 0;
    uses.set(id, round + 1);
    (rounds[round] ??= []).push(index);
  }
  const kept: number[] = [];
  for (const round of rounds) {
    const room = Math.min(max - kept.length, round.length);
    for (let n = 1; n <= room; n += 1) kept.push(round[Math.ceil((n * round.length) / room) - 1] ?? 0);
  }
  return kept.sort((a, b) => a - b);
}

/** More threads share the memory bandwidth; one core is left to the main thread. */
const MAX_THREADS = 4;
/** A late add is better than a refused one, so this only guards the memory: text of 64 MB. */
const MAX_WAITING_TEXTS = 4_096;
const MAX_WAITING_CHARACTERS = 32 * 1024 ** 2;
const USUAL_MS_PER_TEXT = 10;
/** 512 pieces are never more text than this, unless it is mostly white space. In UTF-16 units. */
const MAX_QUESTION_TEXT = 16_384;
/** Hooks and agents ask the same again, and a run of the model is half of a question's processor time. At most 6 MB. */
const KEPT_QUESTIONS = 64;

/** Threads at most unless fewer are wanted: cores less one, from 1 to 4. */
export const usualThreads = (): number => Math.min(MAX_THREADS, Math.max(1, availableParallelism() - 1));

export interface EmbedderOptions {
  /** Threads at most; `usualThreads` if absent. */
  readonly workers?: number | undefined;
  readonly log?: EmbedderLog;
  /** Without work for this long, the model leaves the memory until the next text; it stays if absent. */
  readonly idleTimeoutMs?: number;
  /** Refuse beyond this many waiting texts. */
  readonly maxWaitingTexts?: number;
}

export interface ModelEmbedder extends Embedder {
  readonly name: string;
  /** Texts asked for and not yet answered. */
  readonly waiting: number;
  /** Threads alive: 0 before the first text, and after a while without one. */
  readonly workers: number;
  /** Ends the threads after their running texts; waiting and later ones fail with NOT_READY. Repeats do nothing. */
  close(): Promise<void>;
}

/** Resolves when the first thread has loaded the model. @throws {ServiceError} MODEL_UNAVAILABLE. */
export async function openEmbedder(
  model: EmbeddingModel,
  { workers = usualThreads(), maxWaitingTexts = MAX_WAITING_TEXTS, ...options }: EmbedderOptions = {},
): Promise<ModelEmbedder> {
  const threads = new EmbeddingThreads(workers, model, options);
  /** Embeddings of questions, that of the one asked longest ago first. */
  const lately = new Map<string, QuestionEmbedding>();
  let waitingTexts = 0;
  let waitingCharacters = 0;
  let closing: Promise<void> | undefined;

  async function admit<T>(text: string, embed: () => Promise<T>): Promise<T> {
    if (closing !== undefined) throw notReady("The embedding model is stopped.");
    // A single text is always admitted, however long.
    const isTooLong = waitingTexts > 0 && waitingCharacters + text.length > MAX_WAITING_CHARACTERS;
    if (waitingTexts >= maxWaitingTexts || isTooLong)
      throw new ServiceError("RATE_LIMITED", "Too many texts wait to be embedded. Try again later.", {
        retryAfterSeconds: Math.ceil((waitingTexts * USUAL_MS_PER_TEXT) / 1_000),
      });
    waitingTexts += 1;
    waitingCharacters += text.length;
    try {
      return await embed();
    } finally {
      waitingTexts -= 1;
      waitingCharacters -= text.length;
    }
  }

  const embedder: ModelEmbedder = {
    name: model.name,
    stamp: model.stamp,
    profile: model.profile,
    get waiting() {
      return waitingTexts;
    },
    get workers() {
      return threads.count;
    },
    async embedQuestion(text) {
      const read = text.slice(0, MAX_QUESTION_TEXT);
      const embedding =
        (closing === undefined ? lately.get(read) : undefined) ??
        (await admit(text, async () => {
          const answer = await threads.run({ kind: "question", text: read, isWhole: true, tokensFrom: 0 });
          return { vector: answer.vector, tokens: { vectors: answer.tokens }, words: answer.words };
        }));
      keepLast(lately, read, embedding, KEPT_QUESTIONS);
      return embedding;
    },
    embedDocument: (text) =>
      admit(text, async () => {
        const answers: EmbedAnswer[] = [];
        // In sequence: the end of a window decides where the next one starts. Other texts have their turn in between.
        for (let start = 0, covered = 0; start < text.length || answers.length === 0;) {
          const end = Math.min(text.length, start + MAX_WINDOW_TEXT);
          const answer = await threads.run({
            kind: "window",
            text: text.slice(start, end),
            isWhole: end === text.length,
            tokensFrom: Math.max(0, covered - start),
          });
          // A window of white space or unknown signs adds nothing to others.
          if (answer.hasPieces || (end === text.length && answers.length === 0)) answers.push(answer);
          covered = start + answer.end;
          start += answer.next;
        }
        return {
          windows: answers.map((answer) => answer.vector),
          tokens: { vectors: joinTokens(answers) },
          stamp: model.stamp,
        };
      }),
    wake: () => threads.wake(),
    close: () => (closing ??= threads.stop()),
  };
  await embedder.embedQuestion("");
  return embedder;
}

/** The tokens of all windows, or as many as are kept of a text. */
function joinTokens(answers: readonly EmbedAnswer[]): Int8Array {
  const vectors = answers.flatMap(({ tokens, tokenIds }) =>
    Array.from(tokenIds.keys(), (at) => tokens.subarray(at * TOKEN_DIMENSIONS, (at + 1) * TOKEN_DIMENSIONS)),
  );
  const ids = answers.flatMap(({ tokenIds }) => tokenIds);
  const kept = thinTokens(ids, MAX_TOKENS);
  const joined = new Int8Array(kept.length * TOKEN_DIMENSIONS);
  for (const [row, index] of kept.entries()) joined.set(vectors[index] ?? [], row * TOKEN_DIMENSIONS);
  return joined;
}
