import type { ChildProcess } from "node:child_process";
import { type DecodingLimits, type Pcm, PCM_RATE } from "../../core/documents/audio-decoder.ts";
import { notReady, type ServiceError, tooLarge, unprocessable } from "../../core/errors.ts";
import { lowerPriority, passedLimit, WorkClock } from "../../sandbox/watchdog.ts";
import { killGroup } from "../../sandbox/walls.ts";
import type { Container, MediaReport } from "./container.ts";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

export const MS_PER_SECOND = 1_000;
const BYTES_PER_SAMPLE = 2;
/** Kept of standard error, half from the beginning and half from the end: a damaged file makes FFmpeg print without end. */
const PRINTED_CHARS = 262_144;
/** Maximum size of one track as WebVTT; days of subtitles take a tenth of it. */
const MAX_SUBTITLE_BYTES = 64 * 1_024 * 1_024;
/** FFmpeg's words for a file that ends before its head says so. */
const CUT_OFF = /partial file|File ended prematurely|filesize and duration do not match/;
/** Share of the duration that may be missing: rates are converted, and lengths rounded. */
const TOLERANCE = 0.005;
const TOLERANCE_MS = 250;

/** A process that decodes. It is ended when it takes too long, or by the signal. */
export class DecodingChild {
  readonly #child: ChildProcess;
  readonly #limits: DecodingLimits;
  #printed = "";
  #reason: unknown;
  #failure: Error | undefined;
  /** Resolves when the process is gone and all that it printed is here. */
  readonly ended: Promise<void>;

