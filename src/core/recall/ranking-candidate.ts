import type { Ordinal } from "../ports.ts";
import type { MemoryTraits } from "./traits.ts";

/** The caller's knowledge of a memory that may answer the question. */
export interface RankingCandidate {
  readonly ordinal: Ordinal;
  /** BM25 of what is asked, exact. */
  readonly words: number;
  /** BM25 of what was pasted beside it, if anything was, and the cosine of the best window with both together. */
  readonly pasted?: { readonly words: number; readonly cosine: number } | undefined;
  /** Cosine of the best window with the question. */
  readonly cosine: number;
  /** For each token of the question, its cosine with the memory's nearest token; empty where tokens were not read. */
  readonly matches: Float32Array;
  /**
   * The memories two places before, one before, one after and two after in its session, in that order; undefined at
   * an end of the session. Those that shall count must be candidates themselves.
   */
  readonly around: readonly (Ordinal | undefined)[];
  readonly sessionId: string | null;
  readonly traits: MemoryTraits;
  /** When it happened, else when it was added. */
  readonly occurredAt: number;
  /** Its text names the month or day of any year that the question names: what is planned was written before. */
  readonly namesPeriod?: boolean;
  /** In [0, 1], as of now. */
  readonly salience: number;
  /** It is the root of a document, which quotes what stands in the chunks. */
  readonly isRoot?: boolean;
  /** The share of the question's quoted phrases that the text contains, in [0, 1]; 0 where it quotes nothing. */
  readonly quoted: number;
}

/** A link between two candidates, or a step along a document; `around` stands for those in a session. Counts both ways. */
export interface RankingEdge {
  readonly source: Ordinal;
  readonly target: Ordinal;
  /** In (0, 1]. */
  readonly weight: number;
}
