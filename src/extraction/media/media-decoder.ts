import type {
  AudioDecoder,
  DecodingLimits,
  DecodingOptions,
  Recording,
  RecordingInput,
} from "../../core/documents/audio-decoder.ts";
import { ServiceError } from "../../core/errors.ts";
import { builtFile } from "../../sandbox/sandboxed-process.ts";
import {
  CONTAINER_LABELS,
  CONTAINER_NAMES,
  containerOf,
  type FoundContainer,
  HEAD_BYTES,
} from "./container.ts";
import { checkDuration, cutOff, damaged } from "./decoding-child.ts";
import { type DecodingInput, decodingWorker, openWith, systemFfmpeg } from "./decoding-program.ts";
import { findProgram } from "./ffmpeg-program.ts";
import type { OpenedMedia } from "./media-report.ts";
import { MAX_SUBTITLE_BYTES } from "./media-report.ts";
import { openOriginal } from "../open-original.ts";
import { claimOf, contradiction } from "../document-kind.ts";

/**
 * The container of a recording, by its bytes; undefined for what is none.
 *
 * @throws {ServiceError} UNSUPPORTED_MEDIA_TYPE for a recording that is called something else.
 */
async function recognise({ bytes, ...claim }: RecordingInput): Promise<FoundContainer | undefined> {
  const found = containerOf(await headOf(bytes.path));
  const { name } = claimOf(claim);
  if (found === undefined || name === undefined) return found;
  const known = name.replace(/^\./, "");
  const isClaimed = CONTAINER_NAMES.has(known)
    ? [undefined, found.container].includes(CONTAINER_NAMES.get(known))
    : /^(?:audio|video)\//.test(known);
  if (!isClaimed) throw contradiction(name, CONTAINER_LABELS[found.container]);
  return found;
}

