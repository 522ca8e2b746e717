/**
 * What the daemon and the process that transcribes say to each other. The sound itself goes through the process's
 * standard input (see `pcm-frames.ts`), which takes no more than is read from it.
 */
import type { ErrorCode } from "../../core/errors.ts";
import type { Segment } from "../../core/documents/transcription.ts";
import type { WorkLimits } from "../../sandbox/watchdog.ts";
import type { WhisperOptions } from "./whisper-model.ts";

export type ToWhisper =
  /** First of all. */
  | { readonly type: "load"; readonly model: WhisperOptions; readonly limits: WorkLimits }
  /** A recording begins; the one before must have ended. Its sound follows once it is `ready`. */
  | { readonly type: "transcribe"; readonly language: string | undefined };

export type FromWhisper =
  | { readonly type: "ready" }
  | { readonly type: "segments"; readonly segments: readonly Segment[]; readonly transcribedMs: number }
  | { readonly type: "done"; readonly language: string; readonly durationMs: number }
  | { readonly type: "failed"; readonly code: ErrorCode; readonly message: string };
