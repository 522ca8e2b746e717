import type { MediaEngine, MediaSource } from "./media-engine.ts";
import { writeSound } from "./media-engine.ts";
import { readWavFormat, wavSound } from "./wav.ts";

const BYTES_A_SAMPLE = 2;
const SAMPLES_A_SECOND = 16_000;

/** WAV files of plain samples, without anything of others. */
export async function openWav({ read, size }: MediaSource): Promise<MediaEngine | undefined> {
  const format = readWavFormat(read, size);
  if (format === undefined) return undefined;
  const { bytesASample, channels, rate, dataStart, title } = format;
  const dataBytes = format.dataBytes ?? Math.max(0, size - dataStart);
  const seconds = dataBytes / (bytesASample * channels * rate);
  return {
    report: {
      soundTracks: [{ index: 0, isDefault: true }],
      hasVideo: false,
      durationMs: Math.round(seconds * 1_000),
      isLengthUnknown: format.dataBytes === undefined,
      ...(title !== undefined && { title }),
      subtitles: [],
    },
    async decode(_index, maxSeconds) {
      let left = maxSeconds * SAMPLES_A_SECOND;
      for (const samples of wavSound(read, size, format)) {
        writeSound(new Uint8Array(samples.buffer, samples.byteOffset, samples.length * BYTES_A_SAMPLE));
        left -= samples.length;
        if (left <= 0) return;
      }
    },
    subtitles: async () => new Uint8Array(),
  };
}
