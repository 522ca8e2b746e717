import type { Steps } from "./ports.ts";

/** Runs steps to their end, without turns for others. */
export function runAtOnce<T>(steps: Steps<T>): T {
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
}

/** The results of `work`, in the order of the items, at most `limit` at a time; none begins after one failed. */
export async function mapAtOnce<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  // A generator closes where a loop over it throws: then the other loops end too.
  const entries = (function* () {
    yield* items.entries();
  })();
  const worker = async (): Promise<void> => {
    for (const [index, item] of entries) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: limit }, worker));
  return results;
}

/** Runs one work after the other, in the order of the calls, whatever becomes of those before. */
export function inTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
}

/** Cuts a list into pieces, in order: each ends with so many items, or where the bytes of its items reach a limit. */
export function* inPieces<T>(
  items: readonly T[],
  maxItems: number,
  maxBytes = Infinity,
  bytesOf: (item: T) => number = () => 0,
): Generator<readonly T[], void> {
  let start = 0;
  let bytes = 0;
  for (const [i, item] of items.entries()) {
    bytes += bytesOf(item);
    if (i + 1 < items.length && i + 1 - start < maxItems && bytes < maxBytes) continue;
    yield items.slice(start, i + 1);
    start = i + 1;
    bytes = 0;
  }
}

/** Makes a value at the first call; all calls share it. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** Loads something at the first call; all calls share it, and the next one tries again after a failure. */
export function loadedOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  return () =>
    (loaded ??= load().catch((error: unknown) => {
      loaded = undefined;
      throw error;
    }));
}

/** Puts an entry last; of more than `max` the first goes, which was longest not put. */
export function keepLast<K, V>(kept: Map<K, V>, key: K, value: V, max: number): void {
  kept.delete(key);
  kept.set(key, value);
  const [first] = kept.keys();
  if (kept.size > max) kept.delete(first as K);
}
