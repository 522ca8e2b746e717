import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import type { DecodingLimits, Recording } from "../../core/documents/audio-decoder.ts";
import { ServiceError } from "../../core/errors.ts";
import { forkSandboxed } from "../../sandbox/sandboxed-process.ts";
import { behind, standingWalls, type Walls } from "../../sandbox/walls.ts";
import type { WorkLimits } from "../../sandbox/watchdog.ts";
import type { Container } from "./container.ts";
import { DecodingChild } from "./decoding-child.ts";
import { reportArguments, soundArguments, subtitleArguments } from "./ffmpeg-arguments.ts";
import { type MediaReport, type OpenedMedia, readReport, SubtitleText } from "./media-report.ts";
import { INPUT, OUTPUT, STARTED } from "./media-source.ts";

/** Sound takes some dozens of megabytes; tables in a file that lies take any number. */
const MAX_RESIDENT_BYTES = 500_000_000;
/** JavaScript objects are few; the decoders have memory of their own. */
const HEAP_BYTES = 256 * 1_024 * 1_024;
const MAX_WORKER_RESIDENT_BYTES = 1_000_000_000;
/** Decoding that takes as long as playing would is a loop. */
const WORK_MS_PER_SECOND = 1_000;

export interface DecodingInput {
  readonly container: Container;
  readonly path: string;
  readonly limits: DecodingLimits;
  readonly signal: AbortSignal;
}

/** A program with FFmpeg's arguments: a process for each thing that is asked. */
export interface DecodingProgram {
  readonly decoder: Recording["decoder"];
  /** What it calls the file, and its standard output. */
  readonly input: string;
  readonly output: string;
  /** Of a program that does not watch itself. */
  readonly maxResidentBytes?: number;
  /** What it prints first where it is part of this program. */
  readonly greeting?: string;
  readReport(printed: string): MediaReport | undefined;
  start(args: readonly string[], walls: Walls | undefined): ChildProcess;
}

/** The system's FFmpeg. Of the environment it gets nothing but what Windows needs to start a program, and finds itself. */
export function systemFfmpeg(program: string, { path }: DecodingInput): DecodingProgram {
  return {
    decoder: "ffmpeg",
    input: path,
    output: "pipe:1",
    maxResidentBytes: MAX_RESIDENT_BYTES,
    readReport,
    start(args, walls) {
      const [file, ...words] = behind(walls, program, args);
      return spawn(file, words, {
        stdio: ["ignore", "pipe", "pipe"],
        env: {},
        detached: walls !== undefined,
        windowsHide: true,
      });
    },
  };
}

/** A decoder of ours, in a Node without rights. The file is its standard input: it may open none itself. */
export function decodingWorker(
  decoder: "wav" | "ffmpeg-wasm",
  worker: string,
  { path, limits }: DecodingInput,
): DecodingProgram {
  const own: WorkLimits = {
    maxWorkingMs: limits.maxWorkingMs + limits.maxSeconds * WORK_MS_PER_SECOND,
    maxResidentBytes: MAX_WORKER_RESIDENT_BYTES,
  };
  return {
    decoder,
    input: INPUT,
    output: OUTPUT,
    greeting: STARTED,
    readReport(printed) {
      if (decoder !== "wav") return readReport(printed);
      return (JSON.parse(printed.slice(STARTED.length)) as MediaReport | null) ?? undefined;
    },
    start(args, walls) {
      const file = openSync(path, "r");
      try {
        const sandbox = { worker, heapBytes: HEAP_BYTES, packages: ["@ffmpeg/core"] };
        return forkSandboxed(sandbox, walls, {
          args: [decoder, JSON.stringify(own), ...args],
          stdio: [file, "pipe", "pipe", "ipc"],
        });
      } finally {
        closeSync(file);
      }
    },
  };
}

/**
 * Opens a recording with a program.
 *
 * @returns undefined where it cannot read the file, or is no such program.
 * @throws {ServiceError} TOO_LARGE; INTERNAL where a decoder of ours does not start; the signal's reason.
 */
export async function openWith(
  program: DecodingProgram,
  { container, limits, signal }: DecodingInput,
): Promise<OpenedMedia | undefined> {
  const { decoder, input, output, greeting, maxResidentBytes } = program;
  const living = new Set<DecodingChild>();
  const walls = await standingWalls();
  const start = (args: readonly string[]) => {
    const process = program.start(args, walls);
    const options = { limits, signal, ...(maxResidentBytes !== undefined && { maxResidentBytes }) };
    const child = new DecodingChild(process, options);
    living.add(child);
    return { child, process };
  };

  const asked = start(reportArguments(container, input));
  asked.process.stdout?.resume();
  await asked.child.within(asked.child.ended);
  asked.child.throwIfKilled();
  const { printed, failure } = asked.child;
  if (greeting !== undefined && !printed.startsWith(greeting)) {
    const cause = failure ?? new Error(printed.trim());
    throw new ServiceError("INTERNAL", "The process that decodes recordings does not start.", { cause });
  }
  const report = program.readReport(printed);
  if (report === undefined) return undefined;
  return {
    decoder,
    report,
    // Begun with the first piece that is asked for: what ends before somebody reads it would be lost.
    async *sound(index) {
      const { child } = start(soundArguments(container, input, output, index, limits.maxSeconds + 1));
      yield* child.sound(container, report);
    },
    async subtitles(index) {
      const { child, process } = start(subtitleArguments(container, input, output, index));
      const text = new SubtitleText();
      process.stdout?.on("data", (piece: Buffer) => text.add(piece));
      await child.within(child.ended);
      child.throwIfKilled();
      return text.bytes;
    },
    async close() {
      for (const child of living) child.kill(new ServiceError("NOT_READY", "The recording is closed."));
      await Promise.all(Array.from(living, ({ ended }) => ended));
    },
  };
}