async function headOf(path: string): Promise<Uint8Array> {
  const file = await openOriginal(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

const PAGE_HEAD_BYTES = 27;
/** Where a page says of how many segments it is, whose lengths follow its head. */
const SEGMENT_COUNT_AT = 26;
const MAX_SEGMENTS = 255;
const MAX_PAGE_BYTES = PAGE_HEAD_BYTES + MAX_SEGMENTS + MAX_SEGMENTS * 255;

/** True for an Ogg file that ends within a page. @see RFC 3533, 6. */
async function endsWithinPage(path: string): Promise<boolean> {
  await using file = await openOriginal(path);
  const { size } = await file.stat();
  const { buffer, bytesRead } = await file.read(
    Buffer.alloc(MAX_PAGE_BYTES),
    0,
    MAX_PAGE_BYTES,
    Math.max(0, size - MAX_PAGE_BYTES),
  );
  return isPagePartial(buffer.subarray(0, bytesRead));
}

/** Whether the last page that begins in the end of a file goes beyond it; no page at all is for the decoder to judge. */
export function isPagePartial(end: Buffer): boolean {
  const page = end.lastIndexOf("OggS\0");
  if (page < 0) return false;
  const segmentsAt = page + PAGE_HEAD_BYTES;
  const segments = end.subarray(segmentsAt, segmentsAt + (end[page + SEGMENT_COUNT_AT] ?? MAX_SEGMENTS));
  const isHeadWhole = end.length >= segmentsAt && segments.length === end[page + SEGMENT_COUNT_AT];
  return (
    !isHeadWhole || segmentsAt + segments.reduce((sum, length) => sum + length, segments.length) > end.length
  );
}

export interface MediaDecoderOptions {
  /** The file of the program; "auto" for the one on the search path, if there is one; "off" for none. */
  readonly ffmpeg: string;
  /** As the variable `PATH` has it. */
  readonly searchPath: string;
  readonly limits?: Partial<DecodingLimits>;
  /** Whether `@ffmpeg/core` is there, for tests; looked for if absent. */
  readonly hasFfmpegPackage?: boolean;
  /** A test's own worker, instead of the built one. */
  readonly workerFile?: string;
}

export const DEFAULT_DECODING_LIMITS: DecodingLimits = { maxSeconds: 21_600, maxWorkingMs: 120_000 };

/** A decoder that runs FFmpeg, of the system or as WebAssembly, in processes of its own. */
export function openMediaDecoder(options: MediaDecoderOptions): AudioDecoder {
  const limits = { ...DEFAULT_DECODING_LIMITS, ...options.limits };
  const workerFile = options.workerFile ?? builtFile("extraction/media/media-worker.js");
  const closing = new AbortController();
  const living = new Set<OpenedMedia>();
  let program: Promise<string | undefined> | undefined;

  async function openWithAny(
    { container }: FoundContainer,
    path: string,
    signal: AbortSignal,
  ): Promise<OpenedMedia> {
    const input: DecodingInput = { container, path, limits, signal };
    program ??= programFor(options);
    const file = await program;
    const own =
      container === "wav" ? await openWith(decodingWorker("wav", workerFile, input), input) : undefined;
    // FFmpeg would take what stands in place of an unknown length for one, and the file for a part of it.
    if (own !== undefined && (file === undefined || own.report.isLengthUnknown === true)) return own;
    // FFmpeg reads everything: what it cannot read is damaged.
    const inSystem = file === undefined ? undefined : await openWith(systemFfmpeg(file, input), input);
    if (inSystem !== undefined) return inSystem;
    if (own !== undefined) return own;
    if (options.hasFfmpegPackage ?? isFfmpegPackageInstalled()) {
      const inPackage = await openWith(decodingWorker("ffmpeg-wasm", workerFile, input), input);
      if (inPackage !== undefined) return inPackage;
      throw damaged();
    }
    if (file !== undefined) throw damaged();
    throw new ServiceError(
      "UNSUPPORTED_MEDIA_TYPE",
      `Nothing here decodes ${CONTAINER_LABELS[container]} with that sound. Install FFmpeg and restart memoryd ` +
        "(or name the program with --ffmpeg), or install the npm package @ffmpeg/core beside memoryd.",
    );
  }

  return {
    recognises: async (input) => (await recognise(input)) !== undefined,
    async open(input: RecordingInput, { signal }: DecodingOptions = {}) {
      const all = AbortSignal.any([closing.signal, ...(signal === undefined ? [] : [signal])]);
      all.throwIfAborted();
      const found = await recognise(input);
      if (found === undefined) throw damaged();
      // No decoder tells it.
      if (found.container === "ogg" && (await endsWithinPage(input.bytes.path))) throw cutOff();
      const opened = await openWithAny(found, input.bytes.path, all);
      living.add(opened);
      const close = async (): Promise<void> => {
        await opened.close();
        living.delete(opened);
      };
      try {
        checkDuration(opened.report, limits);
      } catch (error) {
        await close();
        throw error;
      }
      return recordingOf(found, opened, close);
    },
    async close() {
      closing.abort(new ServiceError("NOT_READY", "The decoder is closed."));
      await Promise.all(Array.from(living, (opened) => opened.close()));
    },
  };
}

function recordingOf(
  { mediaTypes }: FoundContainer,
  opened: OpenedMedia,
  close: () => Promise<void>,
): Recording {
  const { hasVideo, isLengthUnknown: _, ...report } = opened.report;
  return {
    ...report,
    kind: hasVideo ? "video" : "audio",
    mediaType: hasVideo ? mediaTypes.video : mediaTypes.audio,
    decoder: opened.decoder,
    sound: ({ index }) => opened.sound(index),
    async readSubtitles({ index }) {
      const bytes = await opened.subtitles(index);
      if (bytes.length <= MAX_SUBTITLE_BYTES) return bytes;
      throw new ServiceError(
        "TOO_LARGE",
        `The subtitles in the recording have more than ${MAX_SUBTITLE_BYTES} bytes. Leave prefer_subtitles out, so that it is transcribed.`,
      );
    },
    [Symbol.asyncDispose]: close,
  };
}

async function programFor({ ffmpeg, searchPath }: MediaDecoderOptions): Promise<string | undefined> {
  if (ffmpeg === "off") return undefined;
  if (ffmpeg !== "auto") return ffmpeg;
  return findProgram("ffmpeg", { path: searchPath, platform: process.platform });
}

function isFfmpegPackageInstalled(): boolean {
  try {
    import.meta.resolve("@ffmpeg/core");
    return true;
  } catch {
    return false;
  }
}
