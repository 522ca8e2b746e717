import { cleanField, cleanLanguage } from "../clean-text.ts";
import type { SoundTrack, SubtitleTrack } from "../../core/documents/audio-decoder.ts";
import { type MediaEngine, type MediaSource, writeSound } from "./media-engine.ts";
import { SubtitleText } from "./subtitle-text.ts";

/** FFmpeg's libraries as WebAssembly, with the codecs that are free of patents: no AAC. Under the LGPL. */
const INPUT = "input";
/** Of packets read, decoded and written at a time. */
const BATCH_BYTES = 65_536;
const SPEECH_RATE = 16_000;
/** `AV_CH_LAYOUT_MONO`. */
const MONO = 4;
const MICROSECONDS_A_MS = 1_000;
const TEXT_CODECS = new Set(["subrip", "webvtt", "ass", "ssa", "text"]);
/** Fields of a line of ASS before its text. */
const ASS_FIELDS = 8;
/** In bytes, in an `AVStream` of this build, which has no function that reads it. */
const DISPOSITION_AT = 56;
/** `AV_DISPOSITION_DEFAULT`. */
const DISPOSITION_DEFAULT = 1;
/** Containers whose pictures are covers. */
const WITHOUT_VIDEO = new Set(["mp3", "flac", "wav"]);

type LibAv = Awaited<ReturnType<typeof load>>;
type Stream = Awaited<ReturnType<LibAv["ff_init_demuxer_file"]>>[1][number];
type Frame = Awaited<ReturnType<LibAv["ff_decode_multi"]>>[number];

/** Undefined where the sound is in a codec that it has not, or the file cannot be read. */
export async function openLibAv(source: MediaSource): Promise<MediaEngine | undefined> {
  const libav = await load();
  await mount(libav, source);
  const [format, streams] = (await libav.ff_init_demuxer_file(INPUT).catch(() => undefined)) ?? [];
  if (format === undefined || streams === undefined) return undefined;
  const ofType = (type: number) => streams.filter((stream) => stream.codec_type === type);
  const sounds = ofType(libav.AVMEDIA_TYPE_AUDIO);
  for (const { codec_id: codec } of sounds) {
    if ((await libav.avcodec_find_decoder(codec)) === 0) return undefined;
  }
  const lines = ofType(libav.AVMEDIA_TYPE_SUBTITLE);
  const tags = await tagsOf(libav, await libav.AVFormatContext_metadata(format));
  const microseconds = libav.i64tof64(
    await libav.AVFormatContext_duration(format),
    await libav.AVFormatContext_durationhi(format),
  );
  const title = cleanField(tags.get("title"));
  const author = cleanField(tags.get("artist"));
  const soundTracks: SoundTrack[] = [];
  for (const [index, { ptr }] of sounds.entries()) {
    soundTracks.push({ index, ...(await languageOf(libav, ptr)), isDefault: await isDefault(libav, ptr) });
  }
  const tracks: SubtitleTrack[] = [];
  for (const [index, { ptr, codec_id: codec }] of lines.entries()) {
    if (!TEXT_CODECS.has(await libav.avcodec_get_name(codec))) continue;
    tracks.push({ index, ...(await languageOf(libav, ptr)) });
  }
  await libav.avformat_close_input_js(format);
  return {
    report: {
      soundTracks,
      hasVideo: !WITHOUT_VIDEO.has(source.container) && ofType(libav.AVMEDIA_TYPE_VIDEO).length > 0,
      ...(microseconds > 0 && { durationMs: Math.round(microseconds / MICROSECONDS_A_MS) }),
      ...(title !== undefined && { title }),
      ...(author !== undefined && { author }),
      subtitles: tracks,
    },
    decode: (index, maxSeconds) => decode(libav, index, maxSeconds),
    subtitles: (index) => subtitles(libav, index),
  };
}

async function load() {
  const { default: factory } = await import("@libav.js/variant-obsolete");
  return factory.LibAV({ noworker: true, nothreads: true });
}

/** A file whose bytes are asked of the source: nothing of it is held. */
async function mount(libav: LibAv, { read, size }: MediaSource): Promise<void> {
  libav.onblockread = (name: string, at: number, length: number) => {
    const bytes = new Uint8Array(Math.max(0, Math.min(length, size - at)));
    const got = bytes.subarray(0, read(bytes, at));
    void libav.ff_block_reader_dev_send(name, at, got.length === 0 ? null : got);
  };
  await libav.mkblockreaderdev(INPUT, size);
}

async function tagsOf(libav: LibAv, dictionary: number): Promise<Map<string, string>> {
  const tags = new Map<string, string>();
  if (dictionary === 0) return tags;
  for (let entry = 0; (entry = await libav.av_dict_iterate(dictionary, entry)) !== 0;) {
    const key = await libav.AVDictionaryEntry_key(entry);
    tags.set(key.toLowerCase(), await libav.AVDictionaryEntry_value(entry));
  }
  return tags;
}

async function languageOf(libav: LibAv, stream: number): Promise<{ readonly language?: string }> {
  const tags = await tagsOf(libav, await libav.AVStream_metadata(stream));
  const language = cleanLanguage(tags.get("language"));
  return language === undefined ? {} : { language };
}

