/** The files that sound comes in, told apart by their first bytes. */

export type Container = "wav" | "mp3" | "aac" | "flac" | "ogg" | "mp4" | "matroska";

export interface FoundContainer {
  readonly container: Container;
  /** By what is in it: sound alone, or pictures too. */
  readonly mediaTypes: { readonly audio: string; readonly video: string };
}

/** As many bytes as `containerOf` looks at, at most. */
export const HEAD_BYTES = 65_536;

/** What to call each. */
export const CONTAINER_LABELS: Readonly<Record<Container, string>> = {
  wav: "a WAV file",
  mp3: "an MP3 file",
  aac: "an AAC stream",
  flac: "a FLAC file",
  ogg: "an Ogg file",
  mp4: "an MP4 file",
  matroska: "a Matroska or WebM file",
};

/** What senders call them: extensions and media types. Any of them is what `undefined` stands for. */
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
const PICTURE_BRANDS = new Set([
  "heic",
  "heix",
  "heim",
  "heis",
  "hevc",
  "hevx",
  "mif1",
  "msf1",
  "avif",
  "avis",
]);
/** What a QuickTime file of before `ftyp` may begin with. */
const QUICKTIME_ATOMS = new Set(["moov", "mdat", "wide", "free", "skip", "pnot"]);
const QUICKTIME_BRAND = "qt  ";
/** Behind the 10 bytes of an ID3v2 head, its size in four times seven bits. */
const ID3_HEAD = 10;
/** Encoders may begin with as much silence of their own. */
const MAX_PADDING = 4_096;

/** The container that bytes begin; undefined where it is none of these. */
export function containerOf(head: Uint8Array): FoundContainer | undefined {
  const text = Buffer.from(head.buffer, head.byteOffset, head.length).toString("latin1");
  if (/^(?:RIFF|RF64)....WAVE/s.test(text)) return found("wav", "audio/wav");
  if (text.startsWith("fLaC")) return found("flac", "audio/flac");
  if (text.startsWith("OggS")) return found("ogg", "audio/ogg", "video/ogg");
  if (text.startsWith("\x1aE\xdf\xa3")) return matroska(text);
  const atom = text.slice(4, 8);
  const brand = text.slice(8, 12);
  if (atom === "ftyp" && !PICTURE_BRANDS.has(brand)) {
    return found("mp4", "audio/mp4", brand === QUICKTIME_BRAND ? "video/quicktime" : "video/mp4");
  }
  if (QUICKTIME_ATOMS.has(atom) && text.startsWith("\0")) return found("mp4", "audio/mp4", "video/quicktime");
  return streamOf(head, text);
}

function matroska(text: string): FoundContainer | undefined {
  const type = /B\x82[\x81-\x8f](webm|matroska)/.exec(text.slice(0, MAX_PADDING))?.[1];
  if (type === "webm") return found("matroska", "audio/webm", "video/webm");
  return type === undefined ? undefined : found("matroska", "audio/x-matroska", "video/x-matroska");
}

/** Frames without a container, perhaps behind a tag: two in a row, since one looks like much else. */
function streamOf(head: Uint8Array, text: string): FoundContainer | undefined {
  const tag = text.startsWith("ID3") ? ID3_HEAD + syncSafe(head, ID3_HEAD - 4) : 0;
  // The tag may hold a picture, and end beyond what is looked at; nearly all are of MP3 files.
  if (tag > 0 && tag + MAX_PADDING >= head.length) return found("mp3", "audio/mpeg");
  let at = tag;
  while (at < tag + MAX_PADDING && head[at] === 0) at += 1;
  if (text.startsWith("fLaC", at)) return found("flac", "audio/flac");
  const isWith = (lengthAt: typeof mpegFrame) => {
    const length = lengthAt(head, at);
    return length !== undefined && (at + length >= head.length || lengthAt(head, at + length) !== undefined);
  };
  if (isWith(mpegFrame)) return found("mp3", "audio/mpeg");
  if (isWith(adtsFrame)) return found("aac", "audio/aac");
  return tag > 0 ? found("mp3", "audio/mpeg") : undefined;
}

function syncSafe(head: Uint8Array, at: number): number {
  return head.subarray(at, at + 4).reduce((size, byte) => size * 128 + (byte & 0x7f), 0);
}

/** Of layer 3, by version (2.5, none, 2, 1); in kbit/s by the index in the head, and in Hz. */
const BITRATES_1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const BITRATES_2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
const RATES = [44_100, 48_000, 32_000];
const VERSION_1 = 3;
const NO_VERSION = 1;
const LAYER_3 = 1;

/** Length of the MPEG layer 3 frame that begins there. @see ISO/IEC 11172-3, 2.4.1.3 */
function mpegFrame(head: Uint8Array, at: number): number | undefined {
  const [sync = 0, second = 0, third = 0] = head.subarray(at, at + 3);
  const version = (second >> 3) & 3;
  if (sync !== 0xff || second >> 5 !== 7 || version === NO_VERSION || ((second >> 1) & 3) !== LAYER_3)
    return undefined;
  const bitrate = (version === VERSION_1 ? BITRATES_1 : BITRATES_2)[third >> 4];
  const rate = RATES[(third >> 2) & 3];
  if (bitrate === undefined || bitrate === 0 || rate === undefined) return undefined;
  const divided = version === VERSION_1 ? 1 : version === 2 ? 2 : 4;
  const factor = version === VERSION_1 ? 144_000 : 72_000;
  return Math.floor((factor * bitrate) / (rate / divided)) + ((third >> 1) & 1);
}

/** Length of the ADTS frame that begins there. @see ISO/IEC 13818-7, 6.2 */
function adtsFrame(head: Uint8Array, at: number): number | undefined {
  const [sync = 0, second = 0, third = 0, b3 = 0, b4 = 0, b5 = 0] = head.subarray(at, at + 6);
  const rateIndex = (third >> 2) & 15;
  if (sync !== 0xff || (second & 0xf6) !== 0xf0 || rateIndex > 12) return undefined;
  const length = ((b3 & 3) << 11) | (b4 << 3) | (b5 >> 5);
  return length > 7 ? length : undefined;
}

function found(container: Container, audio: string, video = audio): FoundContainer {
  return { container, mediaTypes: { audio, video } };
}
