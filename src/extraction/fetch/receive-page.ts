import { createHash } from "node:crypto";
import { STATUS_CODES, type IncomingMessage } from "node:http";
import { ServiceError } from "../../core/errors.ts";
import type { FetchedPage, FetchOptions } from "../../core/documents/url-fetcher.ts";
import { decodeContent } from "./content-decoding.ts";
import { fetchFailure } from "./fetch-failure.ts";
import { charsetOf, filenameOf, lengthOf, mediaTypeOf } from "./response-head.ts";
import { hostOf } from "./target-url.ts";
import type { TimeLimits } from "./time-limits.ts";

const MEGABYTE = 1_000_000;

/** A part of what was asked for; nobody asked for a part. */
const PARTIAL_CONTENT = 206;

const ADVICE: Readonly<Record<number, string>> = {
  401: " The page asks for a login.",
  403: " The page asks for a login, or the site wants no programs.",
  429: " Try again later.",
  503: " Try again later.",
};

export interface Receiving extends Pick<FetchOptions, "sink" | "onProgress"> {
  readonly limits: TimeLimits;
  readonly maxBytes: number;
}

/**
 * Writes the body of an answer into the sink, piece by piece.
 *
 * @throws {ServiceError} FETCH_FAILED, FETCH_TIMEOUT, TOO_LARGE; the sink's errors and the signal's reason as they are.
 */
export async function receivePage(
  url: URL,
  response: IncomingMessage,
  receiving: Receiving,
): Promise<Omit<FetchedPage, "fetchedAt">> {
  const { limits, maxBytes, sink } = receiving;
  const { headers } = response;
  const host = hostOf(url);
  checkStatus(response, host);
  if ((lengthOf(headers) ?? 0) > maxBytes) throw tooLarge(maxBytes);

  const hash = createHash("sha256");
  let bytes = 0;
  limits.begin("idle", host);
  for await (const chunk of readBody(response, host, receiving)) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    hash.update(chunk);
    limits.pause();
    await sink.write(chunk);
    limits.begin("idle", host);
  }
  return {
    url: url.href,
    contentType: mediaTypeOf(headers["content-type"]),
    charset: charsetOf(headers["content-type"]),
    filename: filenameOf(headers["content-disposition"], url),
    bytes,
    sha256: hash.digest("hex"),
  };
}

/** The decoded body. Here only the network's errors are translated: the sink's, thrown by the reader, stay. */
async function* readBody(
  response: IncomingMessage,
  host: string,
  receiving: Receiving,
): AsyncGenerator<Uint8Array> {
  const { signal } = receiving.limits;
  try {
    for await (const chunk of decodeContent(
      arriving(response, receiving),
      response.headers["content-encoding"],
    )) {
      signal.throwIfAborted();
      yield chunk;
    }
    signal.throwIfAborted();
  } catch (error) {
    throw signal.aborted ? signal.reason : fetchFailure(error, host);
  }
}

async function* arriving(response: IncomingMessage, receiving: Receiving): AsyncGenerator<Uint8Array> {
  const { limits, maxBytes, onProgress } = receiving;
  const totalBytes = lengthOf(response.headers);
  let receivedBytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    limits.touch();
    receivedBytes += chunk.length;
    if (receivedBytes > maxBytes) throw tooLarge(maxBytes);
    onProgress?.({ receivedBytes, totalBytes });
    yield chunk;
  }
}

function checkStatus({ statusCode = 0 }: IncomingMessage, host: string): void {
  if (statusCode >= 200 && statusCode < 300 && statusCode !== PARTIAL_CONTENT) return;
  const meaning = STATUS_CODES[statusCode];
  throw new ServiceError(
    "FETCH_FAILED",
    `${host} answered with status ${statusCode}${meaning === undefined ? "" : ` (${meaning})`}.${ADVICE[statusCode] ?? ""}`,
  );
}

function tooLarge(maxBytes: number): ServiceError {
  return new ServiceError(
    "TOO_LARGE",
    `The page is larger than the limit of ${maxBytes / MEGABYTE} MB (--max-upload-bytes).`,
  );
}
