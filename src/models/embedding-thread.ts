/** Entry of an embedding thread: loads the model, then answers one request at a time until `stop`. */
import { parentPort, workerData } from "node:worker_threads";
import { readVerified, verified } from "./bundled-models.ts";
import type { EmbedAnswer, EmbedRequest, FromThread, ThreadData, ToThread } from "./embedding-threads.ts";
import { type ModelSession, openModelSession } from "./model-session.ts";
import { openPieceReader } from "./tokenizer/piece-reader.ts";
import { type Projection, readProjection } from "./projection.ts";
import { isKept, type PieceReader, type Unit, cutWindow } from "./windows.ts";

interface Model {
  readonly session: ModelSession;
  readonly reader: PieceReader;
  readonly projection: Projection;
  readonly maxPieces: number;
  /** Ids of the pieces that go before a text of each kind. */
  readonly prefixes: Readonly<Record<EmbedRequest["kind"], readonly number[]>>;
}

if (parentPort === null)
  throw new Error("embedding-thread.js is started by the embedder, as a worker thread");
const port = parentPort;

async function load({ model, isVerified, pieceTable: known }: ThreadData) {
  const { reader, pieceTable } = await openPieceReader(model, known);
  const { model: graph, weights, projection } = model.files;
  if (!isVerified && weights !== undefined) await verified(weights);
  const idsOf = (text: string) =>
    Array.from(reader.units(text), ({ pieces }) => pieces.map(({ id }) => id)).flat();
  const loaded: Model = {
    session: await openModelSession(isVerified ? graph.path : await verified(graph), model.marks),
    reader,
    projection: readProjection(await readVerified(projection), model),
    maxPieces: model.maxPieces,
    prefixes: { question: idsOf(model.prefixes.question), window: idsOf(model.prefixes.window) },
  };
  return { loaded, pieceTable };
}

async function embed(
  { session, reader, projection, maxPieces, prefixes }: Model,
  { kind, text, isWhole, tokensFrom }: EmbedRequest,
): Promise<EmbedAnswer> {
  const prefix = prefixes[kind];
  // The marks at both ends are pieces too.
  const readable = maxPieces - 2 - prefix.length;
  const units = reader.units(text);
  const window = kind === "window" ? cutWindow(text, units, isWhole) : readQuestion(text, units, readable);
  const pieces = window.units.flatMap((unit) =>
    unit.pieces.map((piece) => ({ ...piece, start: unit.start })),
  );
  if (kind === "question") pieces.length = Math.min(pieces.length, readable);

  const rows = pieces.flatMap((piece, i) => (isKept(piece) && piece.start >= tokensFrom ? [i] : []));
  if (kind === "question" && rows.length === 0) {
    // Only stop words: better to match these than nothing.
    rows.push(...pieces.flatMap((piece, i) => (piece.isWord ? [i] : [])));
  }

  const states = await session.run([...prefix, ...pieces.map((piece) => piece.id)]);
  return {
    vector: projection.vector(states, kind),
    // Row 0 is the first mark.
    tokens: projection.tokens(
      states,
      rows.map((row) => row + 1 + prefix.length),
    ),
    tokenIds: rows.map((row) => pieces[row]?.id ?? 0),
    words: kind === "question" ? rows.map((row) => pieces[row]?.word ?? "") : [],
    hasPieces: pieces.length > 0,
    end: window.end,
    next: window.next,
  };
}

function readQuestion(text: string, units: Iterable<Unit>, limit: number) {
  const read: Unit[] = [];
  let pieces = 0;
  for (const unit of units) {
    read.push(unit);
    pieces += unit.pieces.length;
    if (pieces >= limit) break;
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
    post({ type: "failed", reason: error instanceof Error ? error.message : String(error) });
  }
}

// An error ends the thread: the model could not be loaded.
const { loaded, pieceTable } = await load(workerData as ThreadData);
port.on("message", (message: ToThread) => void obey(loaded, message));
post({ type: "ready", ...(pieceTable !== undefined && { pieceTable }) });
