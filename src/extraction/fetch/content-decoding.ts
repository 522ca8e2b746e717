import { Readable, pipeline, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib";
import { ServiceError } from "../../core/errors.ts";

/** What `decodeContent` understands, for the request. */
export const ACCEPTED_ENCODINGS = "gzip, deflate, br";

/** Pages of repeated markup reach some dozens; a bomb of deflate a thousand, of Brotli much more. */
const MAX_INFLATION = 200;
/** Below this, any ratio is harmless. */
const HARMLESS_BYTES = 4 * 1024 ** 2;

/**
 * The body without its content encoding, piece by piece.
 *
 * @throws {ServiceError} FETCH_FAILED for an encoding that was not asked for; zlib's errors for damage; TOO_LARGE
 *   as soon as it unpacks to more than 200 times what arrived.
 */
export async function* decodeContent(
  wire: AsyncIterable<Uint8Array>,
  contentEncoding: string | undefined,
): AsyncGenerator<Uint8Array> {
  const encoding = (contentEncoding ?? "").trim().toLowerCase();
  if (encoding === "" || encoding === "identity") return yield* wire;
  const arriving = wire[Symbol.asyncIterator]();
  const first = await arriving.next();
  // An empty body is not compressed, whatever its header says.
  if (first.done === true) return;
  let packedBytes = 0;
  let unpackedBytes = 0;
  const packed = async function* () {
    for (let next: IteratorResult<Uint8Array> = first; next.done !== true; next = await arriving.next()) {
      packedBytes += next.value.length;
      yield next.value;
    }
  };
  const decoder = decoderFor(encoding, first.value);
  // Errors reach the reader through the decoder, which is destroyed with them.
  pipeline(Readable.from(packed(), { objectMode: false }), decoder, () => {});
  for await (const chunk of decoder as AsyncIterable<Uint8Array>) {
    unpackedBytes += chunk.length;
    if (unpackedBytes > Math.max(HARMLESS_BYTES, packedBytes * MAX_INFLATION)) {
      throw new ServiceError(
        "TOO_LARGE",
        `The page unpacks to more than ${MAX_INFLATION} times its size, so it is not read. Save it yourself and send the file.`,
      );
    }
    yield chunk;
  }
}

function decoderFor(encoding: string, first: Uint8Array): Transform {
  switch (encoding) {
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "br":
      return createBrotliDecompress();
    case "deflate":
      // Zlib's format by the standard; some servers leave its header out.
      return ((first[0] ?? 0) & 0x0f) === 0x08 ? createInflate() : createInflateRaw();
    default:
      throw new ServiceError(
        "FETCH_FAILED",
        "The page was sent in a content encoding that was not asked for.",
      );
  }
}
