import { foldText, nameKey, objectKey, sameMetadata, slotKey, isEmpty, isValidAt } from "./fact.ts";
import type { Fact, FactChange, FactSlot } from "./fact.ts";
import { isOwnedAs, type Metadata, type OwnerFilter } from "../memory.ts";

/** Conditions on facts; all given ones must hold. */
export interface FactFilter extends OwnerFilter {
  /** Compared by `nameKey`, as is the predicate. */
  readonly subject?: string;
  readonly predicate?: string;
}

/** As-of conditions that every read of facts takes, alone or together. */
export interface AsOf {
  /** Valid time: what is true at that moment. See each read for its absence. */
  readonly at?: number | undefined;
  /** Transaction time: what had been recorded by then, that moment included. Absent: everything. */
  readonly knownAt?: number | undefined;
}

/** A fact with all that was ever known of it. */
export interface FactHistory {
  readonly latest: Fact;
  /** Ascending, the latest last. */
  readonly versions: readonly Fact[];
  /** `objectKey` of the object, and that folded by `foldText`. */
  readonly objectKey: string;
  readonly foldedObject: string;
  /** By version: when it was certainly known, for those dated later than the clock showed afterwards. See `clockIs`. */
  readonly knownBy?: ReadonlyMap<number, number>;
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

const NO_METADATA: Metadata = {};
const NONE: ReadonlySet<never> = new Set();

interface OpenHistory extends FactHistory {
  latest: Fact;
  knownBy?: Map<number, number>;
  readonly versions: Fact[];
  readonly timeline: OpenTimeline;
}

interface OpenTimeline extends FactTimeline {
  readonly facts: OpenHistory[];
}

/** Synchronous reads of facts. */
export type FactReads = Omit<FactBook, "apply" | "clockIs">;

/**
 * All versions of all facts in memory, found by id, timeline, subject and source memory; other conditions look at every timeline.
 * Built at open by applying every row, in any order, and kept by applying the changes of each write; applying
 * one again changes nothing.
 *
 * Whole rows are held, texts and metadata too, since every read filters on them or answers them. Versions of a
 * fact share equal texts and metadata.
 */
export class FactBook {
  readonly #histories = new Map<string, OpenHistory>();
  readonly #timelines = new Map<string, OpenTimeline>();
  readonly #bySubject = new Map<string, Set<OpenTimeline>>();
  readonly #bySource = new Map<string, Set<OpenHistory>>();
  #latestRecordedAt = -Infinity;

  /** Number of facts, replaced ones included. */
  get size(): number {
    return this.#histories.size;
  }

  /** The latest transaction time that is not after the clock of `clockIs`; -Infinity without any. */
  get latestRecordedAt(): number {
    return this.#latestRecordedAt;
  }

  find(id: string): FactHistory | undefined {
    return this.#histories.get(id);
  }

  timeline(slot: FactSlot): FactTimeline | undefined {
    return this.#timelines.get(slotKey(slot));
  }

