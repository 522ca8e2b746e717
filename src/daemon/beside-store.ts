import { readFileSync } from "node:fs";
import type { Config } from "../config/config.ts";
import { FactMeanings } from "../core/facts/fact-meanings.ts";
import { expireVersions } from "../core/history/trash.ts";
import type { MemoryPorts } from "../core/memories/memory-ports.ts";
import { ownTimeZone } from "../core/text/calendar.ts";
import { readWordFrequencies } from "../core/text/stop-words.ts";
import { FollowUps } from "../core/memories/follow-ups.ts";
import type { Clock, MemoryStore, Places } from "../core/ports.ts";
import { type Logger, nextTurn, sha256, uuidSource } from "./system.ts";
import { createCipheriv, createDecipheriv, createHash } from "node:crypto";

/** Delay of follow-ups to answered calls, so that few records hold them. */
const FOLLOW_UP_DELAY_MS = 500;

/** Delay of `FollowUps.resume` after a start: it takes a second of the main thread, and the first questions come then. */
const RESUME_DELAY_MS = 5_000;

/** Memories for which `FollowUps` still works when the daemon stops: 1 s at most. */
const INFERRED_AT_STOP = 200;

/** The follow-ups of a store, done a moment after the calls that ask for them. */
export function scheduledFollowUps(store: MemoryStore, isBusy: () => boolean, log: Pick<Logger, "warn">) {
  let timer: NodeJS.Timeout | undefined;
  let resuming: NodeJS.Timeout | undefined;
  const followUps = new FollowUps(store, {
    onPending: () => {
      timer = setTimeout(() => {
        followUps.flush().catch((error: unknown) => log.warn({ err: error }, "follow-ups dropped"));
      }, FOLLOW_UP_DELAY_MS).unref();
    },
    isBusy,
    nextTurn,
  });
  return {
    followUps,
    /** See `FollowUps.resume`. */
    resumeLater(): void {
      resuming = setTimeout(() => followUps.resume(), RESUME_DELAY_MS).unref();
    },
    /** Does what waits, but for what would take long. */
    async stop(): Promise<void> {
      clearTimeout(resuming);
      clearTimeout(timer);
      await followUps.flush(INFERRED_AT_STOP);
      clearTimeout(timer);
    },
  };
}

const CIPHER = "aes-128-ecb";
/** A list in 4 bytes, a place in 6 and a count in 6: one block of the cipher, so none is chained to another. */
const BLOCK_BYTES = 16;
const PLACE_BYTES = 6;

/** Places of a store, which open over restarts. @param storeId a secret from bound keys: only answers to admins name it. */
export function createPlaces(storeId: string): Places {
  const key = createHash("sha256").update(`places ${storeId}`).digest().subarray(0, BLOCK_BYTES);
  const encrypt = createCipheriv(CIPHER, key, null).setAutoPadding(false);
  const decrypt = createDecipheriv(CIPHER, key, null).setAutoPadding(false);
  return {
    seal(list, place, skipped = 0) {
      const block = Buffer.alloc(BLOCK_BYTES);
      block.writeUInt32BE(list);
      block.writeUIntBE(place, 4, PLACE_BYTES);
      block.writeUIntBE(skipped, 10, PLACE_BYTES);
      return encrypt.update(block).toString("base64url");
    },
    open(list, text) {
      const sealed = Buffer.from(text, "base64url");
      if (sealed.length !== BLOCK_BYTES || sealed.toString("base64url") !== text) return undefined;
      const block = decrypt.update(sealed);
      if (block.readUInt32BE() !== list) return undefined;
      return { place: block.readUIntBE(4, PLACE_BYTES), skipped: block.readUIntBE(10, PLACE_BYTES) };
    },
  };
}

/** The ports of the core, without the store, its follow-ups and its requests. */
export function portsBeside(
  config: Pick<Config, "timeZone" | "historyDays">,
  model: Pick<MemoryPorts, "embedder" | "classify">,
  clock: Clock,
): Omit<MemoryPorts, "store" | "requests" | "followUps"> {
  const frequencies = readWordFrequencies(
    readFileSync(new URL("../../data/word-frequencies.txt", import.meta.url), "utf8"),
  );
  return {
    ...model,
    meanings: new FactMeanings(model.embedder, frequencies),
    frequencies,
    clock,
    timeZone: config.timeZone === "" ? ownTimeZone() : config.timeZone,
    historyMs: config.historyDays * 24 * 3_600_000,
    ids: uuidSource,
    nextTurn,
    sha256,
  };
}

/** Removes for good what was kept long enough. Never rejects. */
export const expireIn = (ports: MemoryPorts, log: Pick<Logger, "warn">): Promise<unknown> =>
  expireVersions(ports).catch((error: unknown) => log.warn({ err: error }, "earlier versions not removed"));
