import { realpathSync } from "node:fs";
import type { Pcm, Segment, Transcript, TranscriptionOptions } from "../../core/documents/audio-decoder.ts";
import { type ErrorCode, modelUnavailable, ServiceError } from "../../core/errors.ts";
import { JobProcess, type ProcessEnd } from "../../sandbox/job-process.ts";
import type { Walls } from "../../sandbox/walls.ts";
import { passedLimit, type WorkLimits } from "../../sandbox/watchdog.ts";
import { ONNX_ENVIRONMENT } from "../bundled-models.ts";
import type { WhisperOptions } from "./whisper-model.ts";

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
export type WhisperProcess = JobProcess<ToWhisper, FromWhisper>;

/** Limit of the JavaScript heap, for the vocabulary and tensors to be collected. The model is outside of the heap. */
const HEAP_BYTES = 256 * 1024 ** 2;

/** @throws {Error} if the built worker is missing. */
export function startWhisperProcess(
  worker: string,
  model: WhisperOptions,
  limits: WorkLimits,
  walls: Walls | undefined,
): WhisperProcess {
  const directory = realOf(model.directory);
  const process: WhisperProcess = new JobProcess({
    walls,
    sandbox: {
      worker,
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
}

/**
 * Transcribes one recording, whose sound is read only as fast as the process asks for it. After any failure but a refusal
 * of the recording the process is of no use any more.
 */
export async function transcribeInProcess(
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
  if (passedLimit(printed) === "memory") {
    return unavailable(
      `The speech model took more than ${limits.maxResidentBytes} bytes of memory and was ended: use a smaller one.`,
    );
  }
  if (passedLimit(printed) === "time") {
    return unavailable(
      `The speech model worked for more than ${limits.maxWorkingMs} ms on half a minute of sound and was ended: use a smaller one.`,
    );
  }
  return unavailable(`The process of the speech model failed (${cause.message}): try again.`, {
    cause: new Error(printed.trim()),
  });
}

function unavailable(message: string, options?: ErrorOptions): ServiceError {
  return modelUnavailable(message, options);
}

function realOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    // Its absence is reported where the files are looked for.
    return path;
  }
}
