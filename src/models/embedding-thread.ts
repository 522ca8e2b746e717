/** Entry of an embedding thread: loads the model, then answers one request at a time until told to stop. */
import { parentPort, workerData } from "node:worker_threads";
import { MODEL_MAX_PIECES, readVerified, SHA256 } from "./bundled-model.ts";
import type { EmbedAnswer, EmbedRequest, FromThread, ModelPaths, ToThread } from "./embedding-messages.ts";
import { meanPool, openModelSession, type ModelSession } from "./model-session.ts";
import { readTokenProjection, type TokenProjection } from "./token-projection.ts";
import { cutWindow } from "./windows.ts";
import { isKept, type Unit, WordPieces } from "./word-pieces.ts";

interface Model {
  readonly session: ModelSession;
  readonly reader: WordPieces;
  readonly project: TokenProjection;
}

if (parentPort === null)
  throw new Error("embedding-thread.js is started by the embedder, as a worker thread");
const port = parentPort;

async function load(paths: ModelPaths): Promise<Model> {
  const [model, tokenizer, tokenizerConfig, projection] = await Promise.all([
    readVerified(paths.model, SHA256.model),
    readVerified(paths.tokenizer, SHA256.tokenizer),
    readVerified(paths.tokenizerConfig, SHA256.tokenizerConfig),
    readVerified(paths.projection, SHA256.projection),
  ]);
  return {
    session: await openModelSession(model),
    reader: new WordPieces(
      JSON.parse(tokenizer.toString("utf8")),
      JSON.parse(tokenizerConfig.toString("utf8")),
    ),
    project: readTokenProjection(projection),
  };
}

async function embed({ session, reader, project }: Model, request: EmbedRequest): Promise<EmbedAnswer> {
  const units = reader.units(request.text);
  const window =
    request.kind === "window"
      ? cutWindow(request.text, units, request.isWhole)
      : readQuestion(request.text, units);
  const pieces = window.units.flatMap((unit) =>
    unit.pieces.map((piece) => ({ ...piece, start: unit.start })),
  );
  if (request.kind === "question") pieces.length = Math.min(pieces.length, MODEL_MAX_PIECES - 2);

  const rows = pieces.flatMap((piece, i) => (isKept(piece) && piece.start >= request.tokensFrom ? [i] : []));
  if (request.kind === "question" && rows.length === 0) {
    // Nothing but stop words: better matched by these than by nothing.
    rows.push(...pieces.flatMap((piece, i) => (piece.isWord ? [i] : [])));
  }

  const states = await session.run(pieces.map((piece) => piece.id));
  return {
    vector: meanPool(states),
    // Row 0 is [CLS].
    tokens: project(
      states,
      rows.map((row) => row + 1),
    ),
    tokenIds: rows.map((row) => pieces[row]?.id ?? 0),
    words: request.kind === "question" ? rows.map((row) => pieces[row]?.word ?? "") : [],
    hasPieces: pieces.length > 0,
    end: window.end,
    next: window.next,
  };
}

function readQuestion(text: string, units: Iterable<Unit>) {
  const read: Unit[] = [];
  let pieces = 0;
  for (const unit of units) {
    read.push(unit);
    pieces += unit.pieces.length;
    if (pieces >= MODEL_MAX_PIECES) break;
  }
  return { units: read, end: text.length, next: text.length };
}

function post(message: FromThread) {
  const buffers =
    message.type === "embedded" ? [message.answer.vector.buffer, message.answer.tokens.buffer] : [];
  port.postMessage(message, buffers);
}

/** Never rejects. */
async function obey(model: Model, message: ToThread): Promise<void> {
  if (message.type === "stop") {
    // In this order, and never by terminate(): ending a thread inside native code ends the process.
    await model.session.release().catch(() => undefined);
    port.close();
    return;
  }
  try {
    post({ type: "embedded", answer: await embed(model, message.request) });
  } catch (error) {
    post({ type: "failed", reason: reasonOf(error) });
  }
}

const reasonOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

try {
  const model = await load(workerData as ModelPaths);
  port.on("message", (message: ToThread) => void obey(model, message));
  post({ type: "ready" });
} catch (error) {
  post({ type: "unusable", reason: reasonOf(error) });
  port.close();
}
