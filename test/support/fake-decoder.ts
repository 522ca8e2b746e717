import { ServiceError } from "../../src/core/errors.ts";
import type {
  AudioDecoder,
  Pcm,
  Recording,
  Segment,
  SoundTrack,
} from "../../src/core/documents/audio-decoder.ts";
import { join, pieces, silence, tone } from "./pcm.ts";
import type { FakeFileStore } from "./document-world.ts";

/** What a recording holds: sounds with quiet between them, by their times. */
export interface FakeRecording {
  readonly kind?: "audio" | "video";
  readonly title?: string;
  /** One, if absent. Each ends with a second more of quiet than the one before. */
  readonly soundTracks?: readonly SoundTrack[];
  readonly claimedMs?: number;
  /** In seconds: of sound, of the quiet after it, and so on. */
  readonly sounds: readonly number[];
  readonly lines?: readonly Segment[];
  readonly trackLanguage?: string;
}

const MARK = "RECORDING ";
const SOUND_S_PIECE = 0.25;

/** The bytes of a recording, as text. */
export function recordingText(recording: FakeRecording): string {
  return MARK + JSON.stringify(recording);
}

/** A decoder for what `recordingText` makes. */
export function createFakeDecoder(
  files: Pick<FakeFileStore, "contents">,
): Pick<AudioDecoder, "recognises" | "open"> {
  const textOf = (path: string) => Buffer.from(files.contents.get(path) ?? []).toString();
  return {
    recognises: async ({ bytes }) => textOf(bytes.path).startsWith(MARK),
    async open({ bytes }, { signal } = {}): Promise<Recording> {
      signal?.throwIfAborted();
      const text = textOf(bytes.path).slice(MARK.length);
      if (!text.startsWith("{")) throw new ServiceError("UNPROCESSABLE", "The recording is damaged.");
      const made = JSON.parse(text) as FakeRecording;
      const sound = join(
        ...made.sounds.map((seconds, i) => (i % 2 === 0 ? tone(seconds) : silence(seconds))),
      );
      let isOpen = true;
      async function* whileOpen(pcm: Pcm): Pcm {
        for await (const piece of pcm) {
          if (!isOpen) throw new ServiceError("NOT_READY", "The recording is closed.");
          yield piece;
        }
      }
      return {
        kind: made.kind ?? "audio",
        mediaType: made.kind === "video" ? "video/mp4" : "audio/wav",
        decoder: "fake",
        soundTracks: made.soundTracks ?? [{ index: 0, isDefault: true }],
        durationMs: made.claimedMs ?? Math.round(sound.length / 16),
        ...(made.title !== undefined && { title: made.title }),
        subtitles:
          made.lines === undefined
            ? []
            : [{ index: 0, ...(made.trackLanguage !== undefined && { language: made.trackLanguage }) }],
        sound: ({ index }) => whileOpen(pieces(join(sound, silence(index)), SOUND_S_PIECE * 16_000)),
        readSubtitles: async () => webVtt(made.lines ?? []),
        [Symbol.asyncDispose]: async () => {
          isOpen = false;
        },
      };
    },
  };
}

function webVtt(lines: readonly Segment[]): Uint8Array {
  const time = (ms: number) => new Date(ms).toISOString().slice(11, -1);
  const cues = lines.map(({ startMs, endMs, text }) => `${time(startMs)} --> ${time(endMs)}\n${text}\n`);
  return Buffer.from(["WEBVTT\n", ...cues].join("\n"));
}
