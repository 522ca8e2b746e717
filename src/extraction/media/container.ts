import { cleanField, cleanLanguage } from "../formats/clean-text.ts";
import type { Recording, SoundTrack, SubtitleTrack } from "../../core/documents/audio-decoder.ts";

/** The file formats of recordings, recognised by their first bytes. */

export type Container = "wav" | "mp3" | "aac" | "flac" | "ogg" | "mp4" | "matroska";

export interface FoundContainer {
  readonly container: Container;
  /** For sound alone, and with pictures. */
  readonly mediaTypes: { readonly audio: string; readonly video: string };
  /** Offset in the file at which the sound ends, by the head of a WAV; undefined where it does not say. */
  readonly soundEnd?: number | undefined;
}

/** The most that `containerOf` looks at. */
export const HEAD_BYTES = 65_536;

export const CONTAINER_LABELS: Readonly<Record<Container, string>> = {
  wav: "a WAV file",
  mp3: "an MP3 file",
  aac: "an AAC stream",
  flac: "a FLAC file",
  ogg: "an Ogg file",
  mp4: "an MP4 file",
  matroska: "a Matroska or WebM file",
};

/** Their extensions and media types. `undefined` stands for any container. */
export const CONTAINER_NAMES: ReadonlyMap<string, Container | undefined> = new Map([
  ...names("wav", "wav wave audio/wav audio/wave audio/x-wav audio/vnd.wave audio/x-pn-wav"),
  ...names("mp3", "mp3 audio/mpeg audio/mp3 audio/x-mp3 audio/mpeg3 audio/x-mpeg"),
  ...names("aac", "aac audio/aac audio/x-aac audio/aacp"),
  ...names("flac", "flac audio/flac audio/x-flac"),
  ...names("ogg", "ogg oga ogv opus audio/ogg video/ogg application/ogg audio/opus audio/vorbis"),
  ...names(
    "mp4",
    "mp4 m4a m4b m4v mov 3gp audio/mp4 video/mp4 audio/x-m4a audio/m4a video/x-m4v video/quicktime video/3gpp audio/3gpp",
  ),
  ...names(
    "matroska",
    "webm mkv mka audio/webm video/webm video/x-matroska audio/x-matroska video/matroska audio/matroska",
  ),
  ...names(undefined, "audio video"),
]);

function names(container: Container | undefined, list: string) {
  return list.split(" ").map((name) => [name, container] as const);
}

/** Brands of files that begin as MP4 does and are pictures. */
const PICTURE_BRANDS = new Set("heic heix heim heis hevc hevx mif1 msf1 avif avis".split(" "));
/** First atoms of QuickTime files from before `ftyp`. */
const QUICKTIME_ATOMS = new Set(["moov", "mdat", "wide", "free", "skip", "pnot"]);
const QUICKTIME_BRAND = "qt  ";
/** Length of an ID3v2 head, whose last 4 bytes hold the size of the tag in 28 bits. */
const ID3_HEAD = 10;
/** Layer 3 of MPEG 1, 2 or 2.5, with a bit rate (ISO/IEC 11172-3, 2.4.1.3). */
// oxlint-disable-next-line no-control-regex
const MP3_FRAME = /^\xff[\xe2\xe3\xf2\xf3\xfa\xfb][\x10-\xef]/;
/** ISO/IEC 13818-7, 6.2. */
const ADTS_FRAME = /^\xff[\xf0\xf1\xf8\xf9]/;
/** Some encoders begin with up to this many zeros. */
const MAX_PADDING = 4_096;

/** The container of a file by its first bytes; undefined for any other format. */
export function containerOf(head: Uint8Array): FoundContainer | undefined {
  const text = Buffer.from(head.buffer, head.byteOffset, head.length).toString("latin1");
  if (/^(?:RIFF|RF64)....WAVE/s.test(text))
    return { ...found("wav", "audio/wav"), soundEnd: wavSoundEnd(head) };
  if (text.startsWith("fLaC")) return found("flac", "audio/flac");
  if (text.startsWith("OggS")) return found("ogg", "audio/ogg", "video/ogg");
  if (text.startsWith("\x1aE\xdf\xa3")) return matroska(text);
  const atom = text.slice(4, 8);
  const brand = text.slice(8, 12);
  if (atom === "ftyp" && !PICTURE_BRANDS.has(brand))
    return found("mp4", "audio/mp4", brand === QUICKTIME_BRAND ? "video/quicktime" : "video/mp4");
  if (QUICKTIME_ATOMS.has(atom) && text.startsWith("\0")) return found("mp4", "audio/mp4", "video/quicktime");
  return streamOf(head, text);
}

const RIFF_HEAD = 12;
const CHUNK_HEAD = 8;
/** Programs that write to a pipe state 0, 0x7ffff000, 0x7fffff00 or 0xffffffff. */
const LEAST_UNKNOWN_BYTES = 0x7fff_f000;

function wavSoundEnd(head: Uint8Array): number | undefined {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.length);
  for (let at = RIFF_HEAD; at + CHUNK_HEAD <= bytes.length;) {
    const [name, length] = [bytes.toString("latin1", at, at + 4), bytes.readUInt32LE(at + 4)];
    at += CHUNK_HEAD + length;
    if (name === "data") return length === 0 || length >= LEAST_UNKNOWN_BYTES ? undefined : at;
    at += length % 2;
  }
  return undefined;
}

function matroska(text: string): FoundContainer | undefined {
  const type = /B\x82[\x81-\x8f](webm|matroska)/.exec(text.slice(0, MAX_PADDING))?.[1];
  if (type === "webm") return found("matroska", "audio/webm", "video/webm");
  return type === undefined ? undefined : found("matroska", "audio/x-matroska", "video/x-matroska");
}

/** Frames without a container, perhaps behind a tag. */
function streamOf(head: Uint8Array, text: string): FoundContainer | undefined {
  const size = head.subarray(ID3_HEAD - 4, ID3_HEAD).reduce((sum, byte) => sum * 128 + (byte & 0x7f), 0);
  const tag = text.startsWith("ID3") ? ID3_HEAD + size : 0;
  // The tag may hold a picture and end beyond `head`; nearly all tags are of MP3 files.
  if (tag > 0 && tag + MAX_PADDING >= head.length) return found("mp3", "audio/mpeg");
  let at = tag;
  while (at < tag + MAX_PADDING && head[at] === 0) at += 1;
  if (text.startsWith("fLaC", at)) return found("flac", "audio/flac");
  const start = text.slice(at, at + 3);
  if (MP3_FRAME.test(start)) return found("mp3", "audio/mpeg");
  if (ADTS_FRAME.test(start)) return found("aac", "audio/aac");
  return tag > 0 ? found("mp3", "audio/mpeg") : undefined;
}

function found(container: Container, audio: string, video = audio): FoundContainer {
  return { container, mediaTypes: { audio, video } };
}

/** Properties stated in a file's header. */
export interface MediaReport extends Pick<
  Recording,
  "soundTracks" | "subtitles" | "durationMs" | "title" | "author"
> {
  /** A cover picture is no video. */
  readonly hasVideo: boolean;
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
