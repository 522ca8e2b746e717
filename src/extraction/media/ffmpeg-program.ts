import { type ChildProcess, spawn } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import type { DecodingLimits } from "../../core/documents/audio-decoder.ts";
import { ServiceError } from "../../core/errors.ts";
import type { Container } from "./container.ts";
import { damaged, DecodingChild } from "./decoding-child.ts";
import { reportArguments, soundArguments, subtitleArguments } from "./ffmpeg-arguments.ts";
import { readReport } from "./media-report.ts";
import type { OpenedMedia } from "./opened-media.ts";
import { SubtitleText } from "./subtitle-text.ts";

const STDOUT = "pipe:1";

/** Where the system looks for programs. */
export interface SearchPlaces {
  /** As the variable `PATH` has it. */
  readonly path: string;
  readonly platform: NodeJS.Platform;
}

/**
 * The file of a program, as the system would find it, but for the working directory and other relative places, which
 * may be anybody's. Undefined where there is none.
 */
export async function findProgram(
  name: string,
  { path, platform }: SearchPlaces,
): Promise<string | undefined> {
  const file = platform === "win32" ? `${name}.exe` : name;
  for (const folder of path.split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const candidate = join(folder, file);
    const isThere = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return candidate;
  }
  return undefined;
}

/**
 * A program that was named must be there: falling back in silence would hide a slip.
 *
 * @param setting a file, "auto" or "off".
 * @throws {ServiceError} INVALID_REQUEST.
 */
export async function checkNamedProgram(setting: string): Promise<void> {
  if (setting === "auto" || setting === "off") return;
  await access(setting, constants.X_OK).catch((cause: unknown) => {
    throw new ServiceError(
      "INVALID_REQUEST",
      `There is no program at ${setting}, which --ffmpeg names. Correct the path, or use auto or off.`,
      { cause },
    );
  });
}

/**
 * Opens a recording with the system's FFmpeg: a process for each thing that is asked.
 *
 * @returns undefined where the program does not run at all.
 * @throws {ServiceError} UNPROCESSABLE for a file that it cannot read; TOO_LARGE; the signal's reason.
 */
export async function openInFfmpeg(
  program: string,
  {
    container,
    path,
    limits,
    signal,
  }: {
    readonly container: Container;
    readonly path: string;
    readonly limits: DecodingLimits;
    readonly signal: AbortSignal;
  },
): Promise<OpenedMedia | undefined> {
  const living = new Set<DecodingChild>();
  const start = (
    args: readonly string[],
  ): { readonly child: DecodingChild; readonly process: ChildProcess } => {
    // Of the environment nothing but what Windows needs to start a program at all, and that it finds itself.
    const process = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], env: {}, windowsHide: true });
    const child = new DecodingChild(process, { limits, signal });
    living.add(child);
    return { child, process };
  };

  const asked = start(reportArguments(container, path));
  asked.process.stdout?.resume();
  await asked.child.within(asked.child.ended);
  asked.child.throwIfKilled();
  // It always prints something, or it was not FFmpeg.
  if (asked.child.printed === "") return undefined;
  const report = readReport(asked.child.printed);
  if (report === undefined) throw damaged();
  return {
    decoder: "ffmpeg",
    report,
    // Begun with the first piece that is asked for: what ends before somebody reads it would be lost.
    async *sound(index) {
      const { child } = start(soundArguments(container, path, STDOUT, index, limits.maxSeconds + 1));
      yield* child.sound(container, report);
    },
    async subtitles(index) {
      const { child, process } = start(subtitleArguments(container, path, STDOUT, index));
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
