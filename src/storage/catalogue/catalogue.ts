import { DocumentIndex } from "../../core/documents/document-index.ts";
import { type FactChange, factIdOfRow, factRowId } from "../../core/facts/fact.ts";
import { FactBook } from "../../core/facts/fact-book.ts";
import { type FeedEntry, feedEntriesOf } from "../../core/feed.ts";
import {
  INITIAL_SALIENCE,
  type Sector,
  SECTORS,
  type Signals,
  type Supersession,
} from "../../core/memory.ts";
import type {
  Catalogue,
  CatalogueEntry,
  MemoryFilter,
  Ordinal,
  OrdinalEdge,
  Page,
  Steps,
} from "../../core/ports.ts";
import { type Change, type EdgeRow, endsOfEdgeId, isStoredKind, type RequestRow } from "../../core/rows.ts";
import type { PageRequest } from "../../core/page-end.ts";
import { VersionIndex } from "../../core/history/version-index.ts";
import { fadedSalience, HALF_LIVES } from "../../core/memories/reinforce-memory.ts";
import type { ImagePart } from "../image/index-image.ts";
import { EdgeIndex } from "./edge-index.ts";
import { MemoryColumns, type SlimMemoryRow } from "./memory-columns.ts";

/** How long an Idempotency-Key is honoured. */
const REQUEST_LIFETIME_MS = 24 * 60 * 60 * 1_000;
const REQUEST_SWEEP_MS = 60 * 60 * 1_000;

/** The way back from what changed nothing: one for all, since a record may have a million such changes. */
const NOTHING = (): void => {};

/** A record that is shown and not yet durable. */
export interface Stage {
  /** Entries of the memories that the record puts or removes, by id. */
  readonly ordinals: ReadonlyMap<string, Ordinal>;
  /** Its entries in the feed, published once it is durable. */
  readonly feedEntries: readonly FeedEntry[];
  /** Takes the record back. Records are taken back newest first, with none left out. */
  undo(): void;
}

