import type {
  AudioDecoder,
  DecodingLimits,
  DecodingOptions,
  Recording,
  RecordingInput,
} from "../../core/documents/audio-decoder.ts";
import { invalidRequest, notReady, unsupportedMediaType } from "../../core/errors.ts";
import { builtFile } from "../../sandbox/sandboxed-process.ts";
import { CONTAINER_LABELS, CONTAINER_NAMES, containerOf, HEAD_BYTES } from "./container.ts";
import type { FoundContainer } from "./container.ts";
import { cutOff, damaged, type DecodingChild } from "./decoding-child.ts";
import { type DecodingInput, decodingWorker, openWith, systemFfmpeg } from "./decoding-program.ts";
import { openOriginal } from "../sandboxed-text-extractor.ts";
import { claimOf, contradiction } from "../document-kind.ts";
import { access, constants, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";

/** The container, by the bytes; undefined for none. @throws {ServiceError} UNSUPPORTED_MEDIA_TYPE. */
async function recognise({ bytes, ...claim }: RecordingInput): Promise<FoundContainer | undefined> {
  const found = containerOf(await partOf(bytes.path, HEAD_BYTES, "first"));
  const { name } = claimOf(claim);
  if (found === undefined || name === undefined) return found;
  const known = name.replace(/^\./, "");
  const isClaimed = CONTAINER_NAMES.has(known)
    ? [undefined, found.container].includes(CONTAINER_NAMES.get(known))
    : /^(?:audio|video)\//.test(known);
  if (!isClaimed) throw contradiction(name, CONTAINER_LABELS[found.container]);
  return found;
}

/** Of the length that a WAV states, which programs round. */
const LEAST_SHARE = 0.995;
const PAGE_HEAD_BYTES = 27;
/** Offset of the number of segments in a page; their lengths follow. */
const SEGMENT_COUNT_AT = 26;
const MAX_SEGMENTS = 255;
const MAX_PAGE_BYTES = PAGE_HEAD_BYTES + MAX_SEGMENTS + MAX_SEGMENTS * 255;

/** The first bytes of a file, or the last ones. */
async function partOf(path: string, length: number, end: "first" | "last"): Promise<Buffer> {
  await using file = await openOriginal(path);
  const at = end === "first" ? 0 : Math.max(0, (await file.stat()).size - length);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at);
  return buffer.subarray(0, bytesRead);
}

/** Whether the last Ogg page (RFC 3533, 6) that begins in the end of a file goes beyond it; false without a page. */
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
  /** The file of the program; "auto" for the one on the search path, if any; "off" for none. */
  readonly ffmpeg: string;
  /** The variable `PATH`. */
  readonly searchPath: string;
  readonly limits: DecodingLimits;
  /** Whether `@ffmpeg/core` is installed, for tests. */
  readonly hasFfmpegPackage?: boolean;
}

/** A decoder that runs FFmpeg, of the system or as WebAssembly, in processes of its own. */
export function openMediaDecoder(options: MediaDecoderOptions): AudioDecoder {
  const { limits } = options;
  const workerFile = builtFile("extraction/media/media-worker.js");
  const closing = new AbortController();
  const running = new Set<DecodingChild>();
  let program: Promise<string | undefined> | undefined;

  async function openWithAny(input: DecodingInput): Promise<Recording> {
    program ??= programFor(options);
    const file = await program;
    const engines = [
      ...(file === undefined ? [] : [systemFfmpeg(file, input)]),
      ...((options.hasFfmpegPackage ?? isFfmpegPackageInstalled())
        ? [decodingWorker(workerFile, input)]
        : []),
    ];
    for (const engine of engines) {
      const opened = await openWith(engine, input);
      if (opened !== undefined) return opened;
    }
    // FFmpeg reads everything: what it cannot read is damaged.
    if (engines.length > 0) throw damaged();
    throw unsupportedMediaType(
      `No decoder is installed for ${CONTAINER_LABELS[input.container]}. Install FFmpeg and restart memoryd ` +
        "(or name the program with --ffmpeg), or install the npm package @ffmpeg/core beside memoryd.",
    );
  }

  return {
    recognises: async (input) => (await recognise(input)) !== undefined,
    async open(input: RecordingInput, { signal: given = closing.signal }: DecodingOptions = {}) {
      const signal = AbortSignal.any([closing.signal, given]);
      signal.throwIfAborted();
      const found = await recognise(input);
      if (found === undefined) throw damaged();
      const { path } = input.bytes;
      if ((found.soundEnd ?? 0) * LEAST_SHARE > (await stat(path)).size) throw cutOff();
      // No decoder reports it.
      if (found.container === "ogg" && isPagePartial(await partOf(path, MAX_PAGE_BYTES, "last")))
        throw cutOff();
      return await openWithAny({ ...found, path, limits, signal, running });
    },
    async close() {
      closing.abort(notReady("The decoder is closed."));
      await Promise.all(Array.from(running, ({ ended }) => ended));
    },
  };
}

async function programFor({ ffmpeg, searchPath }: MediaDecoderOptions): Promise<string | undefined> {
  if (ffmpeg === "off") return undefined;
  if (ffmpeg !== "auto") return ffmpeg;
  return findProgram("ffmpeg", searchPath);
}

function isFfmpegPackageInstalled(): boolean {
  try {
    import.meta.resolve("@ffmpeg/core");
    return true;
  } catch {
    return false;
  }
}

/** The program on a search path; relative places, which others may write to, are not searched. */
export async function findProgram(name: string, path: string): Promise<string | undefined> {
  const file = process.platform === "win32" ? `${name}.exe` : name;
  for (const folder of path.split(delimiter)) {
    if (!isAbsolute(folder)) continue;
    const candidate = join(folder, file);
    const isThere = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return candidate;
  }
  return undefined;
}

/** Checks that a named program exists. @throws {ServiceError} INVALID_REQUEST. */
export async function checkNamedProgram(setting: string): Promise<void> {
  if (setting === "auto" || setting === "off") return;
  await access(setting, constants.X_OK).catch((cause: unknown) => {
    throw invalidRequest(
      `There is no program at ${setting}, which --ffmpeg names. Correct the path, or use auto or off.`,
      { cause },
    );
  });
}
