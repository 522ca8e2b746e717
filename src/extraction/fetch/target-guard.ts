import type { LookupAddress } from "node:dns";
import { isIP } from "node:net";
import { ServiceError } from "../../core/errors.ts";
import { type AddressClass, classOf, isOwnAddress } from "./address-class.ts";
import { hostOf, isLocalName, parseTargetUrl, portOf } from "./target-url.ts";

/** All addresses of a name, best first. */
export type Lookup = (name: string) => Promise<readonly LookupAddress[]>;

export interface TargetGuardOptions {
  /** Asked at every target: keys may be made while the daemon runs. */
  readonly privateTargets: () => "allow" | "deny" | "never";
  /** Where the daemon listens, if it does: never fetched at any address of this machine. */
  readonly ownPort: () => number | undefined;
  readonly machineAddresses: () => readonly string[];
  readonly lookup: Lookup;
  /** The proxy resolves names itself, within its own network: nothing private goes through it. */
  readonly viaProxy: boolean;
}

/** A target that may be fetched, from these addresses and no others. */
export interface JudgedTarget {
  readonly url: URL;
  /** Empty only for what a proxy has to resolve. */
  readonly addresses: readonly LookupAddress[];
  readonly reach: Exclude<AddressClass, "forbidden">;
}

/** A network that lets out nothing but its proxy often has no name server for the rest, and no answer from it. */
const LOOKUP_BEFORE_PROXY_MS = 3_000;

/** Decides what may be fetched. Every address of a name must pass, since a connection may go to any of them. */
export class TargetGuard {
  readonly #options: TargetGuardOptions;

  constructor(options: TargetGuardOptions) {
    this.#options = options;
  }

  /**
   * What can be said without the network.
   *
   * @throws {ServiceError} as `parseTargetUrl`; FORBIDDEN.
   */
  parse(text: string, base?: URL): URL {
    const url = parseTargetUrl(text, base);
    if (isIP(hostOf(url)) !== 0) this.checkAddress(hostOf(url), url);
    return url;
  }

  /** @throws {ServiceError} FORBIDDEN; whatever the lookup throws; the signal's reason. */
  async judge(url: URL, signal: AbortSignal): Promise<JudgedTarget> {
    const host = hostOf(url);
    const family = isIP(host);
    const addresses = family === 0 ? await this.#resolve(url, signal) : [{ address: host, family }];
    const reaches = addresses.map(({ address }) => this.checkAddress(address, url));
    return { url, addresses, reach: reaches.includes("private") ? "private" : "public" };
  }

  /** @throws {ServiceError} FORBIDDEN if the URL must not be fetched from this address. */
  checkAddress(address: string, url: URL): JudgedTarget["reach"] {
    const { ownPort, machineAddresses, viaProxy, privateTargets } = this.#options;
    const host = hostOf(url);
    if (portOf(url) === ownPort() && isOwnAddress(address, machineAddresses())) {
      throw new ServiceError("FORBIDDEN", `${url.host} is memoryd itself, which is never fetched.`);
    }
    const reach = classOf(address);
    if (reach === "forbidden") {
      throw new ServiceError(
        "FORBIDDEN",
        `${host} is at a link-local or cloud-metadata address, which is never fetched.`,
      );
    }
    if (reach === "private") {
      if (viaProxy) throw privateThroughProxy(host);
      const choice = privateTargets();
      if (choice !== "allow") {
        const remedy = choice === "deny" ? " Set MEMORYD_INGEST_PRIVATE=allow if it should be." : "";
        throw new ServiceError(
          "FORBIDDEN",
          `${host} is at a private address, which is not fetched${choice === "never" ? " for an agent" : ""}.${remedy}`,
        );
      }
    }
    return reach;
  }

  async #resolve(url: URL, signal: AbortSignal): Promise<readonly LookupAddress[]> {
    const host = hostOf(url);
    if (!this.#options.viaProxy) return unlessAborted(this.#lookUp(host), signal);

    const patience = AbortSignal.timeout(LOOKUP_BEFORE_PROXY_MS);
    const addresses = await unlessAborted(this.#lookUp(host), AbortSignal.any([signal, patience])).catch(
      () => [],
    );
    signal.throwIfAborted();
    if (addresses.length === 0 && isLocalName(host)) throw privateThroughProxy(host);
    return addresses;
  }

  async #lookUp(name: string): Promise<readonly LookupAddress[]> {
    const addresses = await this.#options.lookup(name);
    if (addresses.length > 0) return addresses;
    throw Object.assign(new Error("no addresses"), { code: "ENOTFOUND" });
  }
}

function privateThroughProxy(host: string): ServiceError {
  return new ServiceError("FORBIDDEN", `${host} is a private target; those are not fetched through a proxy.`);
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

/** What `work` gives, or a rejection with the signal's reason at once when that comes first. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let abort = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal.reason as Error);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
  return await Promise.race([work, aborted]).finally(() => signal.removeEventListener("abort", abort));
}
