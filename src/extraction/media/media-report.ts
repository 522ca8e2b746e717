import { cleanField, cleanLanguage } from "../clean-text.ts";
import type { Pcm, Recording, SoundTrack, SubtitleTrack } from "../../core/documents/audio-decoder.ts";

/** Properties stated in a file's header. */
export interface MediaReport {
  readonly soundTracks: readonly SoundTrack[];
  /** A cover picture is no video. */
  readonly hasVideo: boolean;
  readonly durationMs?: number;
  readonly title?: string;
  readonly author?: string;
  readonly subtitles: readonly SubtitleTrack[];
}

/** Subtitles that are text; all other formats are pictures. */
const TEXT_SUBTITLES = new Set(["mov_text", "subrip", "srt", "webvtt", "ass", "ssa", "text"]);

const STREAM =
  /^ {2}Stream #0:\d{1,4}(?:\[0x[0-9a-f]{1,8}\])?(?:\(([^()]{1,100})\))?: (Audio|Video|Subtitle): (\w+)(.*)$/;
const DURATION = /^ {2}Duration: (\d{1,9}):(\d\d):(\d\d)\.(\d\d),/;
/** A value of several lines goes on in lines without a name. */
const TAG = /^ {4}(title|artist|author)\s{0,30}: (.*)$/i;

/**
 * Reads what `ffmpeg -i` prints of its input; undefined where it could not open it.
 *
 * The values are the file's and may hold anything, but FFmpeg indents each of their lines more than the lines read here.
 */
export function readReport(printed: string): MediaReport | undefined {
  const lines = printed.split(/\r?\n/);
  const start = lines.findIndex((line) => line.startsWith("Input #0, "));
  if (start < 0) return undefined;
  let durationMs: number | undefined;
  let hasVideo = false;
  let isInHead = true;
  let texts = 0;
  const tags = new Map<string, string>();
  const soundTracks: SoundTrack[] = [];
  const subtitles: SubtitleTrack[] = [];
  for (const line of lines.slice(start)) {
    const [, hours, minutes, seconds, hundredths] = DURATION.exec(line) ?? [];
    if (hours !== undefined) {
      const whole = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
      durationMs = whole * 1_000 + Number(hundredths) * 10;
    }
    const [, tag = "", value] = (isInHead ? TAG.exec(line) : null) ?? [];
    if (value !== undefined) tags.set(tag.toLowerCase(), value);
    const [, spoken, type, codec = "", rest = ""] = STREAM.exec(line) ?? [];
    if (type === undefined) continue;
    isInHead = false;
    const known = cleanLanguage(spoken);
    const language = known !== undefined && { language: known };
    if (type === "Audio")
      soundTracks.push({ index: soundTracks.length, ...language, isDefault: rest.includes("(default)") });
    else if (type === "Video") hasVideo ||= !rest.includes("(attached pic)");
    else {
      if (TEXT_SUBTITLES.has(codec)) subtitles.push({ index: texts, ...language });
      texts += 1;
    }
  }
  const title = cleanField(tags.get("title"));
  const author = cleanField(tags.get("artist") ?? tags.get("author"));
  return {
    soundTracks,
    hasVideo,
    ...(durationMs !== undefined && durationMs > 0 && { durationMs }),
    ...(title !== undefined && { title }),
    ...(author !== undefined && { author }),
    subtitles,
  };
}

/** A recording that one of the decoders has opened. */
export interface OpenedMedia {
  readonly decoder: Recording["decoder"];
  readonly report: MediaReport;
  /** Same as `Recording.sound`. */
  sound(index: number): Pcm;
  /** A track as WebVTT. */
  subtitles(index: number): Promise<Uint8Array>;
  close(): Promise<void>;
}
