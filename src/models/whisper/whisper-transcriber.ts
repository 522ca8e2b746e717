import { readdirSync, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type {
  Transcriber,
  Pcm,
  Segment,
  Transcript,
  TranscriptionOptions,
} from "../../core/documents/audio-decoder.ts";
import { notReady, type ErrorCode, modelUnavailable, ServiceError } from "../../core/errors.ts";
import { builtFile, realOf } from "../../sandbox/sandboxed-process.ts";
import { ProcessQueue, JobProcess, type ProcessEnd } from "../../sandbox/job-process.ts";
import { type WorkLimits, passedLimit } from "../../sandbox/watchdog.ts";
import { WHISPER_DIRECTORY, type WhisperOptions } from "./whisper-model.ts";
import { ONNX_ENVIRONMENT } from "../bundled-models.ts";

export type ToWhisper =
  /** First of all. */
  | { readonly type: "load"; readonly model: WhisperOptions; readonly limits: WorkLimits }
  /** A recording begins; the one before must have ended. */
  | { readonly type: "transcribe"; readonly language: string | undefined }
  /** The answer to `more`: a piece of its sound; null at the end. */
  | { readonly type: "sound"; readonly samples: Int16Array | null };

export type FromWhisper =
  | { readonly type: "more" }
  | { readonly type: "segments"; readonly segments: readonly Segment[]; readonly transcribedMs: number }
  | { readonly type: "done"; readonly language: string; readonly durationMs: number }
  | { readonly type: "failed"; readonly code: ErrorCode; readonly message: string };

/** One process that transcribes recordings, one after the other. */
type WhisperProcess = JobProcess<ToWhisper, FromWhisper>;

/** Limit of the JavaScript heap, for the vocabulary and tensors to be collected. The model is outside of the heap. */
const HEAP_BYTES = 256 * 1024 ** 2;

/**
 * Transcribes one recording, whose sound is read only as fast as the process asks for it. After any failure but a refusal
 * of the recording the process is of no use any more.
 */
async function transcribeInProcess(
  process: WhisperProcess,
  audio: Pcm,
  { language, signal, onProgress }: TranscriptionOptions,
): Promise<Transcript> {
  const pieces = audio[Symbol.asyncIterator]();
  const sendNext = async () => {
    const { done, value } = await pieces.next();
    await process.send({ type: "sound", samples: done === true ? null : value });
  };
  const segments: Segment[] = [];
  try {
    return await process.run<Transcript>((job) => {
      void process.send({ type: "transcribe", language });
      return (message) => {
        if (message.type === "more") sendNext().catch((error: unknown) => process.kill(error));
        else if (message.type === "segments") {
          for (const segment of message.segments) segments.push(segment);
          onProgress?.(message.transcribedMs);
        } else if (message.type === "done") {
          job.resolve({ segments, language: message.language, durationMs: message.durationMs });
        } else {
          if (message.code !== "UNPROCESSABLE") process.kill();
          job.reject(new ServiceError(message.code, message.message));
        }
      };
    }, signal);
  } finally {
    // Not waited for: a source that waits itself ends when it can.
    pieces.return?.().catch(() => undefined);
  }
}

function explainEnd({ cause, printed }: ProcessEnd, limits: WorkLimits): ServiceError {
  if (passedLimit(printed) === "memory")
    return modelUnavailable(
      `The speech model took more than ${limits.maxResidentBytes} bytes of memory and was ended: use a smaller one.`,
    );
  if (passedLimit(printed) === "time")
    return modelUnavailable(
      `The speech model worked for more than ${limits.maxWorkingMs} ms on half a minute of sound and was ended: use a smaller one.`,
    );
  return modelUnavailable(`The process of the speech model failed (${cause.message}): try again.`, {
    cause: new Error(printed.trim()),
  });
}

export interface TranscriberOptions {
  /** A folder with a Whisper model of the bundled one's interface; the bundled one if absent or empty. */
  readonly modelDirectory?: string;
  /** How long the process lives on without work, so that a folder of clips does not load the model each time. */
  readonly idleTimeoutMs?: number;
  /** Memory of the process, and work on one window of 30 s. */
  readonly limits?: Partial<WorkLimits>;
}

export interface WhisperTranscriber extends Transcriber {
  /** The process id, for tests that end it; undefined without a process. */
  readonly pid: number | undefined;
}

const DEFAULT_IDLE_TIMEOUT_MS = 60_000;
/** A process is replaced after this many: native code may leave things behind. */
const RECORDINGS_PER_PROCESS = 50;
/** Three attempts at a window take 10 s together; a model of 20 times the size may be used, too. */
const MAX_WORKING_MS = 600_000;
/** For a run besides the weights, with a margin: a process with the bundled model may take 1.2 GB. */
const RESIDENT_BYTES = 960_000_000;
const RESIDENT_BYTES_PER_WEIGHT = 4;
/** More gain little: the decoder's steps are short. */
const MAX_THREADS = 4;

/** Whisper in a process of its own with low priority, that may only read its model. */
export function openTranscriber(options: TranscriberOptions = {}): WhisperTranscriber {
  const { modelDirectory = "", idleTimeoutMs = DEFAULT_IDLE_TIMEOUT_MS } = options;
  const model: WhisperOptions = {
    directory: modelDirectory === "" ? WHISPER_DIRECTORY : modelDirectory,
    isBundled: modelDirectory === "",
    threads: Math.min(MAX_THREADS, Math.max(1, availableParallelism() - 1)),
  };
  const queue = new ProcessQueue({
    start(walls) {
      const directory = realOf(model.directory);
      const limits = {
        maxWorkingMs: MAX_WORKING_MS,
        maxResidentBytes: RESIDENT_BYTES + RESIDENT_BYTES_PER_WEIGHT * bytesIn(directory),
        ...options.limits,
      };
      const process: WhisperProcess = new JobProcess({
        walls,
        sandbox: {
          worker: builtFile("models/whisper/whisper-worker.js"),
          heapBytes: HEAP_BYTES,
          packages: ["onnxruntime-node"],
          folders: [directory],
          hasAddons: true,
        },
        env: ONNX_ENVIRONMENT,
        explainEnd: (end) => explainEnd(end, limits),
      });
      void process.send({ type: "load", model: { ...model, directory }, limits });
      return process;
    },
    jobsPerProcess: RECORDINGS_PER_PROCESS,
    idleMs: idleTimeoutMs,
  });
  const closing = new AbortController();

  return {
    get pid() {
      return queue.current?.pid;
    },
    async transcribe(audio, wishes = {}) {
      const signal = AbortSignal.any([closing.signal, wishes.signal ?? closing.signal]);
      return await queue.run((process) => transcribeInProcess(process, audio, { ...wishes, signal }), signal);
    },
    async close() {
      closing.abort(notReady("The daemon stops."));
      await queue.close();
    },
  };
}

function bytesIn(directory: string): number {
  try {
    return readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
  } catch {
    // The process itself reports what is wrong.
    return 0;
  }
}
