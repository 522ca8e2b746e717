import {
  endOf,
  type Fact,
  type FactChange,
  type FactSlot,
  foldText,
  nameKey,
  objectKey,
  sameMetadata,
  slotKey,
} from "./fact.ts";
import { FactColumns } from "./fact-columns.ts";
import type { Metadata } from "../memory.ts";
import { Slots } from "./slots.ts";
import { TextTable } from "./text-table.ts";

/** Which facts: all conditions hold. Absent conditions do not filter. */
export interface FactFilter {
  /** Compared by `nameKey`, as is the predicate. */
  readonly subject?: string;
  readonly predicate?: string;
  readonly userId?: string;
  /** Any of; null for facts without a project. */
  readonly projects?: readonly (string | null)[];
}

/** A fact with all that was ever known of it. */
export interface FactHistory {
  /** The fact's place in the book's columns. */
  readonly ordinal: number;
  readonly latest: Fact;
  /** Ascending, the latest last. */
  readonly versions: readonly Fact[];
}

export interface FactTimeline {
  readonly key: string;
  readonly userId: string | null;
  readonly project: string | null;
  readonly subjectKey: string;
  readonly predicateKey: string;
  /** In no order. */
  readonly facts: readonly FactHistory[];
}

/** What a read over columns is told of a fact, as it was known. */
export type FactVisitor = (ordinal: number, start: number, end: number, confidence: number) => void;

const NO_METADATA: Metadata = {};
const NONE: ReadonlySet<never> = new Set();

interface OpenHistory extends FactHistory {
  latest: Fact;
  readonly versions: Fact[];
  readonly timeline: OpenTimeline;
}

interface OpenTimeline extends FactTimeline {
  readonly ordinal: number;
  readonly subject: number;
  readonly predicate: number;
  readonly facts: OpenHistory[];
}

/**
 * All versions of all facts in memory, found by id, timeline, subject, predicate, user and source memory.
 * Built at open by applying every row, in any order, and kept by applying the changes of each write; applying
 * one again changes nothing.
 *
 * Whole rows are held, texts and metadata too, since every read filters on them or answers them: .8 KB a fact
 * of ordinary length and .3 KB a further version (measured: 78 MB for 100 000 facts). A long object counts
 * twice, as written and folded; the versions of a fact share it, and metadata that did not change.
 */
export class FactBook {
  /** Texts as they are compared: `nameKey`, `nameKey`, `objectKey`. */
  readonly subjects = new TextTable();
  readonly predicates = new TextTable();
  readonly objects = new TextTable();
  /** By ordinal. */
  readonly columns = new FactColumns();
  readonly #histories = new Map<string, OpenHistory>();
  readonly #timelines = new Map<string, OpenTimeline>();
  readonly #historyAt = new Slots<OpenHistory>();
  readonly #timelineAt = new Slots<OpenTimeline>();
  readonly #bySubject = new Map<string, Set<OpenTimeline>>();
  readonly #byPredicate = new Map<string, Set<OpenTimeline>>();
  readonly #byUser = new Map<string | null, Set<OpenTimeline>>();
  readonly #bySource = new Map<string, Set<OpenHistory>>();
  #latestRecordedAt = -Infinity;

  /** How many facts, replaced ones too. */
  get size(): number {
    return this.#histories.size;
  }

  /** Ordinals of timelines are below this. */
  get timelineCapacity(): number {
    return this.#timelineAt.capacity;
  }

  /** Transaction time of the newest record; -Infinity while there is none. */
  get latestRecordedAt(): number {
    return this.#latestRecordedAt;
  }

  find(id: string): FactHistory | undefined {
    return this.#histories.get(id);
  }

  /** @throws {TypeError} if the ordinal is no fact's, or nothing was known of it at `knownAt`. */
  factAt(ordinal: number, knownAt?: number): Fact {
    const history = this.#historyAt.at(ordinal);
    const fact = history === undefined ? undefined : versionKnownAt(history, knownAt);
    if (fact === undefined) throw new TypeError(`no fact at ${ordinal}`);
    return fact;
  }

  /** @throws {TypeError} if the ordinal is no timeline's. */
  timelineAt(ordinal: number): FactTimeline {
    const timeline = this.#timelineAt.at(ordinal);
    if (timeline === undefined) throw new TypeError(`no timeline at ${ordinal}`);
    return timeline;
  }

  /**
   * Visits the facts that match and count (no empty period), as they were known at `knownAt` (absent: by
   * now), in no order.
   */
  visit(filter: FactFilter, knownAt: number | undefined, visit: FactVisitor): void {
    const { subject, predicate, userId, projects } = filter;
    if (subject === undefined && predicate === undefined && userId === undefined && projects === undefined) {
      const { capacity } = this.#historyAt;
      for (let ordinal = 0; ordinal < capacity; ordinal += 1) this.#visitOne(ordinal, knownAt, visit);
      return;
    }
    for (const { facts } of this.timelines(filter)) {
      for (const { ordinal } of facts) this.#visitOne(ordinal, knownAt, visit);
    }
  }

