import type { SeenMemory, Supersession } from "../memory.ts";
import { fitting } from "../page-end.ts";
import type { MemoryFilter } from "../ports.ts";
import type { MemoryPorts } from "./memory-ports.ts";

export interface ListSupersededInput {
  /** Conditions on the earlier memories. */
  readonly filter: MemoryFilter;
  /** Only what somebody said, or only guesses; both where absent. */
  readonly how?: Supersession["how"];
  /** 0: the count alone. */
  readonly limit: number;
  readonly offset: number;
}

/** A memory and the later one that took its place, or seems to have. */
export interface SupersededPair {
  readonly older: SeenMemory;
  readonly newer: SeenMemory;
}

/** Memories looked at between two turns: some milliseconds. */
const PER_TURN = 5_000;

/** Pairs of an earlier memory and the one that superseded it, the last added earlier ones first; `total` counts all. */
export async function listSuperseded(
  { store, nextTurn }: Pick<MemoryPorts, "store" | "nextTurn">,
  { filter, how, limit, offset }: ListSupersededInput,
): Promise<{ items: readonly SupersededPair[]; total: number }> {
  const { catalogue } = store;
  const pairs: { older: string; newer: string }[] = [];
  for (const [done, ordinal] of catalogue.select(filter).list().toReversed().entries()) {
    if (done % PER_TURN === PER_TURN - 1) await nextTurn();
    const supersession = catalogue.supersession(ordinal);
    const older = catalogue.at(ordinal)?.id;
    if (older === undefined || supersession === undefined) continue;
    if (how === undefined || supersession.how === how) pairs.push({ older, newer: supersession.by });
  }
  const wanted = pairs.slice(offset, offset + limit);
  const memories = await store.readMemories(wanted.flatMap(({ older, newer }) => [older, newer]));
  const items = wanted.flatMap((pair) => {
    const [older, newer] = [memories.get(pair.older), memories.get(pair.newer)];
    return older === undefined || newer === undefined ? [] : [{ older, newer }];
  });
  return { items: fitting(items, (pair) => JSON.stringify(pair).length), total: pairs.length };
}
