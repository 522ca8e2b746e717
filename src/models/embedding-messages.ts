/** What the main thread and an embedding thread say to each other. */
import type { EmbeddingModel } from "./bundled-models.ts";

export interface ThreadData {
  readonly model: EmbeddingModel;
  /** A thread before it found the model's file to be the expected one: reading 77 MB again would take .1 s. */
  readonly isVerified: boolean;
  /** The pieces that a thread before it has read; it reads them itself if absent. */
  readonly pieceTable?: SharedArrayBuffer;
}

export interface EmbedRequest {
  /** `question`: all of the text, as far as the model can read. `window`: the first window of the text. */
  readonly kind: "question" | "window";
  readonly text: string;
  /** Whether the text ends where its memory ends. */
  readonly isWhole: boolean;
  /** Token vectors are given for what starts here or later; before it, the window before has given them. */
  readonly tokensFrom: number;
}

export interface EmbedAnswer {
  /** Unit length. */
  readonly vector: Float32Array<ArrayBuffer>;
  readonly tokens: Int8Array<ArrayBuffer>;
  /** Of each token: the piece's id, and for a question the word it is a piece of. */
  readonly tokenIds: readonly number[];
  readonly words: readonly string[];
  /** False for a window in which there is nothing the model can read. */
  readonly hasPieces: boolean;
  /** Where in the text the window ends and the next one starts. */
  readonly end: number;
  readonly next: number;
}

export type ToThread = { readonly type: "embed"; readonly request: EmbedRequest } | { readonly type: "stop" };

export type FromThread =
  /** With what later threads may share. */
  | { readonly type: "ready"; readonly pieceTable?: SharedArrayBuffer }
  | { readonly type: "embedded"; readonly answer: EmbedAnswer }
  /** The text could not be embedded; the thread goes on. */
  | { readonly type: "failed"; readonly reason: string }
  /** The model could not be loaded; the thread ends. */
  | { readonly type: "unusable"; readonly reason: string };
