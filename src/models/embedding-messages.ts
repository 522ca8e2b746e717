/** What the main thread and an embedding thread say to each other. */

export interface ModelPaths {
  readonly model: string;
  readonly tokenizer: string;
  readonly tokenizerConfig: string;
  readonly projection: string;
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
  | { readonly type: "ready" }
  | { readonly type: "embedded"; readonly answer: EmbedAnswer }
  /** The text could not be embedded; the thread goes on. */
  | { readonly type: "failed"; readonly reason: string }
  /** The model could not be loaded; the thread ends. */
  | { readonly type: "unusable"; readonly reason: string };
