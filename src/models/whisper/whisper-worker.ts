/**
 * The process that transcribes. A run of the model blocks it for seconds, so it is never asked to stop but ended. It is
 * talked to by `transcribeInProcess` alone.
 */
import { ServiceError } from "../../core/errors.ts";
import { lowerPriority } from "../../sandbox/watchdog.ts";
import { Watchdog } from "../../sandbox/watchdog.ts";
import { transcribeRecording, type Whisper } from "./transcribe-recording.ts";
import { codeOf, tagOf } from "./languages.ts";
import { PcmReader } from "./pcm-frames.ts";
import type { FromWhisper, ToWhisper } from "./whisper-messages.ts";
import { loadWhisper } from "./whisper-model.ts";

const reader = new PcmReader(process.stdin);
let loading: Promise<Whisper> | undefined;

// Here, and not by the one who starts it: the model's threads take it over from this one.
lowerPriority();
process.on("disconnect", () => process.exit());
process.on("message", (message: ToWhisper) => {
  if (message.type === "load") {
    loading = load(message);
    loading.catch(() => undefined);
  } else if (loading === undefined) throw new TypeError("no model was named");
  else void transcribe(loading, message.language);
});

async function load({ model, limits }: Extract<ToWhisper, { type: "load" }>): Promise<Whisper> {
  const watchdog = new Watchdog(limits);
  watchdog.begin();
  try {
    const whisper = await loadWhisper(model);
    return {
      vocabulary: whisper.vocabulary,
      encode(sound) {
        // Each window has its time: a recording may be of any length.
        watchdog.begin();
        return whisper.encode(sound);
      },
    };
  } finally {
    watchdog.end();
  }
}

async function transcribe(whisper: Promise<Whisper>, given: string | undefined): Promise<void> {
  try {
    const loaded = await whisper;
    let language = given === undefined ? undefined : codeOf(given, loaded.vocabulary);
    send({ type: "ready" });
    let durationMs = 0;
    let hasSpeech = false;
    for await (const part of transcribeRecording(loaded, reader.recording(), language)) {
      const { segments, transcribedMs } = part;
      send({ type: "segments", segments, transcribedMs });
      language = part.language;
      durationMs = transcribedMs;
      hasSpeech ||= segments.length > 0;
    }
    if (!hasSpeech || language === undefined) throw noSpeech();
    send({ type: "done", language: tagOf(language), durationMs });
  } catch (error) {
    send({ type: "failed", ...failureOf(error) });
  }
}

function noSpeech(): ServiceError {
  return new ServiceError(
    "UNPROCESSABLE",
    "There is no speech in the recording: send one in which somebody speaks.",
  );
}

function failureOf(error: unknown): Pick<ServiceError, "code" | "message"> {
  if (error instanceof ServiceError) return { code: error.code, message: error.message };
  const reason = error instanceof Error ? error.message : String(error);
  return { code: "MODEL_UNAVAILABLE", message: `The speech model failed at the recording: ${reason}.` };
}

function send(message: FromWhisper): void {
  process.send?.(message);
}
