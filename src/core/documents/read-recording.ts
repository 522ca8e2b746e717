import type { Recording, RecordingInput, SubtitleTrack } from "./audio-decoder.ts";
import type { DocumentPorts, JobControl } from "./document-ports.ts";
import { ServiceError } from "../errors.ts";
import type { ExtractedDocument } from "./extraction.ts";
import type { JsonValue, Metadata } from "../memory.ts";
import type { Segment } from "./transcription.ts";

const MS_A_SECOND = 1_000;

/**
 * What is said in a recording, as a document: heard, or read from its subtitles where the writer prefers them
 * (`metadata.prefer_subtitles`) and it has some. `metadata.language` is what is spoken; heard if absent.
 *
 * @throws {ServiceError} UNPROCESSABLE: no sound, or no speech in it; INVALID_REQUEST: a language that is no text; what
 *   decoding and transcribing throw; the signal's reason.
 */
export async function readRecording(
  { decoder, transcriber }: Pick<DocumentPorts, "decoder" | "transcriber">,
  input: RecordingInput,
  metadata: Metadata,
  { signal, onProgress }: Pick<JobControl, "signal" | "onProgress">,
): Promise<ExtractedDocument> {
  const language = languageIn(metadata);
  await using recording = await decoder.open(input, { signal });
  if (isWished(metadata["prefer_subtitles"])) {
    const track = trackFor(recording.subtitles, language);
    const lines = track === undefined ? [] : await recording.readSubtitles(track);
    const spoken = track?.language ?? language;
    if (lines.length > 0) return asDocument(recording, "subtitles", { segments: lines, language: spoken });
  }
  if (!recording.hasSound) {
    throw new ServiceError(
      "UNPROCESSABLE",
      "The video has no sound track, so there is nothing to transcribe.",
    );
  }
  const total = seconds(recording.durationMs ?? 0);
  onProgress({ stage: "transcribing", done: 0, total });
  const transcript = await transcriber.transcribe(recording.sound(), {
    signal,
    ...(language !== undefined && { language }),
    onProgress: (heardMs) => {
      const done = seconds(heardMs);
      // What it says of its length may be wrong.
      onProgress({ stage: "transcribing", done, total: total === 0 ? 0 : Math.max(done, total) });
    },
  });
  if (transcript.segments.length === 0) {
    throw new ServiceError("UNPROCESSABLE", "There is no speech in the recording.");
  }
  return asDocument(recording, "whisper", transcript);
}

function asDocument(
  recording: Recording,
  way: "whisper" | "subtitles",
  {
    segments,
    language,
    durationMs = recording.durationMs ?? segments.at(-1)?.endMs,
  }: {
    readonly segments: readonly Segment[];
    readonly language: string | undefined;
    readonly durationMs?: number | undefined;
  },
): ExtractedDocument {
  const { kind, mediaType, decoder, title, author } = recording;
  return {
    kind,
    mediaType,
    method: `${decoder} + ${way}`,
    ...(title !== undefined && { title }),
    ...(author !== undefined && { author }),
    ...(language !== undefined && { language }),
    ...(durationMs !== undefined && { durationMs }),
    charCount: segments.reduce((sum, { text }) => sum + text.length, 0),
    blocks: segments.map(({ text, startMs, endMs }) => ({ type: "paragraph", text, startMs, endMs })),
  };
}

/** In the language that was asked for, else the first; of unknown language before one of another. */
function trackFor(tracks: readonly SubtitleTrack[], language: string | undefined): SubtitleTrack | undefined {
  if (language === undefined) return tracks[0];
  const primary = primaryTag(language);
  return (
    tracks.find((track) => primaryTag(track.language ?? "") === primary) ??
    tracks.find((track) => track.language === undefined)
  );
}

function primaryTag(language: string): string {
  return language.toLowerCase().split("-")[0] ?? "";
}

function languageIn({ language }: Metadata): string | undefined {
  if (language === undefined || language === null || language === "") return undefined;
  if (typeof language === "string") return language;
  throw new ServiceError(
    "INVALID_REQUEST",
    'The field metadata.language must be text, such as "en": the language that is spoken.',
  );
}

/** Forms send text. */
function isWished(value: JsonValue | undefined): boolean {
  return value === true || value === "true";
}

function seconds(ms: number): number {
  return Math.round(ms / MS_A_SECOND);
}
