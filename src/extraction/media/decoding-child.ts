import type { ChildProcess } from "node:child_process";
import type { DecodingLimits } from "../../core/documents/audio-decoder.ts";
import { type Pcm, PCM_RATE } from "../../core/documents/transcription.ts";
import { ServiceError } from "../../core/errors.ts";
import { lowerPriority, passedLimit } from "../../sandbox/watchdog.ts";
import { watchMemory } from "../../sandbox/resident-memory.ts";
import { killGroup } from "../../sandbox/walls.ts";
import { WorkClock } from "../../sandbox/work-clock.ts";
import type { Container } from "./container.ts";
import type { MediaReport } from "./media-report.ts";

const MS_A_SECOND = 1_000;
const BYTES_A_SAMPLE = 2;
/** Of what it prints, the first and the last; a damaged file makes it print without end. */
const PRINTED_CHARS = 262_144;
/** FFmpeg's words for a file that ends before its own account says so. */
const CUT_OFF = /partial file|File ended prematurely|filesize and duration do not match/;
/** The same, where the container has nothing but sound. */
const CUT_OFF_WAV = /Packet corrupt \(stream = 0/;
/** Containers whose head says exactly how much sound there is, and nothing but sound is in them. */
const EXACT: ReadonlySet<Container> = new Set(["wav", "flac"]);
/** What may be missing: rates are converted, and lengths rounded. */
const TOLERANCE = 0.005;
const TOLERANCE_MS = 250;

export interface ChildOptions {
  readonly limits: DecodingLimits;
  readonly signal: AbortSignal;
  /** Of a program that does not watch itself. */
  readonly maxResidentBytes?: number;
}

/** A process that decodes: ended when it takes too long, or by the signal; what it prints is kept. */
export class DecodingChild {
  readonly #child: ChildProcess;
  readonly #limits: DecodingLimits;
  readonly #ended: Promise<void>;
  #printed = "";
  #reason: unknown;
  #failure: Error | undefined;
  #isRead = false;

  constructor(child: ChildProcess, { limits, signal, maxResidentBytes }: ChildOptions) {
    this.#child = child;
    this.#limits = limits;
    if (child.pid !== undefined) lowerPriority(child.pid);
    const abort = () => this.kill(signal.reason);
    signal.addEventListener("abort", abort);
    if (signal.aborted) abort();
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      const all = this.#printed + text;
      const half = PRINTED_CHARS / 2;
      this.#printed = all.length <= PRINTED_CHARS ? all : `${all.slice(0, half)}\n${all.slice(-half)}`;
    });
    const gone = new AbortController();
    if (child.pid !== undefined && maxResidentBytes !== undefined)
      void watchMemory(child.pid, maxResidentBytes, gone.signal, () => this.kill(tooMuchMemory()));
    this.#ended = new Promise((resolve) => {
      const end = (error?: Error): void => {
        this.#failure ??= error;
        gone.abort();
        if (passedLimit(this.#printed) !== undefined) this.#reason ??= tooMuchMemory();
        signal.removeEventListener("abort", abort);
        resolve();
      };
      child.on("error", end);
      // What nobody reads would hold back its end.
      child.on("exit", () => {
        if (!this.#isRead) child.stdout?.resume();
      });
      // Not "exit": what was printed may come after it.
      child.on("close", () => end());
    });
  }

  get printed(): string {
    return this.#printed;
  }

  /** Why it could not be started. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Resolves when it is gone and all that it printed is here. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  /** True when it ended by itself and well. */
  get isWell(): boolean {
    return this.#failure === undefined && this.#reason === undefined && this.#child.exitCode === 0;
  }

  /** Ends it at once; what waits for it is rejected with the first reason given. */
  kill(reason: unknown): void {
    this.#reason ??= reason;
    killGroup(this.#child);
  }

  /** @throws what it was ended for. */
  throwIfKilled(): void {
    if (this.#reason !== undefined) throw this.#reason;
  }

  /** Waits for an answer that is to come within the working time. */
  async within<T>(answer: Promise<T>): Promise<T> {
    const clock = new WorkClock(() => this.kill(this.#tookTooLong()));
    clock.start(this.#limits.maxWorkingMs);
    try {
      return await answer;
    } finally {
      clock.stop();
    }
  }

  /**
   * What it writes to its standard output, as samples. Leaving early ends it.
   *
   * @throws {ServiceError} TOO_LARGE; UNPROCESSABLE for what is damaged or cut off; what it was ended for.
   */
  async *sound(container: Container, report: MediaReport): Pcm {
    const { maxSeconds, maxWorkingMs } = this.#limits;
    const maxSamples = maxSeconds * PCM_RATE;
    const clock = new WorkClock(() => this.kill(this.#tookTooLong()));
    let samples = 0;
    let odd: Buffer = Buffer.alloc(0);
    this.#isRead = true;
    const pieces = (this.#child.stdout as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
    try {
      for (;;) {
        clock.start(maxWorkingMs + (samples / PCM_RATE) * MS_A_SECOND);
        const piece = await pieces.next();
        clock.stop();
        this.throwIfKilled();
        if (piece.done === true) break;
        const bytes = odd.length === 0 ? piece.value : Buffer.concat([odd, piece.value]);
        const whole = bytes.length - (bytes.length % BYTES_A_SAMPLE);
        odd = bytes.subarray(whole);
        samples += whole / BYTES_A_SAMPLE;
        if (samples > maxSamples) throw tooLong(maxSeconds);
        if (whole > 0) yield toSamples(bytes.subarray(0, whole));
      }
      await this.#ended;
      this.throwIfKilled();
      this.#check(container, report, (samples / PCM_RATE) * MS_A_SECOND);
    } finally {
      clock.stop();
      this.#child.stdout?.destroy();
      this.kill(new ServiceError("NOT_READY", "The recording is closed."));
    }
  }

  #check(container: Container, { durationMs = 0, hasVideo }: MediaReport, soundMs: number): void {
    // It ends as it should, and before that it prints what is missing.
    const missingMs = durationMs - soundMs;
    const isShort = EXACT.has(container) && missingMs > TOLERANCE_MS + durationMs * TOLERANCE;
    const words = this.#printed;
    const isCutOff = isShort || CUT_OFF.test(words) || (container === "wav" && CUT_OFF_WAV.test(words));
    if (soundMs === 0) throw damaged(hasVideo);
    if (isCutOff) throw cutOff();
    if (!this.isWell) throw damaged(hasVideo);
  }

  #tookTooLong(): ServiceError {
    const { maxWorkingMs } = this.#limits;
    return new ServiceError(
      "TOO_LARGE",
      `Decoding the recording takes more than ${maxWorkingMs} ms of work. Send it in parts.`,
    );
  }
}

function tooMuchMemory(): ServiceError {
  return new ServiceError(
    "TOO_LARGE",
    "Decoding the recording takes more memory or time than there is for it. Send it in parts, or as WAV.",
  );
}

export function damaged(hasVideo = false): ServiceError {
  const what = hasVideo ? "The sound of the video" : "The recording";
  return new ServiceError(
    "UNPROCESSABLE",
    `${what} is damaged and cannot be decoded. Save it anew and send that.`,
  );
}

export function cutOff(): ServiceError {
  return new ServiceError(
    "UNPROCESSABLE",
    "The recording is cut off: it ends before its own account of itself does. Send the whole file.",
  );
}

/** @throws {ServiceError} TOO_LARGE for a recording that is too long by its own account. */
export function checkDuration({ durationMs = 0 }: MediaReport, { maxSeconds }: DecodingLimits): void {
  if (durationMs > maxSeconds * MS_A_SECOND) throw tooLong(maxSeconds);
}

function tooLong(maxSeconds: number): ServiceError {
  return new ServiceError(
    "TOO_LARGE",
    `The recording is longer than ${maxSeconds} seconds. Send it in parts.`,
  );
}

/** The bytes may begin at an odd place in memory, where no number of two bytes may. */
function toSamples(bytes: Buffer): Int16Array {
  const copy = new Uint8Array(bytes);
  return new Int16Array(copy.buffer, 0, copy.length / BYTES_A_SAMPLE);
}