/** The small, exact data of a store, in memory: the columns of memories, and all else beside. See `Catalogue` for the guarantees to readers. */
export class StoreCatalogue extends MemoryColumns implements Catalogue {
  /** Every version of every fact. */
  readonly facts = new FactBook();
  /** Every document and every job. */
  readonly documents = new DocumentIndex();
  /** Earlier versions, and the trash. */
  readonly versions = new VersionIndex(this.documents);
  readonly #edges = new EdgeIndex();
  readonly #requests = new Map<string, RequestRow>();
  readonly #now: () => number;
  readonly #salienceOf = (signals: Signals, sector: Sector) =>
    fadedSalience(signals, this.#now(), HALF_LIVES[sector]);
  #requestsSweptAt = -Infinity;

  /** @param now the time for all that passes: requests kept, salience fading. */
  constructor(now: () => number) {
    super();
    this.#now = now;
  }

  /**
   * Shows a record's changes, in steps, between which reads see a part of the record. Nothing else may be staged meanwhile.
   * @param erases as in `feedEntriesOf`.
   */
  *stage(changes: readonly Change[], erases?: string): Steps<Stage> {
    const feedEntries = feedEntriesOf(changes, erases, this);
    const ways: (() => void)[] = [];
    const ordinals = new Map<string, Ordinal>();
    for (const change of changes) {
      const before = this.ordinalOf(change.id);
      const back = this.#apply(change);
      if (back !== NOTHING) ways.push(back);
      const ordinal = before ?? this.ordinalOf(change.id);
      if (change.table === "memories" && ordinal !== undefined) ordinals.set(change.id, ordinal);
      yield;
    }
    return {
      ordinals,
      feedEntries,
      undo: () => {
        for (const back of ways.reverse()) back();
      },
    };
  }

  /** For filling at open: ordinals from 0 without gaps, ascending with the rows' `order`; in any order. */
  load(ordinal: Ordinal, row: SlimMemoryRow): void {
    this.put(ordinal, row, { salience: INITIAL_SALIENCE, lastSeenAt: row.createdAt });
  }

  /** For an image, of a catalogue from which nothing was removed: memories with their signals, and edges. */
  toParts(): Record<"memories" | "edges", ImagePart> {
    return { memories: this.toPart(), edges: { numbers: {}, json: { edges: this.#edges.all } } };
  }

  /** Fills an empty catalogue with what `toParts` gave. */
  fromParts({ memories, edges }: Record<"memories" | "edges", ImagePart>): void {
    this.fromPart(memories);
    for (const edge of edges.json["edges"] as OrdinalEdge[]) this.#edges.put(edge);
  }

  /** For filling at open, after the memories: rows of any other table but versions, in any order. */
  loadRows(rows: readonly Change[]): void {
    for (const row of rows) this.#apply(row);
  }

  find(id: string): CatalogueEntry | undefined {
    const ordinal = this.ordinalOf(id);
    return ordinal === undefined ? undefined : this.at(ordinal);
  }

  at(ordinal: Ordinal): CatalogueEntry | undefined {
    return this.entry(ordinal, this.#salienceOf);
  }

  signalsOf(id: string): Signals | undefined {
    const ordinal = this.ordinalOf(id);
    return ordinal === undefined ? undefined : this.signals(ordinal);
  }

  idAt(ordinal: Ordinal): string | undefined {
    return this.isLive(ordinal) ? this.idOf(ordinal) : undefined;
  }

  supersession(ordinal: Ordinal, asOf = Infinity): Supersession | undefined {
    const told = this.successors.of(this.idOf(ordinal));
    const inferred = this.#edges
      .of(ordinal)
      .filter(({ target, kind, weight }) => kind === "updates" && target === ordinal && weight > 0)
      .map(({ source }) => source);
    for (const [how, successors] of [
      ["told", told],
      ["inferred", inferred],
    ] as const) {
      const counting = successors.filter(
        (other) =>
          this.isLive(other) && this.hasSameUser(other, ordinal) && this.effectiveTime(other) <= asOf,
      );
      if (counting.length === 0) continue;
      const first = counting.reduce((a, b) => (this.effectiveTime(b) < this.effectiveTime(a) ? b : a));
      return { by: this.idOf(first), at: this.effectiveTime(first), how };
    }
    return undefined;
  }

  page(filter: MemoryFilter, { limit, offset, before }: PageRequest): Page {
    const selection = this.select(filter);
    const ids: string[] = [];
    const orders: number[] = [];
    let place = 0;
    for (let ordinal = this.ordinals - 1; ordinal >= 0 && ids.length < limit; ordinal -= 1) {
      const order = this.orderAt(ordinal);
      if (!selection.has(ordinal) || (before !== undefined && order >= before)) continue;
      if (place >= offset) {
        ids.push(this.idOf(ordinal));
        orders.push(order);
      }
      place += 1;
    }
    return { ids, orders, total: selection.size };
  }

  edgesOf(id: string): EdgeRow[] {
    const ordinal = this.ordinalOf(id);
    if (ordinal === undefined) return [];
    return this.edgesAt(ordinal)
      .map((edge) => ({
        ...edge,
        source: this.idOf(edge.source),
        target: this.idOf(edge.target),
      }))
      .sort((a, b) => b.weight - a.weight);
  }

  edgesAt(ordinal: Ordinal): readonly OrdinalEdge[] {
    const edges = this.#edges.of(ordinal);
    if (edges.length === 0) return edges;
    // An end that is not there (its record failed) makes no waypoint.
    return edges.filter(({ source, target }) => this.isLive(source) && this.isLive(target));
  }

  findRequest(key: string): RequestRow | undefined {
    const request = this.#requests.get(key);
    return request !== undefined && this.#now() - request.createdAt < REQUEST_LIFETIME_MS
      ? request
      : undefined;
  }

  expiredRequests(): Change[] {
    const expired: Change[] = [];
    if (this.#now() - this.#requestsSweptAt < REQUEST_SWEEP_MS) return expired;
    this.#requestsSweptAt = this.#now();
    for (const [id, { createdAt }] of this.#requests) {
      // Also where a wrong clock dated it in the future.
      if (Math.abs(this.#now() - createdAt) >= REQUEST_LIFETIME_MS)
        expired.push({ table: "requests", id, row: null });
    }
    return expired;
  }

  sectorCounts(filter: MemoryFilter): Record<Sector, number> {
    const selection = this.select(filter);
    const counts = Object.fromEntries(SECTORS.map((sector) => [sector, 0])) as Record<Sector, number>;
    for (let ordinal = 0; ordinal < this.ordinals; ordinal += 1) {
      const sector = selection.has(ordinal) ? SECTORS[this.primarySectorOf(ordinal)] : undefined;
      if (sector !== undefined) counts[sector] += 1;
    }
    return counts;
  }

  /** Applies a change, and answers the way back. */
  #apply(change: Change): () => void {
    switch (change.table) {
      case "memories":
        return this.#stageMemory(change.id, change.row);
      case "signals":
        return this.#stageSignals(change.id, change.row);
      case "edges":
        return this.#stageEdge(change.id, change.row);
      case "requests":
        return this.#stageRequest(change.id, change.row);
      case "facts":
        return this.#stageFact(change);
      case "documents":
      case "jobs":
        return this.documents.apply(change);
      case "versions":
        return this.versions.apply(change);
      case "vectors":
      case "tokens":
        return NOTHING;
    }
  }

  #stageMemory(id: string, row: SlimMemoryRow | null): () => void {
    const ordinal = this.ordinalOf(id);
    if (row === null) {
      if (ordinal === undefined) return NOTHING;
      this.hide(ordinal);
      return () => this.unhide(ordinal);
    }
    if (ordinal === undefined) {
      const added = this.ordinals;
      this.load(added, row);
      return () => this.hide(added);
    }
    const back = this.state(ordinal);
    this.replace(ordinal, row);
    return back;
  }

  #stageSignals(id: string, signals: Signals | null): () => void {
    const ordinal = signals === null ? undefined : this.ordinalOf(id);
    if (ordinal === undefined || signals === null) return NOTHING;
    const before = this.signals(ordinal);
    this.setSignals(ordinal, signals);
    return () => this.setSignals(ordinal, before);
  }

  #stageEdge(id: string, row: EdgeRow | null): () => void {
    const ends = row ?? endsOfEdgeId(id);
    const { kind } = ends;
    if (!isStoredKind(kind)) return NOTHING;
    const source = this.ordinalOf(ends.source);
    const target = source === undefined ? undefined : this.ordinalOf(ends.target);
    if (source === undefined || target === undefined) return NOTHING;
    const before = this.#edges.get(source, target, kind);
    if (row === null) this.#edges.remove({ source, target, kind });
    else this.#edges.put({ source, target, kind, weight: row.weight, createdAt: row.createdAt });
    return () => {
      if (before === undefined) this.#edges.remove({ source, target, kind });
      else this.#edges.put(before);
    };
  }

  #stageRequest(id: string, row: RequestRow | null): () => void {
    const before = this.#requests.get(id);
    const set = (value: RequestRow | null | undefined): void => {
      if (value === null || value === undefined) this.#requests.delete(id);
      else this.#requests.set(id, value);
    };
    set(row);
    return () => set(before);
  }
  #stageFact(change: FactChange): () => void {
    const { table, id } = change;
    const versions = this.facts.find(factIdOfRow(id))?.versions ?? [];
    const before = versions.find((version) => factRowId(version) === id) ?? null;
    this.facts.apply([change]);
    return () => this.facts.apply([{ table, id, row: before }]);
  }
}
