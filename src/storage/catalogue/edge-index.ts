import { type EdgeRow, STORED_EDGE_KINDS as KINDS, type StoredEdgeKind } from "../../core/rows.ts";
import type { Ordinal } from "../../core/ports.ts";
import type { ImagePart } from "../image/index-image.ts";
import { Column } from "./column.ts";

const int32 = () => new Column((length) => new Int32Array(length));

/** Ends a list; edges are numbered from 1, so that an empty column means an empty list. */
const END = 0;

/**
 * Waypoints by either end: two linked lists a memory through columns of numbers, about 30 bytes an edge, where an object each would take
 * five times that. Degrees are small, so a list is walked whole.
 */
export class EdgeIndex {
  /** All by edge, but `firstOut` and `firstIn`, which are by memory. */
  readonly #columns = {
    source: int32(),
    target: int32(),
    kind: new Column((length) => new Uint8Array(length)),
    weight: new Column((length) => new Float32Array(length)),
    createdAt: new Column((length) => new Float64Array(length)),
    nextOut: int32(),
    nextIn: int32(),
    firstOut: int32(),
    firstIn: int32(),
  } as const;
  readonly #free: number[] = [];
  #last = 0;

  /** For an image, of an index from which nothing was removed. */
  toPart(ordinals: number): ImagePart {
    const numbers = Object.entries(this.#columns).map(([name, { values }]) => [
      name,
      values.slice(0, name.startsWith("first") ? ordinals : this.#last + 1),
    ]);
    return { numbers: Object.fromEntries(numbers) as ImagePart["numbers"], json: { last: this.#last } };
  }

  /** Fills an empty index with what `toPart` gave. */
  fromPart({ numbers, json }: ImagePart): void {
    for (const [name, column] of Object.entries(this.#columns)) column.load(numbers[name]);
    this.#last = json["last"] as number;
  }

  put(source: Ordinal, target: Ordinal, edge: Pick<EdgeRow, "kind" | "weight" | "createdAt">): void {
    let at = this.#find(source, target, edge.kind);
    if (at === undefined) {
      at = this.#free.pop() ?? (this.#last += 1);
      this.#columns.source.set(at, source);
      this.#columns.target.set(at, target);
      this.#columns.kind.set(at, KINDS.indexOf(edge.kind));
      this.#columns.nextOut.set(at, this.#columns.firstOut.get(source));
      this.#columns.firstOut.set(source, at);
      this.#columns.nextIn.set(at, this.#columns.firstIn.get(target));
      this.#columns.firstIn.set(target, at);
    }
    this.#columns.weight.set(at, edge.weight);
    this.#columns.createdAt.set(at, edge.createdAt);
  }

  remove(source: Ordinal, target: Ordinal, kind: StoredEdgeKind): void {
    const at = this.#find(source, target, kind);
    if (at === undefined) return;
    unlink(at, source, this.#columns.firstOut, this.#columns.nextOut);
    unlink(at, target, this.#columns.firstIn, this.#columns.nextIn);
    this.#free.push(at);
  }

  get(
    source: Ordinal,
    target: Ordinal,
    kind: StoredEdgeKind,
  ): Pick<EdgeRow, "kind" | "weight" | "createdAt"> | undefined {
    const at = this.#find(source, target, kind);
    return at === undefined
      ? undefined
      : { kind, weight: this.#columns.weight.get(at), createdAt: this.#columns.createdAt.get(at) };
  }

  /** Calls back with every edge that leaves or reaches a memory. */
  each(
    ordinal: Ordinal,
    visit: (
      source: Ordinal,
      target: Ordinal,
      kind: StoredEdgeKind,
      weight: number,
      createdAt: number,
    ) => void,
  ): void {
    const report = (at: number): void =>
      visit(
        this.#columns.source.get(at),
        this.#columns.target.get(at),
        KINDS[this.#columns.kind.get(at)] ?? "link",
        this.#columns.weight.get(at),
        this.#columns.createdAt.get(at),
      );
    for (let at = this.#columns.firstOut.get(ordinal); at !== END; at = this.#columns.nextOut.get(at))
      report(at);
    for (let at = this.#columns.firstIn.get(ordinal); at !== END; at = this.#columns.nextIn.get(at))
      report(at);
  }

  #find(source: Ordinal, target: Ordinal, kind: StoredEdgeKind): number | undefined {
    const wanted = KINDS.indexOf(kind);
    for (let at = this.#columns.firstOut.get(source); at !== END; at = this.#columns.nextOut.get(at)) {
      if (this.#columns.target.get(at) === target && this.#columns.kind.get(at) === wanted) return at;
    }
    return undefined;
  }
}

function unlink(at: number, owner: Ordinal, first: Column<Int32Array>, next: Column<Int32Array>): void {
  if (first.get(owner) === at) {
    first.set(owner, next.get(at));
    return;
  }
  let before = first.get(owner);
  while (next.get(before) !== at) before = next.get(before);
  next.set(before, next.get(at));
}
