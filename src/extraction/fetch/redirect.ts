import type { IncomingMessage } from "node:http";
import { ServiceError } from "../../core/errors.ts";
import { utf8OfLatin1 } from "./response-head.ts";
import type { JudgedTarget } from "./target-guard.ts";
import { hostOf } from "./target-url.ts";

const REDIRECTS: ReadonlySet<number | undefined> = new Set([301, 302, 303, 307, 308]);

/** Where the answer sends us instead; undefined for an answer that is none of the redirects. */
export function locationOf({ statusCode, headers }: IncomingMessage): string | undefined {
  return REDIRECTS.has(statusCode) && headers.location !== undefined
    ? utf8OfLatin1(headers.location)
    : undefined;
}

/**
 * The URL to go on with. `parse` judges it as it did the first one; what the caller could not know of is
 * the server's fault, but a blocked target stays one.
 *
 * @throws {ServiceError} FORBIDDEN, FETCH_FAILED.
 */
export function redirectTarget(location: string, from: URL, parse: (text: string, base: URL) => URL): URL {
  const host = hostOf(from);
  let to: URL;
  try {
    to = parse(location, from);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "INVALID_REQUEST") throw error;
    throw new ServiceError(
      "FETCH_FAILED",
      `${host} redirects to an address that is not fetched. ${error.message}`,
    );
  }
  if (from.protocol === "https:" && to.protocol === "http:") {
    throw new ServiceError(
      "FETCH_FAILED",
      `${host} redirects to ${hostOf(to)} without encryption, where anybody on the way could change the page. Give the http:// address itself if that is acceptable.`,
    );
  }
  return to;
}

/**
 * A page of the public internet may not choose what is fetched from the network around; the user may.
 *
 * @throws {ServiceError} FORBIDDEN.
 */
export function checkStep(from: JudgedTarget | undefined, to: JudgedTarget): void {
  if (from?.reach === "public" && to.reach === "private") {
    throw new ServiceError(
      "FORBIDDEN",
      `${hostOf(from.url)} redirects to ${hostOf(to.url)}, a private address. Give that address itself if it is meant.`,
    );
  }
}
