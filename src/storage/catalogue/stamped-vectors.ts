import { EMBEDDING_DIMENSIONS, type EmbeddingStamp, stampKey } from "../../core/embedding.ts";
import type { Ordinal, Scores, Selection } from "../../core/ports.ts";
import { quantise, type QuantisedVector } from "../../core/recall/int8-kernel.ts";
import type { VectorRow } from "../../core/rows.ts";
import { OrdinalScores } from "./ordinal-scores.ts";
import { VectorIndex } from "./vector-index.ts";

/**
 * The vectors of all memories, each of one model: the store's, or, while that is changed, the one before. A question is
 * compared with each by its own model.
 */
export class StampedVectors {
  #now: VectorIndex = new VectorIndex(EMBEDDING_DIMENSIONS);
  #before: VectorIndex = new VectorIndex(EMBEDDING_DIMENSIONS);
  #stamp: EmbeddingStamp;
  #stampBefore: EmbeddingStamp | undefined;
  /** Told of vectors that are not of the store's model, and must be made again. */
  onForeign: () => void = () => {};

  constructor(stamp: EmbeddingStamp, before?: EmbeddingStamp) {
    this.#stamp = stamp;
    this.#stampBefore = before;
  }

  /** What vectors there are were made with, by `stampKey`; the store's own first. */
  get stamps(): Record<string, EmbeddingStamp> {
    const { before } = this;
    return {
      [stampKey(this.#stamp)]: this.#stamp,
      ...(before === undefined ? {} : { [stampKey(before)]: before }),
    };
  }

  /** The model that is being replaced; undefined once no memory has vectors of it. */
  get before(): EmbeddingStamp | undefined {
    return this.#before.size === 0 ? undefined : this.#stampBefore;
  }

  isPresent(stamp: string): boolean {
    return stamp === stampKey(this.#stamp);
  }

  /** Whether vectors of that stamp can be compared with questions. */
  isKnown(stamp: string): boolean {
    return this.#indexOf(stamp) !== undefined;
  }

  /** Whether a memory has vectors of the store's model. */
  has(ordinal: Ordinal): boolean {
    return this.#now.has(ordinal);
  }

  put(ordinal: Ordinal, { stamp, windows }: Pick<VectorRow, "stamp" | "windows">): void {
    this.remove(ordinal);
    this.#indexOf(stamp)?.put(ordinal, windows.map(quantise));
    if (!this.isPresent(stamp)) this.onForeign();
  }

  /** For filling at open, where windows come one by one; those of an unknown stamp are left out. */
  addWindow(ordinal: Ordinal, stamp: string, window: QuantisedVector): void {
    this.#indexOf(stamp)?.addWindow(ordinal, window);
  }

  remove(ordinal: Ordinal): void {
    this.#now.remove(ordinal);
    this.#before.remove(ordinal);
  }

  /** By the store's model; see `VectorIndex.windowsOf`. */
  windowsOf(ordinal: Ordinal): Float32Array[] {
    return this.#now.windowsOf(ordinal);
  }

  /**
   * Cosine of the question with each memory's best window, in [0, 1], negative ones as 0; of the selected only.
   *
   * @param before the question by the model before; 0 for what is compared by that, if absent.
   */
  score(vector: Float32Array, ordinals: number, selection?: Selection, before?: Float32Array): Scores {
    const best = new Float32Array(ordinals);
    this.#now.score(vector, best);
    if (before !== undefined && this.#before.size > 0) this.#before.score(before, best);
    return new OrdinalScores(best, selection);
  }

  /** From here on the store's model is another. @throws {TypeError} while vectors of a third one are there. */
  change(stamp: EmbeddingStamp): void {
    if (this.isPresent(stampKey(stamp))) return;
    const { before } = this;
    if (before !== undefined && stampKey(before) !== stampKey(stamp))
      throw new TypeError("a store has vectors of two models at most");
    [this.#now, this.#before] = [this.#before, this.#now];
    [this.#stamp, this.#stampBefore] = [stamp, this.#stamp];
  }

  #indexOf(stamp: string): VectorIndex | undefined {
    if (this.isPresent(stamp)) return this.#now;
    return this.#stampBefore !== undefined && stampKey(this.#stampBefore) === stamp
      ? this.#before
      : undefined;
  }
}
