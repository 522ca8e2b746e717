import type { Container } from "./container.ts";

/** Of FFmpeg's readers, the one for each: another would be playlists, which name files and addresses. */
const DEMUXERS: Readonly<Record<Container, string>> = {
  wav: "wav",
  mp3: "mp3",
  aac: "aac",
  flac: "flac",
  ogg: "ogg",
  mp4: "mov",
  matroska: "matroska",
};

/** What may be decoded: sound and subtitles as text. Pictures, the larger part of FFmpeg and of its bugs, never are. */
const DECODERS = [
  "aac,aac_fixed,aac_latm,alac,flac,mp1,mp1float,mp2,mp2float,mp3,mp3float,opus,libopus,vorbis,libvorbis,speex,libspeex",
  "ac3,ac3_fixed,eac3,dca,amrnb,amrwb,wmav2,adpcm_ms,adpcm_ima_wav,adpcm_ima_qt,gsm_ms,aac_at,mp3_at,alac_at,ac3_at",
  "pcm_u8,pcm_s8,pcm_s16le,pcm_s16be,pcm_s24le,pcm_s24be,pcm_s32le,pcm_s32be,pcm_f32le,pcm_f32be,pcm_f64le,pcm_f64be",
  "pcm_alaw,pcm_mulaw",
  "mov_text,subrip,srt,webvtt,ass,ssa,text",
].join(",");

/** Largest single piece of memory: a header may ask for any. */
const MAX_ALLOCATION_BYTES = 128 * 1_024 * 1_024;
/** A film in many languages has some dozens; each may have tables of its own. */
const MAX_STREAMS = 64;

const QUIET = ["-nostdin", "-hide_banner", "-v"];

/** Prints what is in a file to standard error; see `readReport`. It ends with code 1, for nothing is made. */
export function reportArguments(container: Container, input: string): string[] {
  return [...QUIET, "info", ...inputArguments(container, input)];
}

/** A sound track as 16 kHz mono, signed 16-bit, to `output`; what is behind `maxSeconds` is left. */
export function soundArguments(
  container: Container,
  input: string,
  output: string,
  index: number,
  maxSeconds: number,
): string[] {
  const only = ["-vn", "-sn", "-dn"];
  const form = ["-map", `0:a:${index}`, "-t", String(maxSeconds), "-ac", "1", "-ar", "16000", "-f", "s16le"];
  return [...QUIET, "warning", ...only, ...inputArguments(container, input), ...form, "-y", output];
}

/** A track of subtitles as WebVTT to `output`. */
export function subtitleArguments(
  container: Container,
  input: string,
  output: string,
  index: number,
): string[] {
  const only = ["-vn", "-an", "-dn"];
  const form = ["-map", `0:s:${index}`, "-f", "webvtt"];
  return [...QUIET, "warning", ...only, ...inputArguments(container, input), ...form, "-y", output];
}

/** The name of the protocol before that of the file: none can be taken for an option, or for another protocol. */
function inputArguments(container: Container, input: string): string[] {
  const bounds = [
    "-max_alloc",
    String(MAX_ALLOCATION_BYTES),
    "-max_streams",
    String(MAX_STREAMS),
    "-threads",
    "1",
  ];
  const allowed = ["-protocol_whitelist", "file,pipe", "-codec_whitelist", DECODERS];
  return [...allowed, ...bounds, "-f", DEMUXERS[container], "-i", `file:${input}`];
}
