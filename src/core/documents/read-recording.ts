import type { Recording, RecordingInput, SoundTrack, SubtitleTrack } from "./audio-decoder.ts";
import { cutDocument } from "./cut-speech.ts";
import type { DocumentPorts, JobControl } from "./document-ports.ts";
import { invalidRequest, ServiceError, unprocessable } from "../errors.ts";
import type { CutDocument, ExtractionOptions } from "./extraction.ts";
import type { JsonValue, Metadata } from "../memory.ts";

const MS_PER_SECOND = 1_000;

type RecordingControl = Pick<JobControl, "signal" | "onProgress"> & Pick<ExtractionOptions, "user">;

/**
 * A recording as a document: transcribed, or read from its subtitles where the writer prefers them
 * (`metadata.prefer_subtitles`) and it has some. `metadata.language` is the spoken language, detected if absent; it also
 * chooses among several tracks.
 * @throws {ServiceError} UNPROCESSABLE: no sound, or no speech in it; INVALID_REQUEST: `metadata.language` is not text; errors of
 *   decoding, transcribing and reading subtitles; the signal's reason.
 */
export async function readRecording(
  ports: Pick<DocumentPorts, "decoder" | "transcriber" | "extractor">,
  input: RecordingInput,
  metadata: Metadata,
  control: RecordingControl,
): Promise<CutDocument> {
  const language = languageIn(metadata);
  await using recording = await ports.decoder.open(input, { signal: control.signal });
  if (isWished(metadata["prefer_subtitles"])) {
    const written = await readSubtitles(ports, recording, language, control);
    if (written !== undefined) return written;
  }
  // `await` keeps the recording open until the end.
  return await transcribe(ports, recording, language, control);
}

/** Undefined where there is no track to read, or no line in it. */
async function readSubtitles(
  { extractor }: Pick<DocumentPorts, "extractor">,
  recording: Recording,
  language: string | undefined,
  control: RecordingControl,
): Promise<CutDocument | undefined> {
  const track = chooseSubtitles(recording.subtitles, language);
  if (track === undefined) return undefined;
  const bytes = await recording.readSubtitles(track);
  try {
    const written = await extractor.extract({ bytes, claimedType: "vtt" }, control);
    const spoken = track.language ?? language;
    const { durationMs = written.durationMs } = recording;
    return {
      ...accountOf(recording, "subtitles"),
      ...(spoken !== undefined && { language: spoken }),
      ...(durationMs !== undefined && { durationMs }),
      charCount: written.charCount,
      chunks: written.chunks,
      ...(written.digest !== undefined && { digest: written.digest }),
    };
  } catch (error) {
    if (error instanceof ServiceError && error.code === "UNPROCESSABLE") return undefined;
    throw error;
  }
}

async function transcribe(
  { transcriber }: Pick<DocumentPorts, "transcriber">,
  recording: Recording,
  language: string | undefined,
  { signal, onProgress }: Pick<JobControl, "signal" | "onProgress">,
): Promise<CutDocument> {
  const { soundTracks } = recording;
  const track = chooseSoundTrack(soundTracks, language);
  if (track === undefined)
    throw unprocessable("The video has no sound track, so there is nothing to transcribe.");
  const total = seconds(recording.durationMs ?? 0);
  onProgress({ stage: "transcribing", done: 0, total });
  const transcript = await transcriber.transcribe(recording.sound(track), {
    signal,
    ...(language !== undefined && { language }),
    onProgress: (transcribedMs) => {
      const done = seconds(transcribedMs);
      // The claimed length may be wrong.
      onProgress({ stage: "transcribing", done, total: total === 0 ? 0 : Math.max(done, total) });
    },
  });
  const { segments, durationMs } = transcript;
  return cutDocument({
    ...accountOf(recording, "whisper"),
    language: transcript.language,
    durationMs,
    ...(soundTracks.length > 1 && { soundTrack: { number: track.index + 1, count: soundTracks.length } }),
    charCount: segments.reduce((sum, { text }) => sum + text.length, 0),
    blocks: segments.map(({ text, startMs, endMs }) => ({ type: "paragraph", text, startMs, endMs })),
  });
}

const accountOf = ({ kind, mediaType, decoder, title, author }: Recording, way: "whisper" | "subtitles") => ({
  kind,
  mediaType,
  method: `${decoder} + ${way}`,
  ...(title !== undefined && { title }),
  ...(author !== undefined && { author }),
});

function languageIn({ language }: Metadata): string | undefined {
  if (language === undefined || language === null || language === "") return undefined;
  if (typeof language === "string") return language;
  throw invalidRequest(
    'The field metadata.language must be text, such as "en": the language that is spoken.',
  );
}

/** A form sends "true" as text. */
const isWished = (value: JsonValue | undefined): boolean => value === true || value === "true";

const seconds = (ms: number): number => Math.round(ms / MS_PER_SECOND);

const ENGLISH_NAMES = new Intl.DisplayNames(["en"], { type: "language" });

/** The default track, else the first, of those in the wanted language, or of all; undefined without tracks. */
export function chooseSoundTrack(
  tracks: readonly SoundTrack[],
  language: string | undefined,
): SoundTrack | undefined {
  const inLanguage = tracks.filter((track) => isIn(track, language));
  const candidates = inLanguage.length > 0 ? inLanguage : tracks;
  return candidates.find(({ isDefault }) => isDefault) ?? candidates[0];
}

/** The subtitles in the wanted language, else of unknown language; the first if no language is wanted. */
export function chooseSubtitles(
  tracks: readonly SubtitleTrack[],
  language: string | undefined,
): SubtitleTrack | undefined {
  if (language === undefined) return tracks[0];
  return (
    tracks.find((track) => isIn(track, language)) ?? tracks.find((track) => track.language === undefined)
  );
}

/** Compares the primary parts of two tags, or the English name of the language. */
function isIn(track: { readonly language?: string }, language: string | undefined): boolean {
  if (track.language === undefined || language === undefined) return false;
  const spoken = primaryTag(track.language);
  return (
    spoken === primaryTag(language) || englishName(spoken)?.toLowerCase() === language.trim().toLowerCase()
  );
}

/** Containers write "ger" or "deu" for "de". */
function primaryTag(language: string): string {
  const tag = language.trim();
  try {
    return Intl.getCanonicalLocales(tag)[0]?.split("-")[0] ?? "";
  } catch {
    return tag.toLowerCase().split(/[-_]/)[0] ?? "";
  }
}

/** The language's English name; undefined for an invalid BCP 47 tag. */
export function englishName(tag: string): string | undefined {
  try {
    return ENGLISH_NAMES.of(tag);
  } catch {
    return undefined;
  }
}
