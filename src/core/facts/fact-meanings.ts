import { keepLast } from "../at-once.ts";
import { type EmbeddingStamp, stampKey } from "../embedding.ts";
import type { Embedder } from "../ports.ts";
import { termWeights } from "../recall/bm25.ts";
import { analyse } from "../text/analyser.ts";
import type { WordFrequencies } from "../text/stop-words.ts";

/** A text's words and its vector, of unit length, which may come later. */
interface Meaning {
  readonly text: string;
  readonly terms: ReadonlySet<string>;
  vector: Float32Array | undefined;
}

/** Each takes 2 KB. */
const MAX_KEPT = 8_192;
/** Embedded while somebody waits, at about 5 ms each; the others in the background. */
const AWAITED = 64;

/** Vectors of short texts, kept in memory alone; a text costs one run of the model (5 ms) after a start. */
export class FactMeanings {
  /** The weights of words in the language: facts are too few to have their own. */
  readonly weightOf: (term: string) => number;
  readonly #embedder: Pick<Embedder, "embedQuestion" | "profile" | "stamp">;
  readonly #known = new Map<string, Meaning>();
  #stamp: EmbeddingStamp;
  #isBehind = false;

  constructor(embedder: Pick<Embedder, "embedQuestion" | "profile" | "stamp">, frequencies: WordFrequencies) {
    this.#embedder = embedder;
    this.#stamp = embedder.stamp;
    const none = { memories: 0, totalLength: 0, memoriesWith: () => 0, termsNear: () => [] };
    const weights = termWeights(none, frequencies);
    this.weightOf = (term) => weights.inverseDocumentFrequency(term);
  }

  /** Cosine from which two texts count as similar. */
  get similar(): number {
    return this.#embedder.profile.similar;
  }

  /** Undefined where the model cannot run. */
  async vectorOf(question: string): Promise<Float32Array | undefined> {
    return (await this.#embedder.embedQuestion(question).catch(() => undefined))?.vector;
  }

  /** In the order of the texts; vectors only where they were made before, see `embed`. */
  of(texts: readonly string[]): Meaning[] {
    if (stampKey(this.#stamp) !== stampKey(this.#embedder.stamp)) this.#known.clear();
    this.#stamp = this.#embedder.stamp;
    return texts.map((text) => this.#meaning(text));
  }

  /** Gives the first 64 without a vector theirs; the others get it soon after this resolves. */
  async embed(meanings: readonly Meaning[]): Promise<void> {
    const lacking = [...new Set(meanings.filter(({ vector }) => vector === undefined))];
    await Promise.all(lacking.slice(0, AWAITED).map((meaning) => this.#embed(meaning))).catch(
      () => undefined,
    );
    if (lacking.length > AWAITED && !this.#isBehind) void this.#embedInTurn(lacking.slice(AWAITED));
  }

  #meaning(text: string): Meaning {
    const meaning = this.#known.get(text) ?? { text, terms: new Set(analyse(text)), vector: undefined };
    keepLast(this.#known, text, meaning, MAX_KEPT);
    return meaning;
  }

  async #embed(meaning: Meaning): Promise<void> {
    // As a question, which goes before every document that waits, and finds as well (.95 against .94).
    meaning.vector ??= (await this.#embedder.embedQuestion(meaning.text)).vector;
  }

  async #embedInTurn(meanings: readonly Meaning[]): Promise<void> {
    this.#isBehind = true;
    try {
      for (const meaning of meanings) await this.#embed(meaning);
    } catch {
      // The model is closing, or busy: whoever asks next goes on.
    }
    this.#isBehind = false;
  }
}
