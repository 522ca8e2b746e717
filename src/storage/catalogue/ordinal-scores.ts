import type { Ordinal, Scores, Selection } from "../../core/ports.ts";

/** Scores by ordinal, with the best of them on demand. */
export class OrdinalScores implements Scores {
  readonly #scores: Float32Array;
  readonly #selection: Selection | undefined;

  constructor(scores: Float32Array, selection: Selection | undefined) {
    this.#scores = scores;
    this.#selection = selection;
  }

  of(ordinal: Ordinal): number {
    return this.#scores[ordinal] ?? 0;
  }

  /** A binary heap of the best seen so far, its worst at the root: one pass, O(n log limit). */
  top(limit: number): Ordinal[] {
    const scores = this.#scores;
    const heap: Ordinal[] = [];
    // Worse: a lower score or, at the same score, older.
    const worse = (a: Ordinal, b: Ordinal): boolean => {
      const difference = (scores[a] ?? 0) - (scores[b] ?? 0);
      return difference < 0 || (difference === 0 && a < b);
    };
    if (limit <= 0) return heap;
    // What is below the worst of a full heap is most of it: one comparison each.
    let floor = Number.MIN_VALUE;
    for (let ordinal = 0; ordinal < scores.length; ordinal += 1) {
      if ((scores[ordinal] ?? 0) < floor) continue;
      if (this.#selection !== undefined && !this.#selection.has(ordinal)) continue;
      if (heap.length < limit) siftUp(heap, ordinal, worse);
      // Ordinals ascend: at the same score this one is newer than the root.
      else siftDown(heap, ordinal, worse);
      if (heap.length === limit) floor = scores[heap[0] ?? 0] ?? 0;
    }
    return heap.sort((a, b) => (worse(a, b) ? 1 : -1));
  }
}

function siftUp(heap: Ordinal[], ordinal: Ordinal, worse: (a: Ordinal, b: Ordinal) => boolean): void {
  let place = heap.length;
  heap.push(ordinal);
  while (place > 0) {
    const parent = (place - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || !worse(ordinal, above)) break;
    heap[place] = above;
    place = parent;
  }
  heap[place] = ordinal;
}

/** Replaces the root. */
function siftDown(heap: Ordinal[], ordinal: Ordinal, worse: (a: Ordinal, b: Ordinal) => boolean): void {
  let place = 0;
  for (;;) {
    const left = heap[2 * place + 1];
    const right = heap[2 * place + 2];
    if (left === undefined) break;
    const child = right !== undefined && worse(right, left) ? 2 * place + 2 : 2 * place + 1;
    const below = heap[child];
    if (below === undefined || !worse(below, ordinal)) break;
    heap[place] = below;
    place = child;
  }
  heap[place] = ordinal;
}
