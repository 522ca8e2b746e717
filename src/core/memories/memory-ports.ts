import type { FactMeanings } from "../facts/fact-meanings.ts";
import type { FollowUps } from "./follow-ups.ts";
import type { IdempotentRequest, RequestLedger } from "../idempotency.ts";
import type { Clock, Embedder, IdSource, MemoryStore } from "../ports.ts";
import type { SectorClassifier } from "../sectors/sectors.ts";
import type { WordFrequencies } from "../text/stop-words.ts";
import type { Changeable, Given, Owned, Sector, SeenMemory, Written } from "../memory.ts";

/** The ports of the operations on memories. */
export interface MemoryPorts {
  readonly store: MemoryStore;
  readonly meanings: FactMeanings;
  readonly embedder: Embedder;
  readonly classify: SectorClassifier;
  readonly frequencies: WordFrequencies;
  readonly clock: Clock;
  /** Default time zone of "yesterday" in a question. */
  readonly timeZone: string;
  /** How long earlier versions and the trash are kept, milliseconds; 0: not at all. */
  readonly historyMs: number;
  readonly ids: IdSource;
  readonly requests: RequestLedger;
  readonly followUps: Pick<FollowUps, "added" | "settle">;
  /** Resolves when others have had a turn of the event loop. */
  readonly nextTurn: () => Promise<void>;
  /** SHA-256 of a text in UTF-8, hex. */
  readonly sha256: (text: string) => string;
}

/** A memory to add, already checked against the limits of the API. */
export interface AddMemoryInput extends Given<Owned & Written & Changeable> {
  readonly content: string;
  readonly sessionId?: string;
  /** Forces the primary sector. */
  readonly sector?: Sector;
  readonly idempotency?: IdempotentRequest;
}

export interface AddedMemory {
  readonly memory: SeenMemory;
  /** True when the same memory was stored before and is returned instead. */
  readonly deduplicated: boolean;
}