async function isDefault(libav: LibAv, stream: number): Promise<boolean> {
  const [disposition = 0] = await libav.copyout_s32(stream + DISPOSITION_AT, 1);
  return (disposition & DISPOSITION_DEFAULT) !== 0;
}

async function decode(libav: LibAv, index: number, maxSeconds: number): Promise<void> {
  const [format, streams] = await libav.ff_init_demuxer_file(INPUT);
  const sound = streams.filter(({ codec_type: type }) => type === libav.AVMEDIA_TYPE_AUDIO)[index];
  if (sound === undefined) throw new Error("no sound");
  const [, context, packet, frame] = await libav.ff_init_decoder(sound.codec_id, {
    codecpar: sound.codecpar,
  });
  const resampler = new FilterGraph(libav, frame);
  let left = maxSeconds * SPEECH_RATE;
  for await (const { packets, isLast } of batches(libav, format, packet, sound)) {
    const frames = await libav.ff_decode_multi(context, packet, frame, packets, {
      fin: isLast,
      ignoreErrors: true,
    });
    for (const samples of await resampler.resample(frames, isLast)) {
      writeSound(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength));
      left -= samples.length;
    }
    if (left <= 0) return;
  }
}

/** Brings frames to what speech recognition takes; a stream may change its own form on the way. */
class FilterGraph {
  readonly #libav: LibAv;
  readonly #frame: number;
  #form = "";
  #graph = 0;
  #source = 0;
  #sink = 0;

  constructor(libav: LibAv, frame: number) {
    this.#libav = libav;
    this.#frame = frame;
  }

  async resample(frames: readonly Frame[], isLast: boolean): Promise<Int16Array[]> {
    const found: Int16Array[] = [];
    for (const frame of frames) {
      const form = [frame.sample_rate, frame.format, frame.channel_layout, frame.channels].join("/");
      if (form !== this.#form) {
        found.push(...(await this.#filter([], true)));
        await this.#build(frame);
        this.#form = form;
      }
      found.push(...(await this.#filter([frame], false)));
    }
    if (isLast) found.push(...(await this.#filter([], true)));
    return found;
  }

  async #build({ sample_rate: rate = 0, format = 0, channel_layout: layout = 0, channels = 1 }: Frame) {
    if (this.#graph !== 0) await this.#libav.avfilter_graph_free_js(this.#graph);
    const input = {
      sample_rate: rate,
      sample_fmt: format,
      channel_layout: layout === 0 ? 2 ** channels - 1 : layout,
    };
    const output = {
      sample_rate: SPEECH_RATE,
      sample_fmt: this.#libav.AV_SAMPLE_FMT_S16,
      channel_layout: MONO,
    };
    const graph = await this.#libav.ff_init_filter_graph("aresample", input, output);
    [this.#graph, this.#source, this.#sink] = graph;
  }

  async #filter(frames: Frame[], isLast: boolean): Promise<Int16Array[]> {
    if (this.#graph === 0) return [];
    const filtered = await this.#libav.ff_filter_multi(this.#source, this.#sink, this.#frame, frames, isLast);
    return filtered.map(({ data }) => data as Int16Array);
  }
}

/** The packets of a stream; the last batch may have none. */
async function* batches(libav: LibAv, format: number, packet: number, { index }: Stream) {
  for (;;) {
    const [result, packets] = await libav.ff_read_frame_multi(format, packet, { limit: BATCH_BYTES });
    // It asks to be called again where the limit was reached; any error but the end is an end, too.
    const isLast = result !== 0 && result !== -libav.EAGAIN;
    yield { packets: packets[index] ?? [], isLast };
    if (isLast) return;
  }
}

async function subtitles(libav: LibAv, index: number): Promise<Uint8Array> {
  const [format, streams] = await libav.ff_init_demuxer_file(INPUT);
  const track = streams.filter(({ codec_type: type }) => type === libav.AVMEDIA_TYPE_SUBTITLE)[index];
  const written = new SubtitleText();
  const write = (text: string) => written.add(Buffer.from(text));
  if (track === undefined) return written.bytes;
  const isAss = /^(?:ass|ssa)$/.test(await libav.avcodec_get_name(track.codec_id));
  const msOf = (units: number) => (units * 1_000 * track.time_base_num) / track.time_base_den;
  write("WEBVTT\n");
  const packet = await libav.av_packet_alloc();
  for await (const { packets } of batches(libav, format, packet, track)) {
    for (const { data, pts = 0, ptshi = 0, duration = 0, durationhi = 0 } of packets) {
      const start = msOf(libav.i64tof64(pts, ptshi));
      const end = start + msOf(libav.i64tof64(duration, durationhi));
      const text = new TextDecoder().decode(data);
      const own = isAss ? text.split(",").slice(ASS_FIELDS).join(",").replaceAll(/\\N/gi, "\n") : text;
      write(`\n${timing(start)} --> ${timing(end)}\n${own.replaceAll(/\n\s*\n/g, "\n").trim()}\n`);
    }
  }
  return written.bytes;
}

/** As WebVTT has it. */
function timing(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  const part = (unit: number, modulus: number, digits: number) =>
    String(Math.floor(whole / unit) % modulus).padStart(digits, "0");
  return `${part(3_600_000, 1_000, 2)}:${part(60_000, 60, 2)}:${part(1_000, 60, 2)}.${part(1, 1_000, 3)}`;
}