  timeline(slot: FactSlot): FactTimeline | undefined {
    return this.#timelines.get(slotKey(slot));
  }

  /** The timelines that match, in no order. */
  timelines(filter: FactFilter): FactTimeline[] {
    const subjectKey = filter.subject === undefined ? undefined : nameKey(filter.subject);
    const predicateKey = filter.predicate === undefined ? undefined : nameKey(filter.predicate);
    const { userId, projects } = filter;
    const found: FactTimeline[] = [];
    for (const timeline of this.#smallest(subjectKey, predicateKey, userId)) {
      if (subjectKey !== undefined && timeline.subjectKey !== subjectKey) continue;
      if (predicateKey !== undefined && timeline.predicateKey !== predicateKey) continue;
      if (userId !== undefined && timeline.userId !== userId) continue;
      if (projects !== undefined && !projects.includes(timeline.project)) continue;
      found.push(timeline);
    }
    return found;
  }

  /** Facts any version of which names that memory as its source. */
  fromMemory(memoryId: string): Iterable<FactHistory> {
    return this.#bySource.get(memoryId) ?? NONE;
  }

  /** @throws {TypeError} if a change does not name the version that its row is. */
  apply(changes: Iterable<FactChange>): void {
    for (const { id, row } of changes) {
      const mark = id.lastIndexOf("#");
      const factId = id.slice(0, mark);
      const version = Number(id.slice(mark + 1));
      if (row === null) this.#remove(factId, version);
      else if (row.id !== factId || row.version !== version)
        throw new TypeError(`row ${id} holds another version`);
      else this.#put(row);
    }
  }

