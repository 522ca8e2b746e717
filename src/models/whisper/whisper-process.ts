import { realpathSync } from "node:fs";
import type { Pcm, Segment, Transcript, TranscriptionOptions } from "../../core/documents/transcription.ts";
import { ServiceError } from "../../core/errors.ts";
import { type Job, JobProcess, type ProcessEnd } from "../../sandbox/job-process.ts";
import type { Walls } from "../../sandbox/walls.ts";
import { passedLimit, type WorkLimits } from "../../sandbox/watchdog.ts";
import { ONNX_ENVIRONMENT } from "../onnx-environment.ts";
import { frameHeader } from "./pcm-frames.ts";
import type { FromWhisper, ToWhisper } from "./whisper-messages.ts";
import type { WhisperOptions } from "./whisper-model.ts";

/** One process that transcribes recordings, one after the other. */
export type WhisperProcess = JobProcess<ToWhisper, FromWhisper>;

/** Of JavaScript objects: the vocabulary, and tensors that wait for the collector. The model lies outside of them. */
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
    hasInput: true,
    explainEnd: (end) => explainEnd(end, limits),
  });
  void process.send({ type: "load", model: { ...model, directory }, limits });
  return process;
}

/** Transcribes one recording. After any failure but a refusal of the recording the process is of no use any more. */
export async function transcribeInProcess(
  process: WhisperProcess,
  audio: Pcm,
  { language, signal, onProgress }: TranscriptionOptions,
): Promise<Transcript> {
  return process.run<Transcript>((job) => {
    void process.send({ type: "transcribe", language });
    const segments: Segment[] = [];
    return (message) => {
      if (message.type === "ready") feed(process, job, audio).catch((error: unknown) => process.kill(error));
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
}

/** Passes the sound on until it or the job ends. A piece has left this process when the next is asked for. */
async function feed(
  process: WhisperProcess,
  { over }: Pick<Job<unknown>, "over">,
  audio: Pcm,
): Promise<void> {
  const pieces = audio[Symbol.asyncIterator]();
  for (;;) {
    // A source that throws has closed itself.
    const next = await Promise.race([pieces.next(), over]);
    if (next === undefined) break;
    if (next.done === true) return await process.write(frameHeader(0));
    const { buffer, byteOffset, byteLength } = next.value;
    if (byteLength === 0) continue;
    void process.write(frameHeader(byteLength));
    await Promise.race([process.write(new Uint8Array(buffer, byteOffset, byteLength)), over]);
  }
  // Not waited for: a source that waits itself comes to it when it can.
  pieces.return?.().catch(() => undefined);
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
  return unavailable(`The process of the speech model broke down (${cause.message}): try again.`, {
    cause: new Error(printed.trim()),
  });
}

function unavailable(message: string, options?: ErrorOptions): ServiceError {
  return new ServiceError("MODEL_UNAVAILABLE", message, options);
}

function realOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    // Its absence is reported where the files are looked for.
    return path;
  }
}
