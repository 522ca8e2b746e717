import type { ChildProcess } from "node:child_process";
import type { DecodingLimits } from "../../core/documents/audio-decoder.ts";
import { ServiceError } from "../../core/errors.ts";
import { forkSandboxed } from "../../sandbox/fork-sandboxed.ts";
import { passedLimit } from "../../sandbox/watchdog.ts";
import { openOriginal } from "../open-original.ts";
import type { Container } from "./container.ts";
import { damaged, DecodingChild } from "./decoding-child.ts";
import type { EngineName, FromEngine, ToEngine } from "./media-messages.ts";
import type { MediaReport } from "./media-report.ts";
import type { OpenedMedia } from "./opened-media.ts";

/** JavaScript objects are few; the decoders have memory of their own. */
const HEAP_BYTES = 256 * 1_024 * 1_024;
const MAX_RESIDENT_BYTES = 1_000_000_000;
/** Decoding that takes as long as listening would is a loop. */
const WORK_A_SECOND_MS = 1_000;
const PACKAGES = ["@libav.js/variant-obsolete", "@ffmpeg/core"];

export interface EngineOptions {
  /** The built worker. */
  readonly workerFile: string;
  readonly container: Container;
  readonly path: string;
  readonly limits: DecodingLimits;
  readonly signal: AbortSignal;
}

/**
 * Opens a recording in a process of its own, without rights and within limits.
 *
 * @returns undefined where this engine cannot read it.
 * @throws {ServiceError} UNPROCESSABLE where it breaks down at it; TOO_LARGE; the signal's reason.
 * @throws {Error} if the built worker is missing; only when sources run without a build.
 */
export async function openInEngine(
  engine: EngineName,
  { workerFile, container, path, limits, signal }: EngineOptions,
): Promise<OpenedMedia | undefined> {
  const { process, child, ready } = await forkWithFile({ workerFile, path, limits, signal });
  const next = () => nextMessage(process);
  const ask = (message: ToEngine): Promise<FromEngine> => {
    const answer = next();
    process.send(message, () => undefined);
    return answer;
  };
  const answerTo = async (message: ToEngine): Promise<FromEngine> => {
    const gone = child.ended.then(() => undefined);
    const answer = await child.within(Promise.race([ask(message), gone]));
    if (answer !== undefined && answer.type !== "failed") return answer;
    child.throwIfKilled();
    const ranOut = passedLimit(child.printed) !== undefined;
    child.kill(undefined);
    if (ranOut)
      throw new ServiceError(
        "TOO_LARGE",
        "Decoding the recording takes more memory or time than there is for it. Send it in parts, or as WAV.",
      );
    throw damaged();
  };

  let report: MediaReport | undefined;
  try {
    const gone = child.ended.then(() => undefined);
    if ((await child.within(Promise.race([ready, gone]))) === undefined) {
      child.throwIfKilled();
      const cause = child.failure ?? new Error(child.printed.trim());
      throw new ServiceError("INTERNAL", "The process that decodes recordings does not start.", { cause });
    }
    const { maxSeconds, maxWorkingMs } = limits;
    const opened = await answerTo({
      type: "open",
      engine,
      container,
      limits: {
        maxWorkingMs: maxWorkingMs + maxSeconds * WORK_A_SECOND_MS,
        maxResidentBytes: MAX_RESIDENT_BYTES,
      },
    });
    if (opened.type === "opened") ({ report } = opened);
  } finally {
    if (report === undefined) child.kill(undefined);
  }
  if (report === undefined) return undefined;
  const found = report;
  return {
    decoder: engine,
    report: found,
    async *sound(index) {
      void ask({ type: "sound", index, maxSeconds: limits.maxSeconds + 1 }).then((answer) => {
        if (answer.type === "failed") child.kill(damaged());
      });
      yield* child.sound(container, found);
    },
    async subtitles(index) {
      const answer = await answerTo({ type: "subtitles", index });
      return answer.type === "subtitles" ? answer.bytes : new Uint8Array();
    },
    async close() {
      child.kill(new ServiceError("NOT_READY", "The recording is closed."));
      await child.ended;
    },
  };
}

/** The file is its standard input: it may open none itself. */
async function forkWithFile({ workerFile, path, limits, signal }: Omit<EngineOptions, "container">) {
  const input = await openOriginal(path);
  try {
    const sandbox = { worker: workerFile, heapBytes: HEAP_BYTES, packages: PACKAGES };
    const process = forkSandboxed(sandbox, { stdio: [input.fd, "pipe", "pipe", "ipc"] });
    // Before anything is waited for: that it cannot be started is told at once, and would end the program if nobody heard.
    return { process, child: new DecodingChild(process, { limits, signal }), ready: nextMessage(process) };
  } finally {
    await input.close();
  }
}

function nextMessage(process: ChildProcess): Promise<FromEngine> {
  return new Promise((resolve) => process.once("message", resolve));
}
