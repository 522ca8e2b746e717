import type { FactMeanings } from "../facts/fact-meanings.ts";
import type { FactStore } from "../facts/fact-store.ts";
import type { FollowUps } from "./follow-ups.ts";
import type { RequestLedger } from "../idempotency.ts";
import type { Clock, Embedder, IdSource, MemoryStore } from "../ports.ts";
import type { SectorClassifier } from "../sectors/sectors.ts";
import type { WordFrequencies } from "../text/word-frequencies.ts";

/** What the operations on memories need of the world. */
export interface MemoryPorts {
  readonly store: MemoryStore;
  /** The same store: what is written of memories and of facts makes one record. */
  readonly facts: FactStore;
  readonly meanings: FactMeanings;
  readonly embedder: Embedder;
  readonly classify: SectorClassifier;
  readonly frequencies: WordFrequencies;
  readonly clock: Clock;
  /** In which "yesterday" is meant where a caller does not say. */
  readonly timeZone: string;
  readonly ids: IdSource;
  readonly requests: RequestLedger;
  readonly followUps: Pick<FollowUps, "added" | "recalled">;
  /** Resolves when others have had a turn of the event loop. */
  readonly nextTurn: () => Promise<void>;
  /** SHA-256 of a text in UTF-8, hex. */
  readonly sha256: (text: string) => string;
}
