import { readdirSync, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Transcriber } from "../../core/documents/audio-decoder.ts";
import { notReady } from "../../core/errors.ts";
import { builtFile } from "../../sandbox/sandboxed-process.ts";
import { ProcessQueue } from "../../sandbox/process-queue.ts";
import type { WorkLimits } from "../../sandbox/watchdog.ts";
import { WHISPER_DIRECTORY, type WhisperOptions } from "./whisper-model.ts";
import { startWhisperProcess, transcribeInProcess } from "./whisper-process.ts";

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
  const file = builtFile("models/whisper/whisper-worker.js");
  const model: WhisperOptions = {
    directory: modelDirectory === "" ? WHISPER_DIRECTORY : modelDirectory,
    isBundled: modelDirectory === "",
    threads: Math.min(MAX_THREADS, Math.max(1, availableParallelism() - 1)),
  };
  const queue = new ProcessQueue({
    start(walls) {
      const limits = {
        maxWorkingMs: MAX_WORKING_MS,
        maxResidentBytes: RESIDENT_BYTES + RESIDENT_BYTES_PER_WEIGHT * bytesIn(model.directory),
        ...options.limits,
      };
      return startWhisperProcess(file, model, limits, walls);
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
      const signals = wishes.signal === undefined ? [] : [wishes.signal];
      const signal = AbortSignal.any([closing.signal, ...signals]);
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
