import { type EdgeKind, type EdgeRow, EDGE_KINDS as KINDS } from "../../core/rows.ts";
import type { Ordinal } from "../../core/ports.ts";
import type { ImagePart, NumberArray } from "../image/index-image.ts";
import { Column } from "./column.ts";

/** Ends a list; edges are numbered from 1, so that an empty column means an empty list. */
const END = 0;

/**
 * Waypoints by either end: two linked lists a memory through columns of numbers, about 30 bytes an edge, where an object each would take
 * five times that. Degrees are small, so a list is walked whole.
 */
export class EdgeIndex {
  readonly #source = new Column((length) => new Int32Array(length));
  readonly #target = new Column((length) => new Int32Array(length));
  readonly #kind = new Column((length) => new Uint8Array(length));
  readonly #weight = new Column((length) => new Float32Array(length));
  readonly #createdAt = new Column((length) => new Float64Array(length));
  readonly #nextOut = new Column((length) => new Int32Array(length));
  readonly #nextIn = new Column((length) => new Int32Array(length));
  readonly #firstOut = new Column((length) => new Int32Array(length));
  readonly #firstIn = new Column((length) => new Int32Array(length));
  readonly #free: number[] = [];
  #last = 0;

  /** Without `firstOut` and `firstIn`, which are by memory, all by edge. */
  readonly #columns: Readonly<Record<string, Column<NumberArray>>> = {
    source: this.#source,
    target: this.#target,
    kind: this.#kind,
    weight: this.#weight,
    createdAt: this.#createdAt,
    nextOut: this.#nextOut,
    nextIn: this.#nextIn,
    firstOut: this.#firstOut,
    firstIn: this.#firstIn,
  };

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
      this.#source.set(at, source);
      this.#target.set(at, target);
      this.#kind.set(at, KINDS.indexOf(edge.kind));
      this.#nextOut.set(at, this.#firstOut.get(source));
      this.#firstOut.set(source, at);
      this.#nextIn.set(at, this.#firstIn.get(target));
      this.#firstIn.set(target, at);
    }
    this.#weight.set(at, edge.weight);
    this.#createdAt.set(at, edge.createdAt);
  }

  remove(source: Ordinal, target: Ordinal, kind: EdgeKind): void {
    const at = this.#find(source, target, kind);
    if (at === undefined) return;
    unlink(at, source, this.#firstOut, this.#nextOut);
    unlink(at, target, this.#firstIn, this.#nextIn);
    this.#free.push(at);
  }

  get(
    source: Ordinal,
    target: Ordinal,
    kind: EdgeKind,
  ): Pick<EdgeRow, "kind" | "weight" | "createdAt"> | undefined {
    const at = this.#find(source, target, kind);
    return at === undefined
      ? undefined
      : { kind, weight: this.#weight.get(at), createdAt: this.#createdAt.get(at) };
  }

  /** Calls back with every edge that leaves or reaches a memory. */
  each(
    ordinal: Ordinal,
    visit: (source: Ordinal, target: Ordinal, kind: EdgeKind, weight: number, createdAt: number) => void,
  ): void {
    const report = (at: number): void =>
      visit(
        this.#source.get(at),
        this.#target.get(at),
        KINDS[this.#kind.get(at)] ?? "similar",
        this.#weight.get(at),
        this.#createdAt.get(at),
      );
    for (let at = this.#firstOut.get(ordinal); at !== END; at = this.#nextOut.get(at)) report(at);
    for (let at = this.#firstIn.get(ordinal); at !== END; at = this.#nextIn.get(at)) report(at);
  }

  #find(source: Ordinal, target: Ordinal, kind: EdgeKind): number | undefined {
    const wanted = KINDS.indexOf(kind);
    for (let at = this.#firstOut.get(source); at !== END; at = this.#nextOut.get(at)) {
      if (this.#target.get(at) === target && this.#kind.get(at) === wanted) return at;
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
