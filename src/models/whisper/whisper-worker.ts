/** The process that transcribes. A run of the model blocks it for seconds, so it is killed, not asked to stop. */
import { ServiceError, unprocessable } from "../../core/errors.ts";
import { lowerPriority, Watchdog } from "../../sandbox/watchdog.ts";
import { transcribeRecording, type Whisper } from "./transcribe-recording.ts";
import { codeOf, tagOf } from "./vocabulary.ts";
import { loadWhisper } from "./whisper-model.ts";
import type { FromWhisper, ToWhisper } from "./whisper-transcriber.ts";

let loading: Promise<Whisper> | undefined;
/** Takes the piece of sound that was asked for. */
let receive: (samples: Int16Array | null) => void = () => undefined;

// Before the model is loaded: its threads inherit the priority of this one.
lowerPriority();
process.on("disconnect", () => process.exit());
process.on("message", (message: ToWhisper) => {
  if (message.type === "load") {
    loading = load(message);
    loading.catch(() => undefined);
  } else if (message.type === "sound") receive(message.samples);
  else if (loading === undefined) throw new TypeError("no model was named");
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

async function* soundOfRecording(): AsyncGenerator<Int16Array> {
  for (;;) {
    const next = new Promise<Int16Array | null>((resolve) => (receive = resolve));
    send({ type: "more" });
    const samples = await next;
    if (samples === null) return;
    yield samples;
  }
}

async function transcribe(whisper: Promise<Whisper>, given: string | undefined): Promise<void> {
  try {
    const loaded = await whisper;
    let language = given === undefined ? undefined : codeOf(given, loaded.vocabulary);
    let durationMs = 0;
    let hasSpeech = false;
    for await (const part of transcribeRecording(loaded, soundOfRecording(), language)) {
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

const noSpeech = (): ServiceError =>
  unprocessable("There is no speech in the recording. Send one with speech.");

function failureOf(error: unknown): Pick<ServiceError, "code" | "message"> {
  if (error instanceof ServiceError) return { code: error.code, message: error.message };
  const reason = error instanceof Error ? error.message : String(error);
  return { code: "MODEL_UNAVAILABLE", message: `The speech model failed on the recording: ${reason}.` };
}

function send(message: FromWhisper): void {
  process.send?.(message);
}