  /** The timelines that match, in no order. */
  timelines(filter: FactFilter): FactTimeline[] {
    const subjectKey = filter.subject === undefined ? undefined : nameKey(filter.subject);
    const predicateKey = filter.predicate === undefined ? undefined : nameKey(filter.predicate);
    const found: FactTimeline[] = [];
    const candidates =
      subjectKey === undefined ? this.#timelines.values() : (this.#bySubject.get(subjectKey) ?? NONE);
    for (const timeline of candidates) {
      const isAsked = predicateKey === undefined || timeline.predicateKey === predicateKey;
      if (isAsked && isOwnedAs(filter, timeline)) found.push(timeline);
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

  /** The clock shows `now`: what later-dated records hold counts as known, whatever time it bears. */
  clockIs(now: number): void {
    this.#latestRecordedAt = -Infinity;
    for (const history of this.#histories.values()) {
      for (const { version, updatedAt } of history.versions) {
        if (updatedAt <= now) this.#latestRecordedAt = Math.max(this.#latestRecordedAt, updatedAt);
        else if ((history.knownBy?.get(version) ?? Infinity) > now)
          (history.knownBy ??= new Map()).set(version, now);
      }
    }
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
      return;
    }
    this.#histories.delete(factId);
    const { timeline } = history;
    // From the end, which is where erasing all of a timeline takes them; the last fills the gap.
    const place = timeline.facts.lastIndexOf(history);
    const last = timeline.facts.pop();
    if (last !== undefined && last !== history) timeline.facts[place] = last;
    if (timeline.facts.length === 0) this.#forgetTimeline(timeline);
  }

  #newHistory(row: Fact): OpenHistory {
    const timeline = this.#timelineOf(row);
    const latest = sharing(row, timeline.facts[0]?.latest);
    const key = objectKey(latest.object);
    const folded = foldText(key);
    const history: OpenHistory = {
      latest,
      versions: [],
      timeline,
      objectKey: key,
      // The same string where they are equal, so that it is held once.
      foldedObject: folded === key ? key : folded,
    };
    timeline.facts.push(history);
    this.#histories.set(row.id, history);
    return history;
  }

  #timelineOf(row: Fact): OpenTimeline {
    const key = slotKey(row);
    const known = this.#timelines.get(key);
    if (known !== undefined) return known;
    const timeline: OpenTimeline = {
      key,
      userId: row.userId,
      project: row.project,
      subjectKey: nameKey(row.subject),
      predicateKey: nameKey(row.predicate),
      facts: [],
    };
    this.#timelines.set(key, timeline);
    addTo(this.#bySubject, timeline.subjectKey, timeline);
    return timeline;
  }

  #forgetTimeline(timeline: OpenTimeline): void {
    this.#timelines.delete(timeline.key);
    removeFrom(this.#bySubject, timeline.subjectKey, timeline);
  }

  #forgetSource(row: Fact, history: OpenHistory): void {
    const memoryId = row.sourceMemoryId;
    if (memoryId === null || history.versions.some((version) => version.sourceMemoryId === memoryId)) return;
    removeFrom(this.#bySource, memoryId, history);
  }
}

/** The highest version recorded by `knownAt` (absent: all); undefined where nothing was. */
export function versionKnownAt(history: FactHistory, knownAt: number | undefined): Fact | undefined {
  const { latest, versions, knownBy } = history;
  if (knownAt === undefined || latest.updatedAt <= knownAt) return latest;
  return versions.findLast(
    ({ version, updatedAt }) => Math.min(updatedAt, knownBy?.get(version) ?? Infinity) <= knownAt,
  );
}

/** The row with the texts of a known one where they are equal. */
function sharing(row: Fact, known: Fact | undefined): Fact {
  const share = (text: string, other: string | undefined) =>
    text === other && other !== undefined ? other : text;
  return {
    ...row,
    id: share(row.id, known?.id),
    subject: share(row.subject, known?.subject),
    predicate: share(row.predicate, known?.predicate),
    object: share(row.object, known?.object),
    metadata: sharedMetadata(row.metadata, known?.metadata),
    userId: known?.userId ?? row.userId,
    project: known?.project ?? row.project,
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

/** Visits the facts known at `knownAt` and valid at `at`, or of every time; replaced ones are left out. */
export function visitFacts(
  book: FactReads,
  filter: FactFilter & AsOf,
  visit: (fact: Fact, history: FactHistory, timeline: FactTimeline) => void,
): void {
  for (const timeline of book.timelines(filter)) {
    for (const history of timeline.facts) {
      const fact = countingFact(history, filter);
      if (fact !== undefined) visit(fact, history, timeline);
    }
  }
}

/** The fact as known at `knownAt`, if it counts then and, where `at` is given, is valid at that moment. */
export function countingFact(history: FactHistory, { at, knownAt }: AsOf): Fact | undefined {
  const fact = versionKnownAt(history, knownAt);
  if (fact === undefined || isEmpty(fact)) return undefined;
  return at === undefined || isValidAt(fact, at) ? fact : undefined;
}
