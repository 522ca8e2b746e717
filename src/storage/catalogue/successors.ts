import type { Ordinal } from "../../core/ports.ts";

const NONE: readonly never[] = [];

/** Which memories name which others in `supersedes`, both ways; sparse, because few memories replace others. */
export class Successors {
  readonly #supersedes = new Map<Ordinal, readonly string[]>();
  /** By id of the memory that is replaced, whether it is here or not. */
  readonly #successors = new Map<string, readonly Ordinal[]>();

  set(ordinal: Ordinal, ids: readonly string[]): void {
    for (const id of this.idsOf(ordinal)) {
      const others = this.of(id).filter((other) => other !== ordinal);
      if (others.length === 0) this.#successors.delete(id);
      else this.#successors.set(id, others);
    }
    if (ids.length === 0) this.#supersedes.delete(ordinal);
    else this.#supersedes.set(ordinal, ids);
    for (const id of ids) this.#successors.set(id, [...this.of(id), ordinal]);
  }

  /** What a memory supersedes. */
  idsOf(ordinal: Ordinal): readonly string[] {
    return this.#supersedes.get(ordinal) ?? NONE;
  }

  /** The memories, live or not, that supersede this one. */
  of(id: string): readonly Ordinal[] {
    return this.#successors.get(id) ?? NONE;
  }
}
