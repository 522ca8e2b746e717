/** Checks that depend on who can reach the daemon: only this machine's user, or others. */
import { isLoopback, MIN_KEY_LENGTH, nameIn } from "../http/access.ts";

type Exposure = { readonly host: string; readonly allowedHosts: readonly string[] };

/** A key's rate where others can call: 20 a second, with room for a burst. */
export const NETWORK_REQUESTS_PER_MINUTE = 1_200;

/** How many requests a key may make in a minute; any number where only this machine is served. */
export const rateLimit = (reach: Exposure): { readonly requestsPerMinute?: number } =>
  isAlone(reach) ? {} : { requestsPerMinute: NETWORK_REQUESTS_PER_MINUTE };

/** A random key of this many characters, or one with so many different ones, cannot be guessed; a word that was thought up can. */
const SAFE_KEY_LENGTH = 24;
const SAFE_KEY_VARIETY = 10;

/**
 * A sentence on a configured key that strangers might guess: wrong ones are throttled, but a right guess is let
 * in. Undefined where nobody else can try, or the key is long and random enough.
 */
export function guessableKey(
  settings: Exposure & { readonly apiKey: string | undefined },
): string | undefined {
  const { apiKey, ...reach } = settings;
  if (apiKey === undefined || isAlone(reach)) return undefined;
  if (apiKey.length >= SAFE_KEY_LENGTH && new Set(apiKey).size >= SAFE_KEY_VARIETY) return undefined;
  return `the API key may be guessed by others: use ${SAFE_KEY_LENGTH} random characters or more, or \`memoryd keys create\``;
}

function isAlone({ host, allowedHosts }: Exposure): boolean {
  return [host, ...allowedHosts.map(nameIn)].every(isLoopback);
}

/** A sentence on the first setting that lets others in, and what to do, for when there is no key; undefined if none does. */
export function strangersLetIn({ host, allowedHosts }: Exposure): string | undefined {
  const remedy = `make one with \`memoryd keys create\`, or set MEMORYD_API_KEY (at least ${MIN_KEY_LENGTH} characters) or --api-key-file FILE`;
  if (!isLoopback(host))
    return `Listening on ${host} lets other machines in, so a key is needed: ${remedy}, or listen on 127.0.0.1.`;
  const foreign = allowedHosts.find((name) => !isLoopback(nameIn(name)));
  if (foreign === undefined) return undefined;
  return `Answering to the host name ${foreign} lets others in, so a key is needed: ${remedy}, or take it out of --allowed-hosts.`;
}
