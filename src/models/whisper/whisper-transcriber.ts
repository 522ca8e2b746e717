import { existsSync, readdirSync, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type {
  Pcm,
  Transcriber,
  Transcript,
  TranscriptionOptions,
} from "../../core/documents/transcription.ts";
import { ServiceError } from "../../core/errors.ts";
import { builtFile } from "../../sandbox/built-file.ts";
import type { WorkLimits } from "../../sandbox/watchdog.ts";
import { WHISPER_DIRECTORY, type WhisperOptions } from "./whisper-model.ts";
import { WhisperProcess } from "./whisper-process.ts";

export interface TranscriberOptions {
  /** A folder with a Whisper model of the bundled one's interface; the bundled one if absent or empty. */
  readonly modelDirectory?: string;
  /** How long the process lives on without work, so that a folder of clips does not load the model each time. */
  readonly idleTimeoutMs?: number;
  /** Of the process: memory, and work on one window of 30 s. */
  readonly limits?: Partial<WorkLimits>;
  /** A test's own worker, instead of the built one. */
  readonly workerFile?: string;
}

export interface WhisperTranscriber extends Transcriber {
  /** Of the process, for tests that end it; undefined while there is none. */
  readonly pid: number | undefined;
}

const DEFAULT_IDLE_TIMEOUT_MS = 60_000;
/** A process is replaced after as many recordings, whatever native code leaves behind. */
const RECORDINGS_A_PROCESS = 50;
/** The sum of three attempts at a window takes 10 s; a model of 20 times the size may have its time too. */
const MAX_WORKING_MS = 600_000;
/** What a run takes besides the weights, with room to spare: a process with the bundled model may have 1.2 GB. */
const RESIDENT_BYTES = 960_000_000;
const RESIDENT_BYTES_A_WEIGHT = 4;
/** More gain little: the decoder's steps are short. */
const MAX_THREADS = 4;

/**
 * Whisper in a process of its own, started with the first recording and ended when there was no work for a while. It has
 * no rights but to read its model, and comes after everything else where the processor is wanted.
 */
export function openTranscriber(options: TranscriberOptions = {}): WhisperTranscriber {
  const { modelDirectory = "", idleTimeoutMs = DEFAULT_IDLE_TIMEOUT_MS } = options;
  const file = options.workerFile ?? builtFile("models/whisper/whisper-worker.js");
  const model: WhisperOptions = {
    directory: modelDirectory === "" ? WHISPER_DIRECTORY : modelDirectory,
    isBundled: modelDirectory === "",
    threads: Math.min(MAX_THREADS, Math.max(1, availableParallelism() - 1)),
  };
  const closing = new AbortController();
  const living = new Set<WhisperProcess>();
  let current: WhisperProcess | undefined;
  let idle: NodeJS.Timeout | undefined;
  /** Settles when the recording before has ended. */
  let turn: Promise<void> = Promise.resolve();

  function usableProcess(): WhisperProcess {
    if (current?.isUsable === true && current.count < RECORDINGS_A_PROCESS) return current;
    current?.kill();
    if (!existsSync(file)) {
      throw new ServiceError("MODEL_UNAVAILABLE", `${file} is missing: run \`npm run build\` first.`);
    }
    const limits = {
      maxWorkingMs: MAX_WORKING_MS,
      maxResidentBytes: RESIDENT_BYTES + RESIDENT_BYTES_A_WEIGHT * bytesIn(model.directory),
      ...options.limits,
    };
    const started = new WhisperProcess(file, model, limits);
    living.add(started);
    void started.ended().then(() => living.delete(started));
    current = started;
    return started;
  }

  async function hear(audio: Pcm, wishes: TranscriptionOptions): Promise<Transcript> {
    clearTimeout(idle);
    const process = usableProcess();
    try {
      return await process.run(audio, wishes);
    } finally {
      idle = setTimeout(() => process.kill(), idleTimeoutMs);
      idle.unref();
    }
  }

  return {
    get pid() {
      return current?.isUsable === true ? current.pid : undefined;
    },
    async transcribe(audio, wishes = {}) {
      const signals = wishes.signal === undefined ? [] : [wishes.signal];
      const signal = AbortSignal.any([closing.signal, ...signals]);
      signal.throwIfAborted();
      const before = turn;
      let endTurn: () => void = () => undefined;
      const mine = new Promise<void>((resolve) => {
        endTurn = resolve;
      });
      turn = before.then(() => mine);
      try {
        await unlessAborted(before, signal);
        return await hear(audio, { ...wishes, signal });
      } finally {
        endTurn();
      }
    },
    async close() {
      closing.abort(new ServiceError("NOT_READY", "The daemon stops, and transcribes nothing more."));
      clearTimeout(idle);
      for (const process of living) process.kill();
      await Promise.all(Array.from(living, (process) => process.ended()));
    },
  };
}

/** Resolves with the promise; rejects as soon as the signal does. */
async function unlessAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let abort: () => void = () => undefined;
  const aborted = new Promise<void>((resolve) => {
    abort = resolve;
  });
  signal.addEventListener("abort", abort);
  await Promise.race([promise, aborted]);
  signal.removeEventListener("abort", abort);
  signal.throwIfAborted();
}

function bytesIn(directory: string): number {
  try {
    return readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
  } catch {
    // What is wrong with it is said by the process, which looks closer.
    return 0;
  }
}
