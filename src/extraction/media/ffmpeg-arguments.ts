import type { Container } from "./container.ts";

/** One of FFmpeg's readers per container: others would read playlists, which name files and addresses. */
const DEMUXERS: Readonly<Record<Container, string>> = {
  wav: "wav",
  mp3: "mp3",
  aac: "aac",
  flac: "flac",
  ogg: "ogg",
  mp4: "mov",
  matroska: "matroska",
};

/** Decoders for sound and text subtitles. Pictures, the larger part of FFmpeg and of its bugs, are never decoded. */
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

/** Prints what is in a file to standard error; see `readReport`. FFmpeg ends with code 1, for it has nothing to write. */
export function reportArguments(container: Container, input: string): string[] {
  return words("info", container, input);
}

/** A sound track as 16 kHz mono, signed 16-bit, to `output`; what is behind `maxSeconds` is left. */
export function soundArguments(
  container: Container,
  input: string,
  output: string,
  index: number,
  maxSeconds: number,
): string[] {
  const form = `-map 0:a:${index} -t ${maxSeconds} -ac 1 -ar 16000 -f s16le -y`.split(" ");
  return [...words("warning", container, input, ["-vn", "-sn", "-dn"]), ...form, output];
}

/** A track of subtitles as WebVTT to `output`. */
export function subtitleArguments(
  container: Container,
  input: string,
  output: string,
  index: number,
): string[] {
  const form = `-map 0:s:${index} -f webvtt -y`.split(" ");
  return [...words("warning", container, input, ["-vn", "-an", "-dn"]), ...form, output];
}

/** `file:` before the name: no name can be taken for an option, or for another protocol. */
function words(level: string, container: Container, input: string, left: readonly string[] = []): string[] {
  const bounds = `-max_alloc ${MAX_ALLOCATION_BYTES} -max_streams ${MAX_STREAMS} -threads 1`.split(" ");
  const allowed = ["-protocol_whitelist", "file,pipe", "-codec_whitelist", DECODERS];
  const quiet = ["-nostdin", "-hide_banner", "-v", level];
  return [...quiet, ...left, ...allowed, ...bounds, "-f", DEMUXERS[container], "-i", `file:${input}`];
}
