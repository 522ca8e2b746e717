import { type ChildProcess, fork } from "node:child_process";
import { realpathSync } from "node:fs";
import type { Writable } from "node:stream";
import type { Pcm, Segment, Transcript, TranscriptionOptions } from "../../core/documents/transcription.ts";
import { ServiceError } from "../../core/errors.ts";
import { sandboxArguments } from "../../sandbox/sandbox-arguments.ts";
import type { WorkLimits } from "../../sandbox/watchdog.ts";
import { ONNX_ENVIRONMENT } from "../onnx-environment.ts";
import { frameHeader } from "./pcm-frames.ts";
import type { FromWhisper, ToWhisper } from "./whisper-messages.ts";
import type { WhisperOptions } from "./whisper-model.ts";

/** Of JavaScript objects: the vocabulary, and tensors that wait for the collector. The model lies outside of them. */
const HEAP_BYTES = 256 * 1024 ** 2;
const STDERR_CHARS = 4_096;

interface Job {
  readonly segments: Segment[];
  readonly onProgress: TranscriptionOptions["onProgress"];
  readonly onListening: () => void;
  readonly resolve: (transcript: Transcript) => void;
  readonly reject: (error: unknown) => void;
}

/** One process that transcribes recordings, one after the other. After any failure but a refusal it is of no use. */
export class WhisperProcess {
  readonly #child: ChildProcess;
  readonly #limits: WorkLimits;
  readonly #ended: Promise<void>;
  #job: Job | undefined;
  #stderr = "";
  #isUsable = true;
  #reason: unknown;
  #count = 0;

  constructor(file: string, model: WhisperOptions, limits: WorkLimits) {
    this.#limits = limits;
    // Node looks at every folder on the way to a link, and may not in there.
    const worker = realpathSync.native(file);
    const directory = realOf(model.directory);
    this.#child = fork(worker, {
      execArgv: sandboxArguments({
        worker,
        heapBytes: HEAP_BYTES,
        packages: ["onnxruntime-node"],
        folders: [directory],
        hasAddons: true,
      }),
      env: ONNX_ENVIRONMENT,
      stdio: ["pipe", "ignore", "pipe", "ipc"],
    });
    this.#child.on("message", (message: FromWhisper) => this.#receive(message));
    this.#child.stderr?.on("data", (data: Buffer) => {
      this.#stderr = (this.#stderr + data.toString("latin1")).slice(-STDERR_CHARS);
    });
    // What cannot be written any more is explained by the end of the process.
    this.#child.stdin?.on("error", () => undefined);
    this.#ended = new Promise((resolve) => {
      const end = (cause: Error | undefined) => {
        this.#isUsable = false;
        this.#fail(this.#reason ?? this.#explainEnd(cause));
        resolve();
      };
      this.#child.on("error", end);
      // Not "exit": what was written to stderr may come after it.
      this.#child.on("close", () => end(undefined));
    });
    this.#send({ type: "load", model: { ...model, directory }, limits });
  }

  get isUsable(): boolean {
    return this.#isUsable;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Recordings begun. */
  get count(): number {
    return this.#count;
  }

  /** Transcribes one recording; the one before must have ended. */
  async run(audio: Pcm, { language, signal, onProgress }: TranscriptionOptions): Promise<Transcript> {
    this.#count += 1;
    const answer = new Promise<Transcript>((resolve, reject) => {
      const onListening = () => {
        this.#feed(audio, answer).catch((error: unknown) => this.kill(error));
      };
      this.#job = { segments: [], onProgress, onListening, resolve, reject };
    });
    const abort = () => this.kill(signal?.reason);
    signal?.addEventListener("abort", abort);
    try {
      this.#send({ type: "hear", language });
      return await answer;
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  /** Ends it at once. What runs is rejected with `reason`. */
  kill(reason?: unknown): void {
    this.#reason ??= reason;
    this.#isUsable = false;
    this.#child.kill("SIGKILL");
    if (this.#reason !== undefined) this.#fail(this.#reason);
  }

  /** Resolves when the process is gone. */
  ended(): Promise<void> {
    return this.#ended;
  }

  /** Passes the sound on until it or the job ends. A piece has left this process when the next is asked for. */
  async #feed(audio: Pcm, answer: Promise<unknown>): Promise<void> {
    const { stdin } = this.#child;
    if (stdin === null) throw new TypeError("the process was started without an input");
    const answered = answer.then(
      () => undefined,
      () => undefined,
    );
    const pieces = audio[Symbol.asyncIterator]();
    for (;;) {
      // A source that throws has closed itself.
      const next = await Promise.race([pieces.next(), answered]);
      if (next === undefined) break;
      if (next.done === true) return await write(stdin, frameHeader(0));
      const { buffer, byteOffset, byteLength } = next.value;
      if (byteLength === 0) continue;
      void write(stdin, frameHeader(byteLength));
      await Promise.race([write(stdin, new Uint8Array(buffer, byteOffset, byteLength)), answered]);
    }
    // Not waited for: a source that waits itself comes to it when it can.
    pieces.return?.().catch(() => undefined);
  }

  #send(message: ToWhisper): void {
    // A process that has ended is reported by its end, which knows why.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  #receive(message: FromWhisper): void {
    const job = this.#job;
    if (job === undefined) return;
    if (message.type === "listening") job.onListening();
    else if (message.type === "heard") {
      for (const segment of message.segments) job.segments.push(segment);
      job.onProgress?.(message.heardMs);
    } else if (message.type === "done") {
      this.#job = undefined;
      const { language, durationMs } = message;
      job.resolve({ segments: job.segments, language, durationMs });
    } else {
      // A refusal of the recording leaves the process as it was.
      if (message.code !== "UNPROCESSABLE") this.kill();
      this.#fail(new ServiceError(message.code, message.message));
    }
  }

  #fail(error: unknown): void {
    const job = this.#job;
    this.#job = undefined;
    job?.reject(error);
  }

  #explainEnd(cause: Error | undefined): ServiceError {
    if (this.#stderr.includes("watchdog: memory")) {
      return unavailable(
        `The speech model took more than ${this.#limits.maxResidentBytes} bytes of memory and was ended: use a smaller one.`,
      );
    }
    if (this.#stderr.includes("watchdog: time")) {
      return unavailable(
        `The speech model worked for more than ${this.#limits.maxWorkingMs} ms on half a minute of sound and was ended: use a smaller one.`,
      );
    }
    const { exitCode, signalCode } = this.#child;
    const end = cause?.message ?? `it ended with ${signalCode ?? `code ${exitCode}`}`;
    return unavailable(`The process of the speech model broke down (${end}): try again.`, {
      cause: new Error(this.#stderr.trim()),
    });
  }
}

function unavailable(message: string, options?: ErrorOptions): ServiceError {
  return new ServiceError("MODEL_UNAVAILABLE", message, options);
}

/** Resolves when the bytes have left this process, or never will. */
function write(stream: Writable, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    stream.write(bytes, () => resolve());
  });
}

function realOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    // Its absence is reported where the files are looked for.
    return path;
  }
}
