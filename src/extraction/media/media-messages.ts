import type { WorkLimits } from "../../sandbox/watchdog.ts";
import type { Container } from "./container.ts";
import type { MediaReport } from "./media-report.ts";

/** The ways to decode without a program of the system, in a process each. */
export type EngineName = "wav" | "libav" | "ffmpeg-wasm";

/** First `open`; then at most one `sound`, and any number of `subtitles` before it. */
export type ToEngine =
  | {
      readonly type: "open";
      readonly engine: EngineName;
      readonly container: Container;
      readonly limits: WorkLimits;
    }
  | { readonly type: "subtitles"; readonly index: number }
  | { readonly type: "sound"; readonly index: number; readonly maxSeconds: number };

export type FromEngine =
  | { readonly type: "ready" }
  /** Undefined where this engine cannot read it and another may. */
  | { readonly type: "opened"; readonly report: MediaReport | undefined }
  /** As WebVTT. */
  | { readonly type: "subtitles"; readonly bytes: Uint8Array }
  /** All of it was written to standard output. */
  | { readonly type: "sound" }
  /** It broke down at this file. */
  | { readonly type: "failed" };