  #visitOne(ordinal: number, knownAt: number | undefined, visit: FactVisitor): void {
    const { start, end, confidence, updatedAt } = this.columns;
    if (knownAt === undefined || (updatedAt[ordinal] as number) <= knownAt) {
      const from = start[ordinal] as number;
      const to = end[ordinal] as number;
      if (to > from) visit(ordinal, from, to, confidence[ordinal] as number);
      return;
    }
    const history = this.#historyAt.at(ordinal);
    const fact = history === undefined ? undefined : versionKnownAt(history, knownAt);
    if (fact !== undefined && endOf(fact) > fact.validFrom)
      visit(ordinal, fact.validFrom, endOf(fact), fact.confidence);
  }

  /** The smallest set that holds every timeline of these keys. */
  #smallest(subjectKey?: string, predicateKey?: string, userId?: string): Iterable<OpenTimeline> {
    const sets: ReadonlySet<OpenTimeline>[] = [];
    if (subjectKey !== undefined) sets.push(this.#bySubject.get(subjectKey) ?? NONE);
    if (predicateKey !== undefined) sets.push(this.#byPredicate.get(predicateKey) ?? NONE);
    if (userId !== undefined) sets.push(this.#byUser.get(userId) ?? NONE);
    return sets.sort((a, b) => a.size - b.size)[0] ?? this.#timelines.values();
  }

  #put(row: Fact): void {
    this.#latestRecordedAt = Math.max(this.#latestRecordedAt, row.updatedAt);
    const history = this.#histories.get(row.id) ?? this.#newHistory(row);
    const { versions } = history;
    let place = versions.length;
    while (place > 0 && (versions[place - 1] as Fact).version > row.version) place -= 1;

    const replaced = versions[place - 1]?.version === row.version ? versions[place - 1] : undefined;
    const shared = sharing(row, history.latest);
    if (replaced === undefined) versions.splice(place, 0, shared);
    else versions[place - 1] = shared;
    history.latest = versions.at(-1) ?? shared;
    this.columns.set(history.ordinal, history.latest);
    if (row.sourceMemoryId !== null) addTo(this.#bySource, row.sourceMemoryId, history);
    if (replaced !== undefined) this.#forgetSource(replaced, history);
  }

  #remove(factId: string, version: number): void {
    const history = this.#histories.get(factId);
    const index = history?.versions.findLastIndex((row) => row.version === version) ?? -1;
    if (history === undefined || index < 0) return;
    const [removed] = history.versions.splice(index, 1) as [Fact];
    this.#forgetSource(removed, history);

    const latest = history.versions.at(-1);
    if (latest !== undefined) {
      history.latest = latest;
      this.columns.set(history.ordinal, latest);
      return;
    }
    this.#histories.delete(factId);
    const { timeline, ordinal } = history;
    this.objects.release(this.columns.object[ordinal] as number);
    this.columns.free(ordinal);
    this.#historyAt.remove(ordinal);
    // From the end, which is where erasing all of a timeline takes them; the last fills the gap.
    const place = timeline.facts.lastIndexOf(history);
    const last = timeline.facts.pop();
    if (last !== undefined && last !== history) timeline.facts[place] = last;
    if (timeline.facts.length === 0) this.#forgetTimeline(timeline);
  }

  #newHistory(row: Fact): OpenHistory {
    const timeline = this.#timelineOf(row);
    const latest = sharing(row, timeline.facts[0]?.latest);
    const ordinal = this.#historyAt.next;
    const history: OpenHistory = { ordinal, latest, versions: [], timeline };
    this.#historyAt.add(history);
    this.columns.name(ordinal, {
      timeline: timeline.ordinal,
      subject: timeline.subject,
      predicate: timeline.predicate,
      object: this.objects.hold(objectKey(latest.object), foldText),
    });
    timeline.facts.push(history);
    this.#histories.set(row.id, history);
    return history;
  }

  #timelineOf(row: Fact): OpenTimeline {
    const key = slotKey(row);
    const known = this.#timelines.get(key);
    if (known !== undefined) return known;
    const subjectKey = nameKey(row.subject);
    const predicateKey = nameKey(row.predicate);
    const timeline: OpenTimeline = {
      key,
      ordinal: this.#timelineAt.next,
      userId: row.userId,
      project: row.project,
      subjectKey,
      predicateKey,
      // A name's key is folded already.
      subject: this.subjects.hold(subjectKey, (folded) => folded),
      predicate: this.predicates.hold(predicateKey, (folded) => folded),
      facts: [],
    };
    this.#timelineAt.add(timeline);
    this.#timelines.set(key, timeline);
    addTo(this.#bySubject, timeline.subjectKey, timeline);
    addTo(this.#byPredicate, timeline.predicateKey, timeline);
    addTo(this.#byUser, timeline.userId, timeline);
    return timeline;
  }

  #forgetTimeline(timeline: OpenTimeline): void {
    this.#timelines.delete(timeline.key);
    this.#timelineAt.remove(timeline.ordinal);
    this.subjects.release(timeline.subject);
    this.predicates.release(timeline.predicate);
    removeFrom(this.#bySubject, timeline.subjectKey, timeline);
    removeFrom(this.#byPredicate, timeline.predicateKey, timeline);
    removeFrom(this.#byUser, timeline.userId, timeline);
  }

  #forgetSource(row: Fact, history: OpenHistory): void {
    const memoryId = row.sourceMemoryId;
    if (memoryId === null || history.versions.some((version) => version.sourceMemoryId === memoryId)) return;
    removeFrom(this.#bySource, memoryId, history);
  }
}

/** What was known of a fact at a moment of transaction time (absent: all); undefined where nothing was. */
export function versionKnownAt(history: FactHistory, knownAt: number | undefined): Fact | undefined {
  if (knownAt === undefined || history.latest.updatedAt <= knownAt) return history.latest;
  const { versions } = history;
  let low = 0;
  let high = versions.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((versions[middle] as Fact).updatedAt <= knownAt) low = middle + 1;
    else high = middle;
  }
  return versions[low - 1];
}

/** The row with the texts of a known one where they are equal, its fields in one order for every row. */
function sharing(row: Fact, known: Fact | undefined): Fact {
  const share = (text: string, other: string | undefined) =>
    text === other && other !== undefined ? other : text;
  return {
    id: share(row.id, known?.id),
    version: row.version,
    subject: share(row.subject, known?.subject),
    predicate: share(row.predicate, known?.predicate),
    object: share(row.object, known?.object),
    validFrom: row.validFrom,
    validTo: row.validTo,
    confidence: row.confidence,
    metadata: sharedMetadata(row.metadata, known?.metadata),
    userId: known?.userId ?? row.userId,
    project: known?.project ?? row.project,
    cardinality: row.cardinality,
    sourceMemoryId: row.sourceMemoryId,
    supersededBy: row.supersededBy,
    derivedFrom: row.derivedFrom,
    // Undefined: in a record that an earlier version wrote, before there was the field.
    createdBy: row.createdBy ?? null,
    recordedAt: row.recordedAt,
    updatedAt: row.updatedAt,
  };
}

function sharedMetadata(metadata: Metadata, known: Metadata | undefined): Metadata {
  if (Object.keys(metadata).length === 0) return NO_METADATA;
  return known !== undefined && sameMetadata(metadata, known) ? known : metadata;
}

function addTo<K, V>(index: Map<K, Set<V>>, key: K, value: V): void {
  const values = index.get(key);
  if (values === undefined) index.set(key, new Set([value]));
  else values.add(value);
}

function removeFrom<K, V>(index: Map<K, Set<V>>, key: K, value: V): void {
  const values = index.get(key);
  if (values?.delete(value) && values.size === 0) index.delete(key);
}
