import { open } from "node:fs/promises";
import { ServiceError } from "../core/errors.ts";
import type {
  CutDocument,
  ExtractionInput,
  ExtractionLimits,
  ExtractionOptions,
  SpooledFile,
  TextExtractor,
} from "../core/documents/extraction.ts";
import { builtFile } from "../sandbox/built-file.ts";
import { ExtractionProcess } from "./extraction-process.ts";

export const DEFAULT_EXTRACTION_LIMITS: ExtractionLimits = {
  maxBytes: 100_000_000,
  maxPages: 5_000,
  maxChars: 20_000_000,
  maxInflatedBytes: 200_000_000,
  maxWorkingMs: 120_000,
  maxResidentBytes: 1_000_000_000,
};

export interface ExtractorOptions {
  readonly limits?: Partial<ExtractionLimits>;
  /** A test's own worker, instead of the built one. */
  readonly workerFile?: string;
}

/** A process is replaced after as many documents: parsers leave things behind. */
const JOBS_A_PROCESS = 50;
/** A process without work is ended after as long. */
const IDLE_MS = 30_000;
const PIECE_BYTES = 1 << 20;

/**
 * Opens an extractor whose parsers run in a process of their own, without rights and within limits, started with the
 * first document.
 *
 * @throws {Error} if the built worker is missing; only when sources run without a build.
 */
export function openExtractor(options: ExtractorOptions = {}): TextExtractor {
  return new SandboxedTextExtractor(
    { ...DEFAULT_EXTRACTION_LIMITS, ...options.limits },
    options.workerFile ?? builtFile("extraction/extraction-worker.js"),
  );
}

class SandboxedTextExtractor implements TextExtractor {
  readonly #limits: ExtractionLimits;
  readonly #file: string;
  readonly #living = new Set<ExtractionProcess>();
  readonly #closing = new AbortController();
  #process: ExtractionProcess | undefined;
  #idle: NodeJS.Timeout | undefined;
  /** Settles when the document before has ended. */
  #turn: Promise<void> = Promise.resolve();

  constructor(limits: ExtractionLimits, file: string) {
    this.#limits = limits;
    this.#file = file;
  }

  async extract(input: ExtractionInput, options: ExtractionOptions = {}): Promise<CutDocument> {
    const signals = [this.#closing.signal, ...(options.signal === undefined ? [] : [options.signal])];
    const signal = AbortSignal.any(signals);
    signal.throwIfAborted();

    const before = this.#turn;
    const { promise: turn, resolve: endTurn } = withResolvers();
    this.#turn = before.then(() => turn);
    try {
      await Promise.race([before, aborted(signal)]);
      signal.throwIfAborted();
      return await this.#read(input, { ...options, signal });
    } finally {
      endTurn();
    }
  }

  async close(): Promise<void> {
    this.#closing.abort(new ServiceError("NOT_READY", "The reader of documents is closed."));
    clearTimeout(this.#idle);
    for (const process of this.#living) process.kill();
    await Promise.all(Array.from(this.#living, (process) => process.ended()));
  }

  async #read({ bytes, ...claims }: ExtractionInput, options: ExtractionOptions): Promise<CutDocument> {
    if (bytes instanceof Uint8Array) {
      this.#checkSize(bytes.length);
      return this.#run(claims, bytes.length, piecesOf(bytes), options);
    }
    await using file = await openFile(bytes);
    this.#checkSize(file.size);
    return await this.#run(claims, file.size, file.pieces(), options);
  }

  async #run(
    claims: Omit<ExtractionInput, "bytes">,
    byteCount: number,
    pieces: AsyncIterable<Uint8Array>,
    options: ExtractionOptions,
  ): Promise<CutDocument> {
    clearTimeout(this.#idle);
    const process = this.#usableProcess();
    try {
      return await process.run(claims, byteCount, pieces, options);
    } finally {
      this.#idle = setTimeout(() => process.kill(), IDLE_MS);
      this.#idle.unref();
    }
  }

  #usableProcess(): ExtractionProcess {
    if (this.#process?.isUsable === true && this.#process.count < JOBS_A_PROCESS) return this.#process;
    this.#process?.kill();
    const process = new ExtractionProcess(this.#file, this.#limits);
    this.#living.add(process);
    process.ended().then(
      () => this.#living.delete(process),
      () => undefined,
    );
    this.#process = process;
    return process;
  }

  #checkSize(bytes: number): void {
    if (bytes <= this.#limits.maxBytes) return;
    throw new ServiceError(
      "TOO_LARGE",
      `The document has ${bytes} bytes; the limit is ${this.#limits.maxBytes} (--max-upload-bytes).`,
    );
  }
}

async function openFile({ path }: SpooledFile) {
  const handle = await open(path, "r");
  const { size } = await handle.stat();
  return {
    size,
    async *pieces(): AsyncGenerator<Uint8Array> {
      let at = 0;
      while (at < size) {
        const { bytesRead, buffer } = await handle.read(
          Buffer.allocUnsafe(PIECE_BYTES),
          0,
          Math.min(PIECE_BYTES, size - at),
          at,
        );
        if (bytesRead === 0)
          throw new ServiceError("INTERNAL", "A spooled upload became shorter while it was read.");
        at += bytesRead;
        yield buffer.subarray(0, bytesRead);
      }
    },
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

/** Rejects when the signal does; never resolves. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

function withResolvers() {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