  /** @param maxResidentBytes memory limit of a program that does not limit itself. */
  constructor(child: ChildProcess, limits: DecodingLimits, signal: AbortSignal, maxResidentBytes?: number) {
    this.#child = child;
    this.#limits = limits;
    const gone = new AbortController();
    if (child.pid !== undefined) {
      lowerPriority(child.pid);
      if (maxResidentBytes !== undefined)
        void watchMemory(child.pid, maxResidentBytes, gone.signal, () => this.kill(tooMuchMemory()));
    }
    const abort = () => this.kill(signal.reason);
    signal.addEventListener("abort", abort);
    if (signal.aborted) abort();
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      const all = this.#printed + text;
      const half = PRINTED_CHARS / 2;
      this.#printed = all.length <= PRINTED_CHARS ? all : `${all.slice(0, half)}\n${all.slice(-half)}`;
    });
    this.ended = new Promise((resolve) => {
      const end = (error?: Error): void => {
        this.#failure ??= error;
        gone.abort();
        if (passedLimit(this.#printed) !== undefined) this.#reason ??= tooMuchMemory();
        signal.removeEventListener("abort", abort);
        resolve();
      };
      child.on("error", end);
      // Not "exit": what was printed may come after it.
      child.on("close", () => end());
    });
  }

  /** The output on standard error. */
  get printed(): string {
    return this.#printed;
  }

  /** Why it could not be started. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Ends it at once; what waits for it is rejected with the first reason given. */
  kill(reason: unknown): void {
    this.#reason ??= reason;
    killGroup(this.#child);
  }

  /** Standard output, once the program has ended. @throws {ServiceError} TOO_LARGE; what it was ended for. */
  async output(): Promise<Buffer> {
    const clock = new WorkClock(() => this.kill(this.#tookTooLong()));
    clock.start(this.#limits.maxWorkingMs);
    const pieces: Buffer[] = [];
    let bytes = 0;
    this.#child.stdout?.on("data", (piece: Buffer) => {
      bytes += piece.length;
      if (bytes <= MAX_SUBTITLE_BYTES) pieces.push(piece);
      else this.kill(tooManySubtitles());
    });
    await this.ended;
    clock.stop();
    this.#throwIfKilled();
    return Buffer.concat(pieces);
  }

  /** The samples; leaving early ends the program. @throws {ServiceError} TOO_LARGE, UNPROCESSABLE. */
  async *sound(container: Container, report: MediaReport): Pcm {
    const { maxSeconds, maxWorkingMs } = this.#limits;
    const clock = new WorkClock(() => this.kill(this.#tookTooLong()));
    let samples = 0;
    let odd: Buffer = Buffer.alloc(0);
    const pieces = (this.#child.stdout as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
    try {
      for (;;) {
        clock.start(maxWorkingMs + (samples / PCM_RATE) * MS_PER_SECOND);
        const piece = await pieces.next();
        clock.stop();
        this.#throwIfKilled();
        if (piece.done === true) break;
        const bytes = Buffer.concat([odd, piece.value]);
        const whole = bytes.length - (bytes.length % BYTES_PER_SAMPLE);
        odd = bytes.subarray(whole);
        samples += whole / BYTES_PER_SAMPLE;
        if (samples > maxSeconds * PCM_RATE) throw tooLong(maxSeconds);
        if (whole > 0) yield toSamples(bytes.subarray(0, whole));
      }
      await this.ended;
      this.#throwIfKilled();
      this.#check(container, report, (samples / PCM_RATE) * MS_PER_SECOND);
    } finally {
      clock.stop();
      this.#child.stdout?.destroy();
      this.kill(recordingClosed());
    }
  }

  /** FFmpeg ends with code 0 for a file that is cut off, and prints what is missing. */
  #check(container: Container, { durationMs = 0, hasVideo }: MediaReport, soundMs: number): void {
    // Its head says exactly how much sound there is, and it holds nothing else.
    const isShort = container === "flac" && durationMs - soundMs > TOLERANCE_MS + durationMs * TOLERANCE;
    if (soundMs === 0) throw damaged(hasVideo);
    if (isShort || CUT_OFF.test(this.#printed)) throw cutOff();
    if (this.#failure !== undefined || this.#child.exitCode !== 0) throw damaged(hasVideo);
  }

  #throwIfKilled(): void {
    if (this.#reason !== undefined) throw this.#reason;
  }

  #tookTooLong(): ServiceError {
    return tooLarge(
      `Decoding the recording takes more than ${this.#limits.maxWorkingMs} ms of work. Send it in parts.`,
    );
  }
}

const tooMuchMemory = () =>
  tooLarge("Decoding the recording takes too much memory or time. Send it in parts.");
const tooManySubtitles = () =>
  tooLarge(
    `The subtitles in the recording have more than ${MAX_SUBTITLE_BYTES} bytes. Leave prefer_subtitles out, so that it is transcribed.`,
  );
export const tooLong = (maxSeconds: number) =>
  tooLarge(`The recording is longer than ${maxSeconds} seconds. Send it in parts.`);

export const recordingClosed = () => notReady("The recording is closed.");

export function damaged(hasVideo = false): ServiceError {
  const what = hasVideo ? "The sound of the video" : "The recording";
  return unprocessable(`${what} is damaged and cannot be decoded. Save it again and send that.`);
}

export const cutOff = () =>
  unprocessable("The recording is cut off: it ends before the length that it states. Send the whole file.");

/** The bytes may begin at an odd place in memory, where no number of two bytes may. */
function toSamples(bytes: Buffer): Int16Array {
  const copy = new Uint8Array(bytes);
  return new Int16Array(copy.buffer, 0, copy.length / BYTES_PER_SAMPLE);
}

const MEASURE_EVERY_MS = 50;
const BYTES_PER_KILOBYTE = 1_024;

/** Calls `onPassed` once the process and its children take more memory. Linux only; elsewhere FFmpeg's own limits hold. */
async function watchMemory(
  pid: number,
  maxBytes: number,
  signal: AbortSignal,
  onPassed: () => void,
): Promise<void> {
  if (process.platform !== "linux") return;
  while (!signal.aborted) {
    if (residentBytes(pid) > maxBytes) return onPassed();
    await sleep(MEASURE_EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

/** Resident bytes of a process and its descendants; 0 for one that is gone. */
function residentBytes(pid: number): number {
  const proc = (file: string): string => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, "latin1");
    } catch {
      return "";
    }
  };
  const own = Number(/^VmRSS:\s*(\d+) kB/m.exec(proc("status"))?.[1] ?? 0) * BYTES_PER_KILOBYTE;
  const children = proc(`task/${pid}/children`).split(" ").filter(Boolean);
  return children.reduce((sum, child) => sum + residentBytes(Number(child)), own);
}
